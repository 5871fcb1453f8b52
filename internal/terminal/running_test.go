package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// TestLimitCountsWhatRuns: programs that have ended, were deleted or did not start leave room for others, those that
// were restarted or taken over from the server before do not.
func TestLimitCountsWhatRuns(t *testing.T) {
	const most = 2
	dir := t.TempDir()
	config := supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine, Max: most}}
	m := openWith(t, dir, config)
	full := func(what string) {
		t.Helper()
		_, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{"cat"}})
		if !errors.Is(err, terminal.ErrLimit) {
			t.Errorf("%s: %v, want ErrLimit", what, err)
		}
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ended := start(t, m, "true")
	<-ended.Done()
	for range most {
		if _, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{script}}); err == nil {
			t.Error("a script without an interpreter runs")
		}
	}
	one := start(t, m, "cat")
	start(t, m, "cat")
	full("two")
	if err := m.Terminals.Delete(context.Background(), one, true); err != nil {
		t.Fatal(err)
	}
	again, err := m.Terminals.Restart(ended)
	if err != nil {
		t.Fatal(err)
	}
	<-again.Done()
	start(t, m, "cat")
	full("two again")
	leave(t, m)
	m = openWith(t, dir, config)
	full("two that were taken over")
}
