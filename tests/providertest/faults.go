package providertest

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
	"github.com/evertty/evertty/tests/fakeprov"
)

// Service is what Faults has to know of a provider of a sandbox service, and the names of the service's operations.
type Service struct {
	Open func(t *testing.T, s *fakeprov.Server) provider.Provider
	// Keyed opens the provider with a key, at an address.
	Keyed                             func(key, url string) (provider.Provider, error)
	URL                               func(s *fakeprov.Server) string
	Create, Get, Pause, Resume, Shell string
	Polled                            bool                      // commands are calls that may be repeated
	States                            map[string]provider.State // by the service's word
	Broken                            string                    // the word of a sandbox to repair; "" is none
}

// Fake starts the three services.
func Fake(t *testing.T) *fakeprov.Server {
	t.Helper()
	s, err := fakeprov.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fault is a test of one service, its fake and a provider.
type fault = func(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider)

// Faults is how a provider takes the faults of its service.
func Faults(t *testing.T, v Service) {
	faults := map[string]fault{
		"wrong key": wrongKey, "secrets": secretsStayIn, "busy": busy, "create is lost": createIsLost,
		"pause is lost": pauseIsLost, "not started": notStarted, "nobody there": nobodyThere, "nonsense": nonsense,
		"states": states, "machine fails": machineFails, "calls end": callsEnd,
	}
	if v.Polled {
		faults["lost calls"], faults["begin is late"] = lostCalls, beginIsLate
	}
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Fake(t)
			test(t, v, s, v.Open(t, s))
		})
	}
}

func request() provider.CreateRequest { return provider.CreateRequest{Name: "of a fault"} }

// wrongKey: it is told as such, at once, and is in no error.
func wrongKey(t *testing.T, v Service, s *fakeprov.Server, _ provider.Provider) {
	const wrong = "a-secret-that-is-wrong"
	p, err := v.Keyed(wrong, v.URL(s))
	if err != nil {
		t.Fatal(err)
	}
	defer p.(io.Closer).Close()
	_, err = p.Create(Within(t), request())
	_, err2 := p.Status(Within(t), "some")
	for _, err := range []error{err, err2} {
		if !errors.Is(err, provider.ErrRefused) || strings.Contains(err.Error(), wrong) {
			t.Errorf("%v", err)
		}
	}
	if n := s.Calls(v.Create); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// secretsStayIn: a service that repeats what it was sent, and one that sends its clients elsewhere.
func secretsStayIn(t *testing.T, v Service, _ *fakeprov.Server, _ provider.Provider) {
	const secret = "key+with/odd=chars"
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
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
	defer mirror.Close()
	p, err := v.Keyed(secret, mirror.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer p.(io.Closer).Close()
	_, err = p.Create(Within(t), request())
	_, err2 := p.Status(Within(t), "id")
	for _, err := range []error{err, err2} {
		if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "odd%3Dchars") {
			t.Error(err)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d calls went where the service has sent them", n)
	}
}

// busy: a refusal for now is waited for, one for long is not.
func busy(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	s.Fault(fakeprov.Fault{Op: v.Create, Status: 429, RetryAfter: 1})
	begin := time.Now()
	i, err := p.Create(Within(t), request())
	if err != nil || time.Since(begin) < time.Second || s.Calls(v.Create) != 2 {
		t.Fatalf("%v after %v, %d calls", err, time.Since(begin), s.Calls(v.Create))
	}
	s.Fault(fakeprov.Fault{Op: v.Create, Status: 429, RetryAfter: 3600})
	begin = time.Now()
	if _, err = p.Create(Within(t), request()); !errors.Is(err, provider.ErrUnreachable) ||
		!errors.Is(err, provider.ErrNotStarted) || time.Since(begin) > Limit {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	s.Fault(fakeprov.Fault{Op: v.Get, Times: 2, Status: 503})
	if st, err := p.Status(Within(t), i.ID); st != provider.Running || err != nil {
		t.Errorf("%s, %v", st, err)
	}
	s.Fault(fakeprov.Fault{Op: v.Get, Times: 50, Status: 503})
	n := s.Calls(v.Get)
	if st, err := p.Status(Within(t), i.ID); st != provider.Unknown || !errors.Is(err, provider.ErrUnreachable) ||
		s.Calls(v.Get)-n > 10 {
		t.Errorf("%s, %v, %d calls", st, err, s.Calls(v.Get)-n)
	}
	s.NoFaults()
}

// createIsLost: what was created though nobody was told is destroyed, and create is never sent twice.
func createIsLost(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	for name, cut := range map[string]int{"reply": fakeprov.CutReply, "request": fakeprov.CutBefore, "middle": 10} {
		before := s.Calls(v.Create)
		s.Fault(fakeprov.Fault{Op: v.Create, Cut: cut})
		_, err := p.Create(Within(t), request())
		if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%s: %v", name, err)
		}
		Becomes(t, "nothing is left", func() bool { return len(s.Alive()) == 0 })
		if n := s.Calls(v.Create) - before; n != 1 {
			t.Errorf("%s: created %d times", name, n)
		}
	}
}

// pauseIsLost: a reply that did not come is no failure when the state did, and the call is made once.
func pauseIsLost(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	s.Fault(fakeprov.Fault{Op: v.Pause, Cut: fakeprov.CutReply})
	if err := p.Pause(Within(t), i.ID); err != nil {
		t.Error(err)
	}
	s.Fault(fakeprov.Fault{Op: v.Resume, Cut: fakeprov.CutReply})
	if err := p.Resume(Within(t), i.ID); err != nil {
		t.Error(err)
	}
	if n := s.Calls(v.Pause); n != 1 {
		t.Errorf("paused %d times", n)
	}
	log := s.Log()
	if slices.Index(log, v.Create) > slices.Index(log, v.Pause+" "+i.ID) {
		t.Errorf("order: %v", log)
	}
}

// notStarted: only what certainly did not begin is called so, and it did not.
func notStarted(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	i.Check(t, "true", "", 0)
	for _, status := range []int{400, 404, 409, 429} {
		s.Fault(fakeprov.Fault{Op: v.Shell, Times: 4, Status: status, Body: `{"code":1,"message":"no"}`})
		_, err := p.Exec(Within(t), i.ID, provider.ExecRequest{Command: "touch " + i.Dir + "/ran"}, io.Discard,
			io.Discard)
		if !errors.Is(err, provider.ErrNotStarted) || errors.Is(err, provider.ErrNotFound) {
			t.Errorf("%d: %v", status, err)
		}
		s.NoFaults()
	}
	i.Check(t, "ls "+i.Dir, "", 0)
	// A gateway that fails may have passed it on.
	s.Fault(fakeprov.Fault{Op: v.Shell, Times: 8, Status: 504})
	_, err := p.Exec(Within(t), i.ID, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
	if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("504: %v", err)
	}
	s.NoFaults()
}

// nobodyThere: nothing listens at the address.
func nobodyThere(t *testing.T, v Service, _ *fakeprov.Server, _ provider.Provider) {
	p, err := v.Keyed("key", "http://127.0.0.1:1") // a port that was freed could be another test's by now
	if err != nil {
		t.Fatal(err)
	}
	defer p.(io.Closer).Close()
	_, err = p.Exec(Within(t), "some-id", provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
	if !errors.Is(err, provider.ErrNotStarted) || !errors.Is(err, provider.ErrUnreachable) {
		t.Errorf("exec: %v", err)
	}
	if st, err := p.Status(Within(t), "some-id"); st != provider.Unknown ||
		!errors.Is(err, provider.ErrUnreachable) {
		t.Errorf("status: %s, %v", st, err)
	}
}

// lostCalls: whatever is cut of the calls of a command, it runs once and gives every byte once.
func lostCalls(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	input := bytes.Repeat([]byte("\x00\xffinput"), 20_000) // three parts
	for name, cuts := range map[string][]int{
		"reply of the first": {fakeprov.CutReply}, "the first": {fakeprov.CutBefore}, "within": {60},
		"two":  {fakeprov.CutReply, 100},
		"some": {0, fakeprov.CutReply, 0, fakeprov.CutBefore, 50},
	} {
		for _, cut := range cuts {
			f := fakeprov.Fault{Op: v.Shell, Cut: cut}
			s.Fault(f)
		}
		file := i.Dir + "/times"
		out, words, r := i.Run(t, provider.ExecRequest{Command: "echo x >>" + file +
			"; cat; for n in 1 2 3; do echo $n >&2; sleep 0.1; done; exit 5", Stdin: input})
		s.NoFaults()
		if out != string(input) || words != "1\n2\n3\n" || r.ExitCode != 5 {
			t.Errorf("%s: %d bytes of %d, %q, %+v", name, len(out), len(input), words, r)
		}
		i.Check(t, "cat "+file+"; rm "+file, "x\n", 0)
	}
	if left, err := os.ReadDir(s.Dir(i.ID) + "/tmp"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// beginIsLate: a command that was cancelled, or whose time was over, before the call that begins it arrived is not
// begun by that.
func beginIsLate(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	for name, timeout := range map[string]time.Duration{"cancelled": 0, "timeout": time.Second} {
		arrives, over := make(chan struct{}), make(chan struct{})
		s.Fault(fakeprov.Fault{Op: v.Shell, Late: arrives, Over: over})
		ctx, cancel := context.WithCancel(Within(t))
		before, done := s.Calls(v.Shell), make(chan error, 1)
		go func() {
			r, err := p.Exec(ctx, i.ID, provider.ExecRequest{Command: "touch " + i.Dir + "/ran", Timeout: timeout},
				io.Discard, io.Discard)
			if r.TimedOut {
				err = context.DeadlineExceeded
			}
			done <- err
		}()
		Becomes(t, "it is asked", func() bool { return s.Calls(v.Shell) > before })
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
		i.Check(t, "ls "+i.Dir, "", 0)
	}
}

// nonsense: replies that are not of the contract are errors and nothing worse.
func nonsense(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	for _, body := range []string{"", "<html>", "[]", `{"Success":true,"Data":7}`, `"x"`, "null",
		strings.Repeat("[", 100_000)} {
		for _, op := range []string{v.Create, v.Get, v.Shell} {
			s.Fault(fakeprov.Fault{Op: op, Times: 20, Status: 200, Body: body})
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			var err error
			switch op {
			case v.Create:
				_, err = p.Create(ctx, request())
			case v.Get:
				if _, err = p.Status(ctx, i.ID); err == nil {
					err = errors.New("unknown is an answer")
				}
			default:
				_, err = p.Exec(ctx, i.ID, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
			}
			cancel()
			s.NoFaults()
			if err == nil {
				t.Errorf("%s answered %.20q", op, body)
			}
		}
	}
	i.Check(t, "echo still", "still\n", 0)
}

// states: the words of a service are the states that they stand for.
func states(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	for word, want := range v.States {
		s.Force(i.ID, word)
		if st, err := p.Status(Within(t), i.ID); st != want || err != nil {
			t.Errorf("%s is %s, %v; want %s", word, st, err, want)
		}
	}
	if v.Broken != "" {
		s.Force(i.ID, v.Broken)
		if err := p.Resume(Within(t), i.ID); !errors.Is(err, provider.ErrState) {
			t.Errorf("resume of a broken one: %v", err)
		}
	}
}

// machineFails: the instance goes while a command runs in it.
func machineFails(t *testing.T, _ Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	out := NewExpect("begin")
	done := make(chan error, 1)
	ctx := Within(t)
	go func() {
		_, err := p.Exec(ctx, i.ID, provider.ExecRequest{Command: "echo begin; sleep 300"}, out, out)
		done <- err
	}()
	out.Wait(t)
	s.Kill(i.ID)
	if err := <-done; !errors.Is(err, provider.ErrNotFound) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	if st, err := p.Status(Within(t), i.ID); st != provider.Dead || err != nil {
		t.Errorf("%s, %v", st, err)
	}
}

// callsEnd: every call ends with its context, however long the service takes.
func callsEnd(t *testing.T, v Service, s *fakeprov.Server, p provider.Provider) {
	i := Create(t, p)
	calls := map[string]func(context.Context) error{
		v.Get: func(ctx context.Context) error { _, err := p.Status(ctx, i.ID); return err },
		v.Shell: func(ctx context.Context) error {
			_, err := p.Exec(ctx, i.ID, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
			return err
		},
	}
	for op, do := range calls {
		s.Fault(fakeprov.Fault{Op: op, Delay: 10 * Limit})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		begin := time.Now()
		err := do(ctx)
		cancel()
		s.NoFaults()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) >= Limit {
			t.Errorf("%s: %v after %v", op, err, time.Since(begin))
		}
	}
}
