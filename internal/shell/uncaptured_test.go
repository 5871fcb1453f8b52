package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// names reports whether lost says that what a command changed is gone.
func names(lost []string, id string) bool {
	return slices.ContainsFunc(lost, func(line string) bool { return strings.Contains(line, "command "+id+" changed") })
}

// TestLostOfTheEnd: what a command changed before its shell ended with it is not kept, and the next command is told of
// which command. One that changes nothing is not named.
func TestLostOfTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		named bool
	}{
		"exit": {"V=1; export W=2; cd /; exit 3", true}, "exec": {"V=1\nexec true",
			true}, "set -e": {"set -e; V=1; false", true}, "killed": {"V=1; kill -9 $$", true},
		"function": {"f() { exit 4; }; f", true}, "exit alone": {"exit 3", false}, "exec alone": {"exec true",
			false}, "kill alone": {" kill -9 $$ ;", false}, "a redirection": {"exec 3>file; exit", true},
		"an assignment": {"exit $((V=5))", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			run(t, s, "V=old; cd /usr")
			e := begin(t, s, Command{Text: c.text})
			if r := result(t, e); !r.ShellEnded {
				t.Fatalf("%+v", r)
			}
			r := run(t, s, "pwd; echo $V$W")
			if r.out != "/usr\nold\n" || !r.Recreated || names(r.Lost, e.ID()) != c.named || !c.named &&
				len(r.Lost) != 0 {
				t.Errorf("%+v", r)
			}
			if r := run(t, s, "true"); r.Recreated || len(r.Lost) != 0 {
				t.Errorf("told again: %+v", r)
			}
		})
	}
}

// TestLostOfAKill: a shell that is killed, or is ended by a timeout, in a command loses what that has changed, and says
// so, to the next server too.
func TestLostOfAKill(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	e := begin(t, s, Command{Text: "V=1; >>seen; sleep 1000"})
	if !poll(func() bool { _, err := os.Stat(filepath.Join(data, "seen")); return err == nil }) {
		t.Fatal("it does not begin")
	}
	_ = unix.Kill(s.Stats().PID, unix.SIGKILL)
	if r := result(t, e); !r.ShellEnded || r.ExitCode != 137 {
		t.Errorf("%+v", r)
	}
	leave()
	s = nextServer(t, data)
	if r := run(t, s, "echo \"[$V]\""); r.out != "[]\n" || !r.Recreated || !names(r.Lost, e.ID()) {
		t.Errorf("%+v", r)
	}
	e = begin(t, s, Command{Text: "V=2; trap '' INT; while :; do :; done", Timeout: 100 * time.Millisecond})
	if r := result(t, e); !r.TimedOut || !r.ShellEnded {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "echo \"[$V]\""); r.out != "[]\n" || !names(r.Lost, e.ID()) {
		t.Errorf("%+v", r)
	}
}

// TestNewsWaitsForACommand: a change of variables starts a shell again, and a command that was cancelled before its
// turn comes after it; the next command is told what is lost.
func TestNewsWaitsForACommand(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "trap 'echo T' USR1")
	e := begin(t, s, Command{Text: "V=1; exit"})
	result(t, e)
	if err := s.SetEnv(limited(t), map[string]string{"A": "1"}, nil); err != nil {
		t.Fatal(err)
	}
	if r := run(t, s, "echo $A"); r.out != "1\n" || !r.Recreated || !names(r.Lost, e.ID()) ||
		!slices.Contains(r.Lost, "trap USR1") {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "echo $A"); r.Recreated || len(r.Lost) != 0 {
		t.Errorf("%+v", r)
	}
}
