package history

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
)

// TestShellRecordElsewhere: nobody guesses where the commands of a shell ran.
func TestShellRecordElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, shelldir.RemoteFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, _, _, err := FindShell(dir, nil, Spec{ID: "s"}); !errors.Is(err, shelldir.ErrDamaged) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNewestIncarnation: the number of the newest process comes from what it left and from the keeper.
func TestNewestIncarnation(t *testing.T) {
	dir := t.TempDir()
	if n := newestProcess(dir, nil); n != 0 {
		t.Errorf("%d without anything", n)
	}
	if err := os.Mkdir(filepath.Join(dir, shelldir.MarkersDir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pid.3.4711", "sid.2.9999", "up.1.0", "b.zzz-99.12", "pid.", "sid.x.1"} {
		if err := os.WriteFile(filepath.Join(dir, shelldir.MarkersDir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := newestProcess(dir, nil); n != 3 {
		t.Errorf("%d, want 3", n)
	}
	if n := newestProcess(dir, []*keeper.Program{{ID: "shell.s.c.00000007aaaaaaaaaaaa"}}); n != 3 {
		t.Errorf("%d with a command, want 3", n)
	}
}
