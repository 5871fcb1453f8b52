package supervisor_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt/vt10x"
)

// TestIdleShellRetires: and comes back with its state; one that runs something, if only in the
// background, does not.
func TestIdleShellRetires(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	m := openWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt10x.New},
		Shells: registry.Config{Idle: 500 * time.Millisecond}})
	busy, behind := createShell(t, m, "s", ""), createShell(t, m, "s", "")
	running := submit(t, busy, shell.Command{Text: "until [ -e '" + gate + "' ]; do sleep 0.02; done"})
	run(t, behind, "sleep 1000 >/dev/null 2>&1 &")
	idle := createShell(t, m, "s", "")
	run(t, idle, "f() { echo $A; }; A='b c'; cd /")
	until(t, "the end of the idle shell's process", func() bool { return idle.Wire().State == "ended" })
	if busy.Wire().State != "running" || behind.Wire().State != "running" {
		t.Errorf("the busy shell is %s, the one with a job %s; want both running", busy.Wire().State,
			behind.Wire().State)
	}
	if out, r := run(t, idle, "f; pwd"); out != "b c\n/\n" || !r.Recreated {
		t.Errorf("it came back with %q, %+v", out, r)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, r := outcome(t, running); r.ExitCode != 0 || r.ShellEnded {
		t.Errorf("the busy one's command: %+v", r)
	}
}
