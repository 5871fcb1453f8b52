package terminal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
)

// heap is what is in use after a collection, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what has a weak pointer goes with the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestDeletedTakeNoMemory: a deleted terminal is read from disk when somebody asks for its screen, which stays readable
// by id; also after a restart of the server.
func TestDeletedTakeNoMemory(t *testing.T) {
	const count, lines = 24, 5000
	dir := t.TempDir()
	m := supervisortest.OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine}})
	before := heap()
	var ids []string
	for range count {
		term := start(t, m, "bash", "-c",
			fmt.Sprintf("seq -f 'a line of output with the number %%080.0f' %d; echo all; read", lines))
		ids = append(ids, term.ID)
	}
	for _, id := range ids {
		term, err := m.Terminals.Find("", id)
		if err != nil {
			t.Fatal(err)
		}
		see(t, term, "(?m)^all$")
	}
	full := heap() - before
	if err := m.Terminals.DeleteSession(context.Background(), "s", false); err != nil {
		t.Fatal(err)
	}
	check := func(what string, terminals *terminal.Registry) {
		t.Helper()
		var left int64
		if !polling.Until(supervisortest.Patience, func() bool { left = heap() - before; return left < full/4 }) {
			t.Errorf("%s %d bytes of %d are left", what, left, full)
		}
		for _, id := range ids {
			term, err := terminals.Find("", id)
			if err != nil || !term.Deleted() {
				t.Fatalf("%s %s: %v", what, id, err)
			}
			shot := term.Hub().Snapshot()
			if text := string(shot.ANSI()); !strings.Contains(text, fmt.Sprintf("%080d", lines)) ||
				!strings.Contains(text, "all") || term.Wire().Exit == nil || term.Wire().Exit.Reason != "killed" {
				t.Errorf("%s %s has %d bytes, %+v", what, id, len(text), term.Wire())
			}
		}
		if !polling.Until(supervisortest.Patience, func() bool { left = heap() - before; return left < full/4 }) {
			t.Errorf("%s after a look at all %d bytes of %d are left", what, left, full)
		}
	}
	check("after the deletion", m.Terminals)
	supervisortest.Leave(t, m)
	m = supervisortest.OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine}})
	check("after a restart", m.Terminals)
}

// TestSmallJournalQuota: the quota of all journals holds where it is less than a file of one has by default, for
// running terminals too, and where it was larger when they printed.
func TestSmallJournalQuota(t *testing.T) {
	const quota, printed = 4 << 20, 9 << 20
	for _, c := range []struct {
		name   string
		count  int
		before int64 // the quota of a server before
	}{{"one", 1, 0}, {"many", 12, 0}, {"less than before", 2, 1 << 30}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			config := supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
				Clean: terminal.CleanPolicy{JournalQuota: quota}}}
			if c.before > 0 {
				config.Terminals.Clean.JournalQuota = c.before
			}
			m := supervisortest.OpenWith(t, dir, config)
			line := fmt.Sprintf("yes 0123456789012345678901234567890123456789 | head -c %d; echo; echo all; read",
				printed/c.count)
			small := start(t, m, "bash", "-c", "echo small; read")
			var list []*terminal.Terminal
			for range c.count {
				list = append(list, start(t, m, "bash", "-c", line))
			}
			for _, term := range list {
				see(t, term, "(?m)^all$")
			}
			if c.before > 0 {
				supervisortest.Leave(t, m)
				config.Terminals.Clean.JournalQuota = quota
				m = supervisortest.OpenWith(t, dir, config)
			}
			var kept int64
			if !polling.Until(supervisortest.Patience, func() bool { kept = journals(t, dir); return kept <= quota }) {
				t.Errorf("%d bytes are kept of %d", kept, quota)
			}
			small = findIn(t, m, small.ID)
			if j, err := small.Journal(); err != nil || j.Start() > 0 {
				t.Errorf("the journal of the one that printed little begins at %d, %v", j.Start(), err)
			}
			remove(t, m.Terminals, small, true)
			for _, term := range m.Terminals.List("") {
				if i := term.Wire(); i.State != terminal.StateRunning || i.Damage != "" ||
					i.Seq < printed/uint64(c.count) {
					t.Errorf("%+v", i)
				}
				see(t, term, "(?m)^all$")
			}
		})
	}
}

// journals is what the journals in a data directory take, in bytes.
func journals(t *testing.T, dir string) (n int64) {
	t.Helper()
	for _, pattern := range []string{"data.*", "index.*"} {
		list, err := filepath.Glob(filepath.Join(dir, "terminals", "*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range list {
			if info, err := os.Stat(name); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}
