package e2b_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/e2b"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/tests/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m, nil) }

func open(t *testing.T, s *fakeprov.Server) *e2b.Provider {
	t.Helper()
	return providertest.Opened[*e2b.Provider](t)(e2b.New(e2b.Config{APIKey: fakeprov.Key, APIURL: s.E2BURL(),
		SandboxURL: s.E2BSandboxURL(), Cwd: t.TempDir()}))
}

func TestSuite(t *testing.T) {
	providertest.Suite(t, func(t *testing.T) provider.Provider { return open(t, providertest.Fake(t)) })
}

func TestSuiteAtTheService(t *testing.T) {
	providertest.Suite(t, providertest.Real("e2b", "E2B_API_KEY"))
}

func TestFaults(t *testing.T) {
	providertest.Faults(t, providertest.Service{
		Open: func(t *testing.T, s *fakeprov.Server) provider.Provider { return open(t, s) },
		Keyed: func(key, url string) (provider.Provider, error) {
			return e2b.New(e2b.Config{APIKey: key, APIURL: url, SandboxURL: url})
		},
		URL:    (*fakeprov.Server).E2BURL,
		Create: "e2b.create", Get: "e2b.get", Pause: "e2b.pause", Resume: "e2b.resume",
		Shell: "e2b.start",
		States: map[string]provider.State{
			"running":       provider.Running,
			"paused":        provider.Paused,
			"something new": provider.Unknown,
		},
	})
}

// TestStreamIsCut: a command whose output is lost is ended and told as lost, never as not started.
func TestStreamIsCut(t *testing.T) {
	t.Parallel()
	s := providertest.Fake(t)
	p := open(t, s)
	i := providertest.Create(t, p)
	for name, cut := range map[string]int{"the request": fakeprov.CutBefore, "start event": 20, "in output": 1000} {
		s.Fault(fakeprov.Fault{Op: "e2b.start", Cut: cut})
		_, err := p.Exec(providertest.Within(t), i.ID, provider.ExecRequest{Command: "echo $$ >" + i.Dir +
			"/cut.pid; while true; do echo output; sleep 0.01; done"}, io.Discard, io.Discard)
		if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%s: %v", name, err)
		}
		if cut > 100 {
			i.Gone(t, i.Dir+"/cut.pid")
		}
	}
}

// TestTerminalGivenUpUnheard: the program of a terminal is ended when its caller gives up before it hears that the
// program has started.
func TestTerminalGivenUpUnheard(t *testing.T) {
	t.Parallel()
	s := providertest.Fake(t)
	p := open(t, s)
	i := providertest.Create(t, p)
	s.Fault(fakeprov.Fault{Op: "e2b.start", Cut: fakeprov.CutReply})
	s.Fault(fakeprov.Fault{Op: "e2b.signal", Status: 404}) // the daemon does not know it yet
	ctx, cancel := context.WithCancel(providertest.Within(t))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := p.OpenPTY(ctx, i.ID, provider.PTYRequest{Argv: []string{"bash", "-c", "echo $$ >" + i.Dir +
			"/pid; exec sleep 100000"}, Cols: 80, Rows: 24})
		done <- err
	}()
	if !polling.Until(providertest.Limit, func() bool {
		pid, err := p.ReadFile(ctx, i.ID, i.Dir+"/pid", 1<<10)
		return err == nil && len(pid) > 0
	}) {
		t.Fatal("the program did not start")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	i.Gone(t, i.Dir+"/pid")
}

// TestInputIsLost: a command whose input does not arrive whole never sees an end of it that is none, and is ended and
// told as lost. One whose text comes as input does not begin.
func TestInputIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := providertest.Fake(t)
	p := open(t, s)
	i := providertest.Create(t, p)
	long := "touch " + i.Dir + "/began\n: " + strings.Repeat("x", 150_000) + "\ntouch " + i.Dir + "/ended"
	for name, f := range map[string]fakeprov.Fault{
		"the request": {Op: "e2b.input", Cut: fakeprov.CutBefore},
		"its reply":   {Op: "e2b.input", Cut: fakeprov.CutReply}, "at a gateway": {Op: "e2b.input", Status: 504},
	} {
		for _, r := range []provider.ExecRequest{{Command: "touch " + i.Dir + "/first; cat; touch " + i.Dir + "/ended",
			Stdin: make([]byte, 150_000)}, {Command: long}} {
			s.Fault(fakeprov.Fault{Op: "e2b.input"}) // the first piece arrives
			s.Fault(f)
			_, err := p.Exec(providertest.Within(t), i.ID, r, io.Discard, io.Discard)
			s.NoFaults()
			if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) ||
				!strings.Contains(err.Error(), "input was lost") {
				t.Errorf("%s, %.30s: %v", name, r.Command, err)
			}
		}
	}
	i.Check(t, "ls "+i.Dir, "first\n", 0)
}

// TestEndsThoughNotKilled: a call ends soon after its context also when the command cannot be ended and goes on
// printing.
func TestEndsThoughNotKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that do not end")
	}
	t.Parallel()
	s := providertest.Fake(t)
	p := open(t, s)
	p.SetKillWait(200 * time.Millisecond)
	i := providertest.Create(t, p)
	out := providertest.NewExpect("begin")
	ctx, cancel := context.WithCancel(providertest.Within(t))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := p.Exec(ctx, i.ID, provider.ExecRequest{Command: "while echo begin; do sleep 0.05; done"}, out, out)
		done <- err
	}()
	out.Wait(t)
	s.Fault(fakeprov.Fault{Op: "e2b.start", Times: 100, Status: 500})
	s.Fault(fakeprov.Fault{Op: "e2b.signal", Times: 100, Status: 500})
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(providertest.Limit):
		t.Error("the call did not end")
	}
	s.NoFaults()
}

// TestTokenRenewed: a sandbox whose daemon has another token since is asked for that.
func TestTokenRenewed(t *testing.T) {
	t.Parallel()
	s := providertest.Fake(t)
	p := open(t, s)
	i := providertest.Create(t, p)
	i.Check(t, "echo one", "one\n", 0)
	s.NewToken(i.ID)
	i.Check(t, "echo two", "two\n", 0)
	s.NewToken(i.ID)
	if err := p.WriteFile(providertest.Within(t), i.ID, i.Dir+"/f", []byte("x")); err != nil {
		t.Error(err)
	}
	// Another server, which has created nothing, can go on with the instance.
	other := open(t, s)
	var out bytes.Buffer
	if r, err := other.Exec(providertest.Within(t), i.ID,
		provider.ExecRequest{Command: "cat " + i.Dir + "/f", Cwd: "/"}, &out,
		io.Discard); err != nil || out.String() != "x" {
		t.Errorf("%q %+v %v", out.String(), r, err)
	}
}

// TestTerminalIsCut: a terminal whose connection is cut is connected again.
func TestTerminalIsCut(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := providertest.Fake(t)
	e := providertest.Create(t, open(t, s))
	s.Fault(fakeprov.Fault{Op: "e2b.start", Cut: 4000})
	sc := e.OpenScreen(t, provider.PTYRequest{Cols: 80, Rows: 24})
	sc.Send(t, "seq 1 3000\r")
	providertest.Becomes(t, "it is connected again", func() bool { return s.Calls("e2b.connect") > 0 })
	sc.Send(t, "echo $((6*7))after; exit 2\r")
	if err := sc.End(t); err != io.EOF || !strings.Contains(sc.String(), "42after") {
		t.Errorf("%v, %q", err, sc)
	}
	if code, known := sc.Exit(); code != 2 || !known {
		t.Errorf("exit %d, %v", code, known)
	}
}

// The tests of the real service skip without its key.

func TestE2BBasicExecution(t *testing.T) {
	providertest.Parts(t, providertest.Real("e2b", "E2B_API_KEY")(t), providertest.ExitCodes, providertest.Output)
}

func TestE2BTerminalStatePersistence(t *testing.T) {
	providertest.Parts(t, providertest.Real("e2b", "E2B_API_KEY")(t), providertest.StatePersistence)
}

func TestE2BFileOperations(t *testing.T) {
	providertest.Parts(t, providertest.Real("e2b", "E2B_API_KEY")(t), providertest.Files, providertest.List)
}

func TestE2BPauseResume(t *testing.T) {
	providertest.PauseResume(t, providertest.Real("e2b", "E2B_API_KEY")(t))
}
