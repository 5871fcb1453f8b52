package shell

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// TestReleasedFiles: the files of a shell that the first released form has written load. Its server and keeper were
// killed while a command ran and another one waited: what had ended is as it was, what ran is lost, what waited runs in
// the next bash, which has the state.
func TestReleasedFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shell")
	if err := os.CopyFS(dir, os.DirFS("testdata/released")); err != nil {
		t.Fatal(err)
	}
	s, err := Recover(config(t), dir, nil, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s) })
	if damage := s.Damage(); damage != nil {
		t.Error(damage)
	}
	list := s.Execs()
	if len(list) != 6 {
		t.Fatalf("%d commands", len(list))
	}
	for n, want := range []struct {
		code     int
		out, err string
	}{{0, "", ""}, {3, "\xffx", "err\n"}, {0, "alone\n", ""}, {0, "back\n", ""}} {
		if r := result(t, list[n]); r.ExitCode != want.code || r.out != want.out || r.err != want.err {
			t.Errorf("command %d: %+v", n, r)
		}
	}
	if r, err := list[4].Wait(limited(t)); !errors.Is(err, ErrEnded) || printed(t, list[4], Stdout) != "begun\n" {
		t.Errorf("the one that ran: %+v, %v", r, err)
	}
	if r := result(t, list[5]); r.out != "fa b\n2 /usr a b\n0027\n" || !r.Recreated {
		t.Errorf("the one that waited: %+v", r)
	}
	if left := fifos(t, filepath.Join(dir, shelldir.CommandsDir)); len(left) > 0 {
		t.Errorf("FIFOs %v", left)
	}
}
