package shell

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

var cancels = flag.Int("cancels", 30, "random cancels and timeouts of TestCancels")

// TestCancels ends commands at random times: none may go on, no shell may be stuck after it, no process and no FIFO may
// be left.
func TestCancels(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	texts := []string{
		"sleep 100; echo NOT", "while :; do :; done; echo NOT", "true", "sleep 0.02; echo yes",
		"sleep 100 | cat; echo NOT",
		"x=$(sleep 100); echo NOT", "f() { sleep 100; }; f; echo NOT", "for i in 1 2 3; do sleep 100; done; echo NOT",
		"cat; sleep 100; echo NOT", "(sleep 100; echo NOT); echo NOT",
		"yes | head -c 100000000 >/dev/null; sleep 100; echo NOT",
		"trap '' INT; sleep 100; echo NOT", "setsid sleep 100; echo NOT",
		"bash -c 'trap \"exit 0\" INT; sleep 100'; echo NOT",
		"( bash -c 'trap \"exit 0\" INT; sleep 100'; echo NOT ); echo NOT", "sleep 2 & sleep 2 & wait; echo NOT",
		"while :; do /bin/true; done; echo NOT", "cat <(sleep 100); echo NOT", "kill -STOP $$; echo NOT", "exit 3",
	}
	const several = 4
	list := make([]*Shell, several)
	for i := range list {
		list[i] = start(t)
	}
	wentOn := 0
	for i := range *cancels {
		s, text := list[i%several], texts[random.IntN(len(texts))]
		wait := time.Duration(random.IntN(60)) * time.Millisecond
		c := Command{Text: text}
		if i%2 == 0 {
			c.Timeout = wait + time.Millisecond
		}
		e, err := s.Submit(c)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			moment, over := context.WithTimeout(t.Context(), wait)
			_, _ = e.Wait(moment)
			over()
			e.Cancel()
		}
		r := result(t, e)
		if strings.Contains(r.out, "NOT") {
			wentOn++
			t.Logf("%d: %q went on: %+v", i, text, r)
		}
		if i%several == several-1 {
			for n, s := range list {
				if r := do(t, s, Command{Text: "echo on", Timeout: patience / 2}); r.out != "on\n" {
					list := s.Commands(2, "")
					t.Fatalf("%d: shell %d after %q (%+v): %+v", i, n, list[0].Command, list[0].Result, r)
				}
			}
		}
	}
	if wentOn > 0 {
		t.Errorf("%d of %d commands went on", wentOn, *cancels)
	}
	for _, s := range list {
		want := []string{shelldir.ControlFIFO}
		if s.Stats().State == "ended" { // with the last command
			want = nil
		}
		if got := fifosInUse(t, s); !slices.Equal(got, want) {
			t.Errorf("FIFOs %v", got)
		}
		proc := s.procs.current.Load()
		// but for a capture that is just going on
		if !poll(func() bool { return len(proctree.Members(proc.Proc(), "", nil)) == 0 }) {
			t.Errorf("processes are left: %v", proctree.Members(proc.Proc(), "", nil))
		}
	}
}

// TestCancelAtTheStart ends commands in the moment in which bash starts a program and begins to wait for it: none goes
// on, and no shell ends for it but where the machine is so busy that the grace is over. Without the care of package
// interrupt for that moment, 3 of 100 end the shell.
func TestCancelAtTheStart(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	const cancels, moment, allowed = 300, 300 * time.Microsecond, 2
	s := start(t)
	ended := 0
	for i := range cancels {
		sign := filepath.Join(t.TempDir(), "began")
		e := begin(t, s, Command{Text: ">" + state.Quote(sign) + "; sleep 1000; echo NOT"})
		for there := false; !there; {
			_, err := os.Stat(sign)
			there = err == nil
		}
		for end := time.Now().Add(rand.N(moment)); time.Now().Before(end); { // shorter than any sleep takes
		}
		e.Cancel()
		r := result(t, e)
		if !r.Cancelled || r.out != "" {
			t.Errorf("%d: %+v", i, r)
		}
		if r.ShellEnded {
			ended++
		}
	}
	if ended > allowed {
		t.Errorf("%d of %d cancels ended the shell", ended, cancels)
	}
}

// TestTimeoutAccuracy: a command is ended within 100 ms of its timeout, where the machine lets us: one of many has to
// be.
func TestTimeoutAccuracy(t *testing.T) {
	s := start(t)
	best := time.Hour
	for tries := 0; tries < 3 || tries < 100 && best > 100*time.Millisecond; tries++ {
		const limit = 100 * time.Millisecond
		began := time.Now()
		if r := do(t, s, Command{Text: "sleep 100", Timeout: limit}); !r.TimedOut {
			t.Errorf("%+v", r)
		}
		best = min(best, time.Since(began)-limit)
	}
	if best > 100*time.Millisecond {
		t.Errorf("%v late at best", best)
	}
	t.Logf("%v late at best", best)
}

// TestBackground: a command in the background is beside the queue, no job of the shell's, and has a status of its own.
func TestBackground(t *testing.T) {
	t.Parallel()
	s := start(t)
	e, err := s.Submit(Command{Text: "while [ ! -e go ]; do sleep 0.01; done; echo out; echo err >&2; exit 7",
		Background: true})
	if err != nil {
		t.Fatal(err)
	}
	<-e.Started()
	expect(t, run(t, s, "jobs; wait; echo on"), 0, "on\n")
	if pid := e.Info().PID; e.Info().Status != Running || !poll(func() bool { return e.Info().PID != s.Stats().PID }) {
		t.Errorf("%d, %+v", pid, e.Info())
	}
	if err := os.WriteFile(filepath.Join(s.spec.Cwd, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := result(t, e); r.ExitCode != 7 || r.out != "out\n" || r.err != "err\n" || r.Background {
		t.Errorf("%+v", r)
	}
	for _, cause := range []string{"set -u; echo $nope", "set -e; false; echo NOT", "( exit 1 )",
		"echo ${x:?}; echo NOT"} {
		e, err := s.Submit(Command{Text: cause, Background: true})
		if err != nil {
			t.Fatal(err)
		}
		if r := result(t, e); r.ExitCode == 0 || r.out != "" {
			t.Errorf("%q: %+v", cause, r)
		}
	}
	long, err := s.Submit(Command{Text: "sleep 100; echo NOT", Background: true, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r := result(t, long); r.ExitCode != 124 || !r.TimedOut || r.out != "" {
		t.Errorf("%+v", r)
	}
	long, err = s.Submit(Command{Text: "sleep 100; echo NOT", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	<-long.Started()
	long.Cancel()
	if r := result(t, long); r.ExitCode != 130 || !r.Cancelled || r.out != "" {
		t.Errorf("%+v", r)
	}
}

// TestIsolated: a process beside the shell, with its directory and variables and nothing else.
func TestIsolated(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "cd /usr; export V='a b'; W=1")
	run(t, s, ":")
	first, err := s.Submit(Command{Text: "sleep 100"})
	if err != nil {
		t.Fatal(err)
	}
	r := do(t, s, Command{Isolated: true, Argv: []string{"sh", "-c", `pwd; echo "$V[$W]$1"; cat; exit 5`, "sh", "it's"},
		Stdin: []byte("in\n")})
	expect(t, r, 5, "/usr\na b[]it's\nin\n")
	if r := do(t, s, Command{Isolated: true, Argv: []string{"nosuchcommand"}}); r.ExitCode != 127 ||
		!strings.Contains(r.err, "not found") {
		t.Errorf("%+v", r)
	}
	if r := do(t, s, Command{Isolated: true, Argv: []string{"sleep", "100"},
		Timeout: 30 * time.Millisecond}); r.ExitCode != 124 || !r.TimedOut {
		t.Errorf("%+v", r)
	}
	first.Cancel()
	result(t, first)
}

// TestOneCommandAlone: a directory and variables of a command do not stay.
func TestOneCommandAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	base := s.spec.Cwd
	run(t, s, "mkdir -p d; ln -s d l; cd l; cd /usr; cd - >/dev/null; export V=old; f() { echo $V; }")
	r := do(t, s, Command{Text: "pwd; f; sh -c 'echo $V$N'; x=kept; cd /", Cwd: "/tmp",
		Env: map[string]string{"V": "new", "N": "it's"}})
	expect(t, r, 0, "/tmp\nnew\nnewit's\n")
	if r.Cwd != base+"/l" {
		t.Errorf("cwd %q", r.Cwd)
	}
	expect(t, run(t, s, "pwd; echo $OLDPWD; echo $V[$N]$x"), 0, base+"/l\n/usr\nold[]kept\n")
	r = do(t, s, Command{Text: "sleep 100; echo NOT", Cwd: "..", Timeout: 50 * time.Millisecond,
		Env: map[string]string{"V": "new"}})
	if !r.TimedOut {
		t.Errorf("%+v", r)
	}
	expect(t, run(t, s, "pwd; echo $OLDPWD; echo $V"), 0, base+"/l\n/usr\nold\n")
	r = do(t, s, Command{Text: "echo NOT", Cwd: "nowhere"})
	if want := "Failed to change directory to " + base + "/l/nowhere: No such file or directory\n"; r.ExitCode != 1 ||
		r.err != want || r.out != "" {
		t.Errorf("%+v, want %q", r, want)
	}
}

// TestSetEnv sets and unsets, as often as one likes, and names what cannot be set.
func TestSetEnv(t *testing.T) {
	t.Parallel()
	s := start(t)
	value := "it's\n\"$x` \\"
	if err := s.SetEnv(limited(t), map[string]string{"A": value, "B": "2"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.SetEnv(limited(t), map[string]string{"C": "3"}, []string{"B"}); err != nil {
		t.Fatal(err)
	}
	expect(t, run(t, s, "sh -c 'printf %s \"$A[$B]$C\"'"), 0, value+"[]3")
	run(t, s, "readonly R=1")
	if err := s.SetEnv(limited(t), map[string]string{"R": "2"}, nil); err == nil ||
		!strings.Contains(err.Error(), "R") {
		t.Errorf("error %v", err)
	}
	if err := s.SetEnv(limited(t), map[string]string{"a-b": ""}, nil); err == nil {
		t.Error("a bad name was taken")
	}
	if got := len(s.Commands(0, "")); got != 2 {
		t.Errorf("%d commands", got)
	}
}

// TestInput: a standard input that stays open.
func TestInput(t *testing.T) {
	t.Parallel()
	s := start(t)
	e, err := s.Submit(Command{Text: "while read x; do echo got $x; done", Stdin: []byte("zero\n"), StdinOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 100000)
	for _, text := range []string{"one\n", big + "\n"} {
		if err := e.Input(limited(t), []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Input(limited(t), []byte("last\n"), true); err != nil {
		t.Fatal(err)
	}
	expect(t, result(t, e), 0, "got zero\ngot one\ngot "+big+"\ngot last\n")
	if err := e.Input(limited(t), nil, false); err == nil {
		t.Error("input after the end")
	}
}

// TestSetEnvGivenUp: who gives up waiting for variables while they are set ends that, and not the shell. On a busy
// machine a cancel may end a shell, but not each of ten.
func TestSetEnvGivenUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	begun := filepath.Join(t.TempDir(), "begun")
	survived := false
	for try := 0; try < 10 && !survived; try++ {
		_ = os.Remove(begun)
		before := run(t, s, "echo $$; set -T; trap '[[ $BASH_COMMAND == *GIVEN_UP=* ]] && { >"+begun+
			"; sleep 1000; }' DEBUG")
		ctx, giveUp := context.WithCancel(limited(t))
		given := make(chan error, 1)
		go func() { given <- s.SetEnv(ctx, map[string]string{"GIVEN_UP": "1"}, nil) }()
		if !poll(func() bool { _, err := os.Stat(begun); return err == nil }) {
			t.Fatal("it does not begin")
		}
		giveUp()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		survived = run(t, s, "echo $$").out == before.out
	}
	if !survived {
		t.Error("the shell ends every time")
	}
	if !poll(func() bool {
		list, err := os.ReadDir(filepath.Join(s.spec.Dir, shelldir.InternalDir))
		return err == nil && len(list) == 0
	}) {
		t.Error("its files are left")
	}
}

// TestOffspringOfNobody: a process that is not known has no children; those whose parent is 0 came from outside of the
// container, or are the kernel's.
func TestOffspringOfNobody(t *testing.T) {
	t.Parallel()
	if list := proctree.Successors([]proc.Process{{}}, ""); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}
