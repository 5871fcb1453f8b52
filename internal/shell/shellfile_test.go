package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
)

// TestShellRecordDamaged: a record that is damaged, empty or missing costs its shell nothing, for it has a predecessor. Without that the shell comes back too, and
// what it lacks is told.
func TestShellRecordDamaged(t *testing.T) {
	t.Parallel()
	hurt := map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{rubbish"), 0o600) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"missing": os.Remove,
	}
	for name, damage := range hurt {
		for _, files := range [][]string{{shelldir.ShellFile}, {shelldir.ShellFile, earlierFile}} {
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
					pid, body := client.PID(), s.Facts().PID
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
					if r.out != "/usr\n1 3\n" || r.Recreated == alive || alive && s.Facts().PID != body {
						t.Errorf("%+v", r)
					}
					told := strings.Join(s.Damage(), " ")
					if both := len(files) == 2; both != strings.Contains(told, shelldir.ShellFile) || both && !alive != strings.Contains(strings.Join(r.Lost, " "), "its bounds") {
						t.Errorf("told %q, lost %q", told, r.Lost)
					}
					if _, err := loadShell(s.spec.Dir); err != nil {
						t.Error(err)
					}
					if _, err := os.Stat(filepath.Join(s.spec.Dir, badFile)); (err == nil) != (name != "missing") {
						t.Errorf("set aside: %v", err)
					}
				})
			}
		}
	}
}

// TestShellRecordElsewhere: nobody guesses where the commands of a shell ran.
func TestShellRecordElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, elsewhereFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, _, _, err := findShell(dir, nil, Spec{ID: "s"}); !errors.Is(err, shelldir.ErrDamaged) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNewestIncarnation: the number of the newest process comes from what it left and from the keeper.
func TestNewestIncarnation(t *testing.T) {
	dir := t.TempDir()
	if n := newestIncarnation(dir, nil); n != 0 {
		t.Errorf("%d without anything", n)
	}
	if err := os.Mkdir(filepath.Join(dir, shelldir.SignsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pid.3.4711", "sid.2.9999", "up.1.0", "b.zzz-99.12", "pid.", "sid.x.1"} {
		if err := os.WriteFile(filepath.Join(dir, shelldir.SignsDir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := newestIncarnation(dir, nil); n != 3 {
		t.Errorf("%d, want 3", n)
	}
	if n := newestIncarnation(dir, []*keeper.Program{{ID: Prefix + "s.c.00000007aaaaaaaaaaaa"}}); n != 3 {
		t.Errorf("%d with a command, want 3", n)
	}
}
