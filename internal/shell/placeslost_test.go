package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/shell/state"
)

// settled waits until the state after the last command is known.
func settled(t *testing.T, s *Shell) {
	t.Helper()
	if err := s.Settled(limited(t)); err != nil {
		t.Fatal(err)
	}
}

// TestPlacesComeBack: what cd -, popd and the completion of words remember is there after the end of a shell.
func TestPlacesComeBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "cd /usr; cd /; pushd /tmp; pushd /usr/bin; complete -W $'a b\\nc' foo; complete -F _x -o default bar")
	const show = "dirs -l -p; complete -p; cd -; printenv OLDPWD"
	want := run(t, s, "("+show+")")
	run(t, s, "kill -9 $$")
	if r := run(t, s, "("+show+")"); r.out != want.out || !strings.Contains(r.out, "/tmp") ||
		!strings.Contains(r.out, "_x") || !r.Recreated || len(r.Lost) != 0 {
		t.Errorf("%+v, want %q", r, want.out)
	}
}

// TestLostIsNamed: what a shell comes back without is in lost, whatever the reason.
func TestLostIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil string
		file  func(dir string) error
		says  string
		kept  string
	}{
		"limit of the shell": {spoil: "ulimit -f 1; V=new; f() { echo f; }", says: "changed in the shell", kept: "old"},
		"too large": {spoil: "V=new; printf -v big '%070000000d' 0", says: "changed in the shell",
			kept: "old"},
		"file missing": {file: func(dir string) error { return os.Remove(state.Path(dir)) }, says: "missing",
			kept: ""},
		"file damaged": {file: func(dir string) error { return os.Truncate(state.Path(dir), 100) },
			says: "damaged", kept: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			run(t, s, "cd /usr; V=old; export X=kept")
			if c.spoil != "" {
				run(t, s, c.spoil)
			}
			settled(t, s)
			if c.file != nil {
				if err := c.file(s.spec.Dir); err != nil {
					t.Fatal(err)
				}
			}
			run(t, s, "exit 3")
			r := run(t, s, "pwd; echo $V $X")
			if want := "/usr\n" + strings.TrimLeft(c.kept+" kept\n", " "); r.out != want || !r.Recreated ||
				!strings.Contains(strings.Join(r.Lost, "; "), c.says) {
				t.Errorf("%+v, want %q", r, want)
			}
		})
	}
}

// TestLostOverServers: a later server names what it has found no state of.
func TestLostOverServers(t *testing.T) {
	t.Parallel()
	for _, damage := range []func(path string) error{os.Remove,
		func(path string) error { return os.Truncate(path, 50) }} {
		data := t.TempDir()
		s, _, leave := firstServer(t, data)
		run(t, s, "cd /usr; V=1")
		settled(t, s)
		run(t, s, "exit")
		leave()
		if err := damage(filepath.Join(data, "shell", state.StateFile)); err != nil {
			t.Fatal(err)
		}
		s = nextServer(t, data)
		if r := run(t, s, "echo $V"); !r.Recreated || !strings.Contains(strings.Join(r.Lost, "; "), "the whole state") {
			t.Errorf("%+v", r)
		}
	}
}

// TestSlimImage: in memory is what children get and names, and nothing of the size of a user's variables.
func TestSlimImage(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	run(t, s, "mapfile -t lines < <(seq 200000); export K=v; f() { echo f; }; set -- $(seq 1000)")
	settled(t, s)
	run(t, s, "kill -9 $$")
	if r := run(t, s, "echo ${#lines[@]} ${lines[199999]} $K $#; f"); r.out != "200000 200000 v 1000\nf\n" ||
		len(r.Lost) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestNoHistoryFile: with history on nothing of ours comes to a file of the user's.
func TestNoHistoryFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := start(t, func(spec *Spec) { spec.Env = map[string]string{"HOME": home} })
	run(t, s, "set -o history")
	run(t, s, "true")
	run(t, s, "exit 0")
	if text, err := os.ReadFile(filepath.Join(home, ".bash_history")); err == nil {
		t.Errorf("%q", text)
	}
}
