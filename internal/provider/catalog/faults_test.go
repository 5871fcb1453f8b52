package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/agentbay"
	"github.com/evertty/evertty/internal/provider/daytona"
	"github.com/evertty/evertty/internal/provider/e2b"
	"github.com/evertty/evertty/tests/fakeprov"
)

// service is one of the three with the names of its operations.
type service struct {
	name                              string
	open                              func(t *testing.T, s *fakeprov.Server) provider.Provider
	keyed                             func(key, url string) (provider.Provider, error)
	create, get, pause, resume, shell string
}

var services = []service{
	{
		"agentbay", func(t *testing.T, s *fakeprov.Server) provider.Provider { return fakeAgentBay(t, s) },
		func(key, url string) (provider.Provider, error) {
			return agentbay.New(agentbay.Config{APIKey: key, Endpoint: url})
		},
		"agentbay.create", "agentbay.get", "agentbay.pause", "agentbay.resume", "agentbay.shell",
	},
	{
		"daytona", func(t *testing.T, s *fakeprov.Server) provider.Provider { return fakeDaytona(t, s) },
		func(key, url string) (provider.Provider, error) {
			return daytona.New(daytona.Config{APIKey: key, APIURL: url})
		},
		"daytona.create", "daytona.get", "daytona.stop", "daytona.start", "daytona.execute",
	},
	{
		"e2b", func(t *testing.T, s *fakeprov.Server) provider.Provider { return fakeE2B(t, s) },
		func(key, url string) (provider.Provider, error) {
			return e2b.New(e2b.Config{APIKey: key, APIURL: url, SandboxURL: url})
		},
		"e2b.create", "e2b.get", "e2b.pause", "e2b.resume", "e2b.start",
	},
}

func (v service) url(s *fakeprov.Server) string {
	return map[string]string{"agentbay": s.AgentBayURL(), "daytona": s.DaytonaURL(), "e2b": s.E2BURL()}[v.name]
}

// wrapped tells whether commands are calls that may be made again.
func (v service) wrapped() bool { return v.name != "e2b" }

// eachService runs a test against every service's contract.
func eachService(t *testing.T, do func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider)) {
	t.Parallel()
	for _, v := range services {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			do(t, v, s, v.open(t, s))
		})
	}
}

func request() provider.CreateRequest { return provider.CreateRequest{Name: "of a fault"} }

// TestWrongKey: it is told as such, at once, and is in no error.
func TestWrongKey(t *testing.T) {
	const wrong = "a-secret-that-is-wrong"
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, _ provider.Provider) {
		p, err := v.keyed(wrong, v.url(s))
		if err != nil {
			t.Fatal(err)
		}
		defer p.(io.Closer).Close()
		_, err = p.Create(within(t), request())
		_, err2 := p.Status(within(t), "some")
		for _, err := range []error{err, err2} {
			if !errors.Is(err, provider.ErrRefused) || strings.Contains(err.Error(), wrong) {
				t.Errorf("%v", err)
			}
		}
		if n := s.Calls(v.create); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestSecretsStayIn: a service that repeats what it was sent, and one that sends its clients elsewhere.
func TestSecretsStayIn(t *testing.T) {
	const secret = "key+with/odd=chars"
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, v := range services {
		mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
				return
			}
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusBadRequest)
			_ = r.Header.Write(w)
			_, _ = w.Write(body)
		}))
		p, err := v.keyed(secret, mirror.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Create(within(t), request())
		_, err2 := p.Status(within(t), "id")
		for _, err := range []error{err, err2} {
			if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "odd%3Dchars") {
				t.Errorf("%s: %v", v.name, err)
			}
		}
		p.(io.Closer).Close()
		mirror.Close()
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d calls went where the service has sent them", n)
	}
}

// TestBusy: a refusal for now is waited for, one for long is not.
func TestBusy(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		s.Fault(fakeprov.Fault{Op: v.create, Status: 429, RetryAfter: 1})
		begin := time.Now()
		i, err := p.Create(within(t), request())
		if err != nil || time.Since(begin) < time.Second || s.Calls(v.create) != 2 {
			t.Fatalf("%v after %v, %d calls", err, time.Since(begin), s.Calls(v.create))
		}
		s.Fault(fakeprov.Fault{Op: v.create, Status: 429, RetryAfter: 3600})
		begin = time.Now()
		if _, err = p.Create(within(t), request()); !errors.Is(err, provider.ErrUnreachable) ||
			!errors.Is(err, provider.ErrNotStarted) || time.Since(begin) > limit {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		s.Fault(fakeprov.Fault{Op: v.get, Times: 2, Status: 503})
		if st, err := p.Status(within(t), i.ID); st != provider.Running || err != nil {
			t.Errorf("%s, %v", st, err)
		}
		s.Fault(fakeprov.Fault{Op: v.get, Times: 50, Status: 503})
		n := s.Calls(v.get)
		if st, err := p.Status(within(t), i.ID); st != provider.Unknown || !errors.Is(err, provider.ErrUnreachable) ||
			s.Calls(v.get)-n > 10 {
			t.Errorf("%s, %v, %d calls", st, err, s.Calls(v.get)-n)
		}
		s.NoFaults()
	})
}

// TestCreateIsLost: what was created though nobody was told is destroyed, and create is never sent twice.
func TestCreateIsLost(t *testing.T) {
	for name, cut := range map[string]int{"reply": fakeprov.CutReply, "request": fakeprov.CutBefore, "middle": 10} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
				s.Fault(fakeprov.Fault{Op: v.create, Cut: cut})
				_, err := p.Create(within(t), request())
				if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
					t.Errorf("%v", err)
				}
				becomes(t, "nothing is left", func() bool { return len(s.Alive()) == 0 })
				if n := s.Calls(v.create); n != 1 {
					t.Errorf("created %d times", n)
				}
			})
		})
	}
}

// TestPauseIsLost: a reply that did not come is no failure when the state did, and the call is made once.
func TestPauseIsLost(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		i := rent(t, p)
		s.Fault(fakeprov.Fault{Op: v.pause, Cut: fakeprov.CutReply})
		if err := p.Pause(within(t), i.id); err != nil {
			t.Error(err)
		}
		s.Fault(fakeprov.Fault{Op: v.resume, Cut: fakeprov.CutReply})
		if err := p.Resume(within(t), i.id); err != nil {
			t.Error(err)
		}
		if n := s.Calls(v.pause); n != 1 {
			t.Errorf("paused %d times", n)
		}
		log := s.Log()
		if slices.Index(log, v.create) > slices.Index(log, v.pause+" "+i.id) {
			t.Errorf("order: %v", log)
		}
	})
}

// TestNotStarted: only what certainly did not begin is called so, and it did not.
func TestNotStarted(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		i := rent(t, p)
		i.sh(t, "true", "", 0)
		for _, status := range []int{400, 404, 409, 429} {
			s.Fault(fakeprov.Fault{Op: v.shell, Times: 4, Status: status, Body: `{"code":1,"message":"no"}`})
			_, err := p.Exec(within(t), i.id, provider.ExecRequest{Command: "touch " + i.dir + "/ran"}, io.Discard,
				io.Discard)
			if !errors.Is(err, provider.ErrNotStarted) || errors.Is(err, provider.ErrNotFound) {
				t.Errorf("%d: %v", status, err)
			}
			s.NoFaults()
		}
		i.sh(t, "ls "+i.dir, "", 0)
		// A gateway that fails may have passed it on.
		s.Fault(fakeprov.Fault{Op: v.shell, Times: 8, Status: 504})
		_, err := p.Exec(within(t), i.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
		if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("504: %v", err)
		}
		s.NoFaults()
	})
}

// TestNobodyThere: an address where nothing listens.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for _, v := range services {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			l := httptest.NewServer(http.NotFoundHandler())
			l.Close()
			p, err := v.keyed("key", l.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer p.(io.Closer).Close()
			_, err = p.Exec(within(t), "some-id", provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
			if !errors.Is(err, provider.ErrNotStarted) || !errors.Is(err, provider.ErrUnreachable) {
				t.Errorf("exec: %v", err)
			}
			if st, err := p.Status(within(t), "some-id"); st != provider.Unknown ||
				!errors.Is(err, provider.ErrUnreachable) {
				t.Errorf("status: %s, %v", st, err)
			}
		})
	}
}

// TestLostCalls: whatever is cut of the calls of a command, it runs once and gives every byte once.
func TestLostCalls(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		if !v.wrapped() {
			t.Skip("its output is a stream; see TestStreamIsCut")
		}
		i := rent(t, p)
		input := bytes.Repeat([]byte("\x00\xffinput"), 20_000) // three parts
		for name, cuts := range map[string][]int{
			"reply of the first": {fakeprov.CutReply}, "the first": {fakeprov.CutBefore}, "within": {60},
			"two":  {fakeprov.CutReply, 100},
			"some": {0, fakeprov.CutReply, 0, fakeprov.CutBefore, 50},
		} {
			for _, cut := range cuts {
				f := fakeprov.Fault{Op: v.shell, Cut: cut}
				s.Fault(f)
			}
			file := i.dir + "/times"
			out, words, r := i.do(t, provider.ExecRequest{Command: "echo x >>" + file +
				"; cat; for n in 1 2 3; do echo $n >&2; sleep 0.1; done; exit 5", Stdin: input})
			s.NoFaults()
			if out != string(input) || words != "1\n2\n3\n" || r.ExitCode != 5 {
				t.Errorf("%s: %d bytes of %d, %q, %+v", name, len(out), len(input), words, r)
			}
			i.sh(t, "cat "+file+"; rm "+file, "x\n", 0)
		}
		if left, err := os.ReadDir(s.Dir(i.id) + "/tmp"); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// TestBeginIsLate: a command that was cancelled, or whose time was over, before the call that begins it arrived is not
// begun by that.
func TestBeginIsLate(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		if !v.wrapped() {
			t.Skip("nothing there can be told of a command that has not begun")
		}
		i := rent(t, p)
		for name, timeout := range map[string]time.Duration{"cancelled": 0, "timeout": time.Second} {
			arrives, over := make(chan struct{}), make(chan struct{})
			s.Fault(fakeprov.Fault{Op: v.shell, Late: arrives, Over: over})
			ctx, cancel := context.WithCancel(within(t))
			before, done := s.Calls(v.shell), make(chan error, 1)
			go func() {
				r, err := p.Exec(ctx, i.id, provider.ExecRequest{Command: "touch " + i.dir + "/ran", Timeout: timeout},
					io.Discard, io.Discard)
				if r.TimedOut {
					err = context.DeadlineExceeded
				}
				done <- err
			}()
			becomes(t, "it is asked", func() bool { return s.Calls(v.shell) > before })
			if timeout == 0 {
				cancel()
			}
			err := <-done
			cancel()
			if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) ||
				errors.Is(err, provider.ErrNotStarted) {
				t.Errorf("%s: %v", name, err)
			}
			close(arrives)
			<-over
			i.sh(t, "ls "+i.dir, "", 0)
		}
	})
}

// TestRefusedTheSecondTime: a call that may have begun the command and is refused when it is made again says nothing of
// whether that began.
func TestRefusedTheSecondTime(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := fake(t)
	p := fakeAgentBay(t, s)
	i := rent(t, p)
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Cut: fakeprov.CutReply})
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Status: 200,
		Body: `{"Success":false,"Code":"Throttling","HttpStatusCode":400}`})
	_, err := p.Exec(within(t), i.id, provider.ExecRequest{Command: "touch " + i.dir + "/ran"}, io.Discard, io.Discard)
	if err == nil || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	i.sh(t, "ls "+i.dir, "ran\n", 0)
}

// TestToolFails: answers that are no answers.
func TestToolFails(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that do not end")
	}
	t.Parallel()
	s := fake(t)
	d, a := fakeDaytona(t, s), fakeAgentBay(t, s)
	i := rent(t, d)
	s.Fault(fakeprov.Fault{Op: "daytona.execute", Status: 408,
		Body: `{"statusCode":408,"message":"command execution timeout"}`})
	i.sh(t, "echo one", "one\n", 0)
	j := rent(t, a)
	failed := `{"Success":true,"Code":"Success","HttpStatusCode":200,"Data":{"content":` +
		`[{"type":"text","text":"{\"errorCode\":\"Timeout\"}"}],"isError":true}}`
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Status: 200, Body: failed})
	j.sh(t, "echo two", "two\n", 0)
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Times: 20, Status: 200, Body: failed})
	if _, err := a.Exec(within(t), j.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard); !errors.Is(err,
		provider.ErrProvider) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	s.NoFaults()
	s.PlainText(true)
	parts := map[string]func(*testing.T, spot){"codes": exitCodes, "output": output, "input": input, "list": list,
		"metrics": metrics}
	for name, part := range parts {
		t.Run("plain text "+name, func(t *testing.T) { part(t, j) })
	}
}

// TestNonsense: replies that are not of the contract are errors and nothing worse.
func TestNonsense(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		i := rent(t, p)
		for _, body := range []string{"", "<html>", "[]", `{"Success":true,"Data":7}`, `"x"`, "null",
			strings.Repeat("[", 100_000)} {
			for _, op := range []string{v.create, v.get, v.shell} {
				s.Fault(fakeprov.Fault{Op: op, Times: 20, Status: 200, Body: body})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				var err error
				switch op {
				case v.create:
					_, err = p.Create(ctx, request())
				case v.get:
					if _, err = p.Status(ctx, i.id); err == nil {
						err = errors.New("unknown is an answer")
					}
				default:
					_, err = p.Exec(ctx, i.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
				}
				cancel()
				s.NoFaults()
				if err == nil {
					t.Errorf("%s answered %.20q", op, body)
				}
			}
		}
		i.sh(t, "echo still", "still\n", 0)
	})
}

// TestStatesOfServices is the table of upstream facts 3.6.
func TestStatesOfServices(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		i := rent(t, p)
		for word, want := range map[string]map[string]provider.State{
			"daytona": {
				"started": "running", "stopped": "paused", "paused": "paused", "archived": "paused",
				"destroyed": "dead", "destroying": "dead",
				"error": "unknown", "starting": "unknown", "stopping": "unknown", "creating": "unknown",
				"something new": "unknown",
			},
			"e2b": {"running": "running", "paused": "paused", "something new": "unknown"},
			"agentbay": {"running": "running", "paused": "paused", "pausing": "unknown", "resuming": "unknown",
				"deleting": "dead", "deleted": "dead", "finish": "dead", "unknown": "unknown"},
		}[v.name] {
			s.Force(i.id, word)
			if st, err := p.Status(within(t), i.id); st != want || err != nil {
				t.Errorf("%s is %s, %v; want %s", word, st, err, want)
			}
		}
		if v.name == "daytona" {
			s.Force(i.id, "error")
			if err := p.Resume(within(t), i.id); !errors.Is(err, provider.ErrState) {
				t.Errorf("resume of a broken one: %v", err)
			}
		}
	})
}

// TestMachineFails: the instance goes while a command runs in it.
func TestMachineFails(t *testing.T) {
	eachService(t, func(t *testing.T, _ service, s *fakeprov.Server, p provider.Provider) {
		i := rent(t, p)
		out := newSeen("begin")
		done := make(chan error, 1)
		ctx := within(t)
		go func() {
			_, err := p.Exec(ctx, i.id, provider.ExecRequest{Command: "echo begin; sleep 300"}, out, out)
			done <- err
		}()
		out.wait(t)
		s.Kill(i.id)
		if err := <-done; !errors.Is(err, provider.ErrNotFound) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%v", err)
		}
		if st, err := p.Status(within(t), i.id); st != provider.Dead || err != nil {
			t.Errorf("%s, %v", st, err)
		}
	})
}

// TestCallsEnd: every call ends with its context, however long the service takes.
func TestCallsEnd(t *testing.T) {
	eachService(t, func(t *testing.T, v service, s *fakeprov.Server, p provider.Provider) {
		i := rent(t, p)
		calls := map[string]func(context.Context) error{
			v.get: func(ctx context.Context) error { _, err := p.Status(ctx, i.id); return err },
			v.shell: func(ctx context.Context) error {
				_, err := p.Exec(ctx, i.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
				return err
			},
		}
		for op, do := range calls {
			s.Fault(fakeprov.Fault{Op: op, Delay: 10 * limit})
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			begin := time.Now()
			err := do(ctx)
			cancel()
			s.NoFaults()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) >= limit {
				t.Errorf("%s: %v after %v", op, err, time.Since(begin))
			}
		}
	})
}

// TestStreamIsCut: a command whose output is lost is ended and told as lost, never as not started.
func TestStreamIsCut(t *testing.T) {
	t.Parallel()
	s := fake(t)
	p := fakeE2B(t, s)
	i := rent(t, p)
	for name, cut := range map[string]int{"the request": fakeprov.CutBefore, "start event": 20, "in output": 1000} {
		s.Fault(fakeprov.Fault{Op: "e2b.start", Cut: cut})
		_, err := p.Exec(within(t), i.id, provider.ExecRequest{Command: "echo $$ >" + i.dir +
			"/cut.pid; while true; do echo output; sleep 0.01; done"}, io.Discard, io.Discard)
		if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%s: %v", name, err)
		}
		if cut > 100 {
			i.gone(t, i.dir+"/cut.pid")
		}
	}
}

// TestInputIsLost: a command whose input does not arrive whole never sees an end of it that is none, and is ended and
// told as lost. One whose text comes as input does not begin.
func TestInputIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := fake(t)
	p := fakeE2B(t, s)
	i := rent(t, p)
	long := "touch " + i.dir + "/began\n: " + strings.Repeat("x", 150_000) + "\ntouch " + i.dir + "/ended"
	for name, f := range map[string]fakeprov.Fault{
		"the request": {Op: "e2b.input", Cut: fakeprov.CutBefore},
		"its reply":   {Op: "e2b.input", Cut: fakeprov.CutReply}, "at a gateway": {Op: "e2b.input", Status: 504},
	} {
		for _, r := range []provider.ExecRequest{{Command: "touch " + i.dir + "/first; cat; touch " + i.dir + "/ended",
			Stdin: make([]byte, 150_000)}, {Command: long}} {
			s.Fault(fakeprov.Fault{Op: "e2b.input"}) // the first piece arrives
			s.Fault(f)
			_, err := p.Exec(within(t), i.id, r, io.Discard, io.Discard)
			s.NoFaults()
			if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) ||
				!strings.Contains(err.Error(), "input was lost") {
				t.Errorf("%s, %.30s: %v", name, r.Command, err)
			}
		}
	}
	i.sh(t, "ls "+i.dir, "first\n", 0)
}

// TestEndsThoughNotKilled: a call ends soon after its context also when the command cannot be ended and goes on
// printing.
func TestEndsThoughNotKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that do not end")
	}
	t.Parallel()
	s := fake(t)
	p := fakeE2B(t, s)
	i := rent(t, p)
	out := newSeen("begin")
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := p.Exec(ctx, i.id, provider.ExecRequest{Command: "while echo begin; do sleep 0.05; done"}, out, out)
		done <- err
	}()
	out.wait(t)
	s.Fault(fakeprov.Fault{Op: "e2b.start", Times: 100, Status: 500})
	s.Fault(fakeprov.Fault{Op: "e2b.signal", Times: 100, Status: 500})
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(limit):
		t.Error("the call did not end")
	}
	s.NoFaults()
}

// TestTokenRenewed: a sandbox whose daemon has another token since is asked for that.
func TestTokenRenewed(t *testing.T) {
	t.Parallel()
	s := fake(t)
	p := fakeE2B(t, s)
	i := rent(t, p)
	i.sh(t, "echo one", "one\n", 0)
	s.NewToken(i.id)
	i.sh(t, "echo two", "two\n", 0)
	s.NewToken(i.id)
	if err := p.WriteFile(within(t), i.id, i.dir+"/f", []byte("x")); err != nil {
		t.Error(err)
	}
	// Another server, which has created nothing, can go on with the instance.
	other := fakeE2B(t, s)
	var out bytes.Buffer
	if r, err := other.Exec(within(t), i.id, provider.ExecRequest{Command: "cat " + i.dir + "/f", Cwd: "/"}, &out,
		io.Discard); err != nil || out.String() != "x" {
		t.Errorf("%q %+v %v", out.String(), r, err)
	}
}

// TestTerminalIsCut: Provider's is connected again, Daytona's is told as lost and not as ended.
func TestTerminalIsCut(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := fake(t)
	e := rent(t, fakeE2B(t, s))
	s.Fault(fakeprov.Fault{Op: "e2b.start", Cut: 4000})
	sc := e.open(t, provider.PTYRequest{Cols: 80, Rows: 24})
	sc.send(t, "seq 1 3000\r")
	becomes(t, "it is connected again", func() bool { return s.Calls("e2b.connect") > 0 })
	sc.send(t, "echo $((6*7))after; exit 2\r")
	if err := sc.over(t); err != io.EOF || !strings.Contains(sc.String(), "42after") {
		t.Errorf("%v, %q", err, sc)
	}
	if code, known := sc.Exit(); code != 2 || !known {
		t.Errorf("exit %d, %v", code, known)
	}

	d := rent(t, fakeDaytona(t, s))
	sc = d.open(t, provider.PTYRequest{Cols: 80, Rows: 24})
	sc.send(t, "echo $((6*7))\r")
	sc.wait(t, `42\r\n`)
	s.CutTerminals()
	if err := sc.over(t); !errors.Is(err, provider.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if _, known := sc.Exit(); known {
		t.Error("it has an exit code")
	}
}
