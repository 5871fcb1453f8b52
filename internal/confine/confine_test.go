package confine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(Main(os.Args))
	}
	os.Exit(m.Run())
}

// confined carries a command out and returns what it printed and why it could not be started.
func confined(t *testing.T, s Spec, argv ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	plan := s.Plan(proc.Plan{Path: path, Argv: argv, Env: []string{"A=1", "A=2"}, Dir: "/"})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pid, pidfd, err := plan.Exec([3]int{0, int(w.Fd()), 2}, false)
	_ = w.Close()
	if err != nil {
		return "", err
	}
	defer unix.Close(pidfd)
	var out bytes.Buffer
	_, err = out.ReadFrom(r)
	_, _ = unix.Wait4(pid, nil, 0, nil)
	return out.String(), err
}

// TestPlan: the program has its own name, arguments, environment and descriptors, and its failure is the start's.
func TestPlan(t *testing.T) {
	s := Spec{Limits: &Limits{Files: 77}}
	out, err := confined(t, s, "sh", "-c", `ulimit -n; echo "$0 $1"; tr '\0' ' ' </proc/$$/environ; ls /proc/$$/fd`,
		"name", "an argument")
	if err != nil || !strings.Contains(out, "77\nname an argument\nA=1 A=2 ") || strings.Contains(out, "\n3\n") {
		t.Errorf("%q %v", out, err)
	}
	file := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(file, []byte("\x7fELF"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := confined(t, s, file); !errors.Is(err, proc.ErrNoCommand) || !errors.Is(err, unix.ENOEXEC) {
		t.Errorf("%v", err)
	}
	s.Limits.Group = "/nowhere"
	if _, err := confined(t, s, "true"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// TestUnknownFields: what this binary does not know it does not leave out.
func TestUnknownFields(t *testing.T) {
	plan := Spec{}.Plan(proc.Plan{Path: "/bin/true", Argv: []string{"true"}, Dir: "/"})
	plan.Argv[2] = `{"network":false}`
	if _, _, err := plan.Exec([3]int{0, 1, 2}, false); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// TestGroup: a program is born in its group, which goes when it has ended; a sweep removes what another server left.
func TestGroup(t *testing.T) {
	root, err := groupRoot()
	if err != nil {
		t.Skip(err)
	}
	base := filepath.Join(root, "evertty-test-"+strings.ToLower(t.Name()))
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Skipf("no cgroup v2 to write to: %v", err)
	}
	defer unix.Rmdir(base)
	g := &Groups{Prefix: "evertty-t-", base: base}
	dir, err := g.Make("a", Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := confined(t, Spec{Limits: &Limits{Group: dir}}, "sh", "-c", "sh -c 'cat /proc/self/cgroup'; echo over")
	if err != nil || !strings.Contains(out, filepath.Base(base)+"/evertty-t-a\n") {
		t.Errorf("%q %v", out, err)
	}
	if _, err := g.Make("b", Bounds{}); err != nil {
		t.Fatal(err)
	}
	if err := g.Remove("a"); err != nil {
		t.Error(err)
	}
	for range 2 { // one that was just made may be about to be used
		if _, err := os.Stat(filepath.Join(base, "evertty-t-b")); err != nil {
			t.Error(err)
		}
		g.Sweep(func(string) bool { return false })
	}
	if list, _ := filepath.Glob(filepath.Join(base, "evertty-t-*")); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
	if _, err := g.Make("c", Bounds{Pids: 5}); err != nil && !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	_ = g.Remove("c")
}
