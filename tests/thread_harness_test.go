package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// owner is a thread with the default shell of the session of that name.
type owner struct {
	*work
	path string
}

// limited is made for a thread that has done what comes before the end of its session: the policy holds from now on.
func (o *owner) limited(p wire.SetPolicy) {
	o.t.Helper()
	_, err := o.SetThreadPolicy(o.ctx(), o.session, p)
	o.must(err)
}

// stops waits until a process is stopped: a signal that was sent is seen when the process gets a processor.
func stops(t testing.TB, what string, pid int) {
	t.Helper()
	eventually(t, what+" is stopped", func() bool { return processState(pid) == "T" })
}

// thread is the thread of a session. It need not be there yet.
func (s *server) thread(id string) *owner {
	return &owner{s.in(id), "/api/threads/" + id}
}

// made is a thread that was made with a policy, as {"idle_seconds":1}.
func (s *server) made(id, policy string) *owner {
	s.t.Helper()
	o := s.thread(id)
	s.post("/api/threads", fmt.Sprintf(`{"id":%q,"policy":%s}`, id, policy)).wants(201)
	return o
}

func (o *owner) record() client.Thread {
	o.t.Helper()
	th, err := o.Client.Thread(o.ctx(), o.session)
	o.must(err)
	th.Raw = nil
	return th
}

// window is a session that exists: what is null before is a value here.
type window struct {
	wire.ThreadSession
	SessionID, Status                  string
	CreatedAt, LastActiveAt, ExpiresAt time.Time
}

// window is the thread's session.
func (o *owner) window() window {
	o.t.Helper()
	w, err := o.ThreadSession(o.ctx(), o.session)
	o.must(err)
	if w.SessionID == nil {
		o.t.Fatalf("there is no session of %s", o.session)
	}
	return window{w, *w.SessionID, string(*w.Status), *w.CreatedAt, *w.LastActiveAt, *w.ExpiresAt}
}

// dataOf is what an event is about, as the server sent it.
func dataOf(e client.ThreadEvent) json.RawMessage {
	var whole struct{ Data json.RawMessage }
	_ = json.Unmarshal(e.Raw, &whole) // the client has read it
	return whole.Data
}

func (o *owner) terminal() wire.ThreadTerminal {
	o.t.Helper()
	t, err := o.ThreadTerminal(o.ctx(), o.session)
	o.must(err)
	return t
}

func (o *owner) lease() client.Lease {
	o.t.Helper()
	l, err := o.ThreadLease(o.ctx(), o.session)
	o.must(err)
	l.Raw = nil
	return l
}

// instance is the id of the compute of the thread.
func (o *owner) instance() string {
	o.t.Helper()
	l := o.lease()
	if l.Instance == nil {
		o.t.Fatalf("lease %s has no instance", l.LeaseID)
	}
	return l.Instance.InstanceID
}

// layers are the ids of session, terminal and lease.
func (o *owner) layers() [3]string {
	o.t.Helper()
	return [3]string{o.window().SessionID, o.terminal().TerminalID, o.lease().LeaseID}
}

// happened are the thread's events so far.
func (o *owner) happened() []client.ThreadEvent {
	o.t.Helper()
	list, err := o.ThreadEvents(o.ctx(), o.session, 0, 0)
	o.must(err)
	for i, e := range list {
		if e.ThreadID != o.session || i > 0 && e.Seq != list[i-1].Seq+1 || e.At.IsZero() {
			o.t.Errorf("event %d is %s", i, asJSON(e))
		}
	}
	return list
}

// times counts the events of a type, with words in their data.
func (o *owner) times(kind string, words ...string) (n int) {
	o.t.Helper()
events:
	for _, e := range o.happened() {
		if e.Type != kind {
			continue
		}
		for _, w := range words {
			if !strings.Contains(string(dataOf(e)), w) {
				continue events
			}
		}
		n++
	}
	return n
}

// closes waits until the session is over for a reason, and returns it.
func (o *owner) closes(reason string) window {
	o.t.Helper()
	var w window
	eventually(o.t, "the session of "+o.session+" closes: "+reason, func() bool {
		w = o.window()
		return w.Status == "closed"
	})
	if w.CloseReason != reason || w.EndedAt.IsZero() {
		o.t.Errorf("the session of %s closed as %q at %v", o.session, w.CloseReason, w.EndedAt)
	}
	return w
}

// reaches waits until the active terminal is in that directory, and returns it.
func (o *owner) reaches(cwd string) wire.ThreadTerminal {
	o.t.Helper()
	var t wire.ThreadTerminal
	if !polling.Until(patience, func() bool { t = o.terminal(); return t.Cwd == cwd }) {
		o.t.Fatalf("the terminal of %s is in %s, not in %s", o.session, t.Cwd, cwd)
	}
	return t
}

// leaseEvents is the book of a lease.
func (o *owner) leaseEvents(lease string) (list []leaseEvent) {
	o.t.Helper()
	var reply struct{ Events []leaseEvent }
	o.get("/api/leases/" + lease + "/events").wants(200).into(&reply)
	return reply.Events
}

// leaseEvent is an entry of a lease's book.
type leaseEvent struct {
	Seq      int64
	Type     string
	Source   string
	From, To string
	Instance string `json:"instance_id"`
	Error    string
	At       time.Time
}

// utc is a time as RFC 3339 has it, in UTC.
var utc = regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"$`)

// processState is the letter of /proc/PID/stat, "" when there is no such process.
func processState(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	return fields[0]
}

// sizeOf is the size of a file, 0 when it is not there.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// change sends POST without a body to a path below the thread.
func (o *owner) change(path string) reply {
	o.t.Helper()
	return o.call(http.MethodPost, o.path+path, "")
}
