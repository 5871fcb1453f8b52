package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// TestShellRecordDamaged: a record that is damaged, empty or missing costs its shell nothing, for it has a predecessor.
// Without that the shell comes back too, and what it lacks is told.
func TestShellRecordDamaged(t *testing.T) {
	t.Parallel()
	hurt := map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{rubbish"), 0o600) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"missing": os.Remove,
	}
	for name, damage := range hurt {
		for _, files := range [][]string{{shelldir.ShellFile}, {shelldir.ShellFile, history.EarlierFile}} {
			for _, alive := range []bool{true, false} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					data := t.TempDir()
					s, client, leave := firstServer(t, data)
					run(t, s, "cd /usr; export V=1; W=2")
					run(t, s, "kill -9 $$")
					run(t, s, "W=3") // the second incarnation
					if err := s.Settled(limited(t)); err != nil {
						t.Fatal(err)
					}
					pid, proc := client.PID(), s.Stats().PID
					leave()
					if !alive {
						_ = unix.Kill(pid, unix.SIGKILL)
					}
					for _, file := range files {
						if err := damage(filepath.Join(data, "shell", file)); err != nil {
							t.Fatal(err)
						}
					}
					s = nextServer(t, data)
					r := run(t, s, "pwd; echo $V $W")
					if r.out != "/usr\n1 3\n" || r.Recreated == alive || alive && s.Stats().PID != proc {
						t.Errorf("%+v", r)
					}
					told := strings.Join(s.Damage(), " ")
					if both := len(files) == 2; both != strings.Contains(told, shelldir.ShellFile) || both &&
						!alive != strings.Contains(strings.Join(r.Lost, " "), "its bounds") {
						t.Errorf("told %q, lost %q", told, r.Lost)
					}
					if _, err := history.LoadShell(s.spec.Dir); err != nil {
						t.Error(err)
					}
					if _, err := os.Stat(filepath.Join(s.spec.Dir,
						history.BadFile)); (err == nil) != (name != "missing") {
						t.Errorf("set aside: %v", err)
					}
				})
			}
		}
	}
}
