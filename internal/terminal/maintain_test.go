package terminal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
)

// TestFilesFollowTheProgram: a server that is killed leaves a record with each directory a program went to, and a
// snapshot behind much output, though nobody asks for them.
func TestFilesFollowTheProgram(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "sh", "-c", "while read d; do cd $d; done")
	record := filepath.Join(dir, "terminals", term.ID, "meta")
	for _, cwd := range []string{"/usr", "/", "/etc"} {
		typeIn(t, term, cwd+"\n")
		until(t, "the record of "+cwd, func() bool {
			b, _ := os.ReadFile(record)
			return strings.Contains(string(b), `"cwd":"`+cwd+`"`)
		})
	}
	much := start(t, m, "sh", "-c", "yes much | head -c 100000; exec cat")
	until(t, "a snapshot", func() bool {
		list, _ := filepath.Glob(filepath.Join(dir, "terminals", much.ID, "screen.*"))
		return len(list) > 0
	})
}

// TestQuotaOfATerminal: a flood takes no more than one and a half quotas and one file while it goes on, and what is
// dropped is no damage.
func TestQuotaOfATerminal(t *testing.T) {
	const quota, file = 1 << 20, 256 << 10
	dir := t.TempDir()
	m := openClean(t, dir, terminal.CleanPolicy{TerminalQuota: quota})
	term := start(t, m, "bash", "-c", "yes 012345678901234567890123456789 | head -c 6000000; echo; echo all; read")
	j, err := term.Journal()
	if err != nil {
		t.Fatal(err)
	}
	most := int64(0)
	until(t, "the end of the flood", func() bool {
		most = max(most, j.Bytes())
		return j.End() > 6_000_000
	})
	see(t, term, "(?m)^all$")
	if most > quota*3/2+2*file || j.Start() == 0 {
		t.Errorf("up to %d bytes were kept of %d, at the end those from position %d", most, quota, j.Start())
	}
	leave(t, m)
	term = findIn(t, openClean(t, dir, terminal.CleanPolicy{TerminalQuota: quota}), term.ID)
	if text := textOf(term); !strings.Contains(text, "\nall\n") || term.Wire().Damage != "" {
		t.Errorf("the next server shows %q with damage %q", text, term.Wire().Damage)
	}
}

// TestWithoutSplice: a server that cannot move output past its memory says so, and keeps it all the same.
func TestWithoutSplice(t *testing.T) {
	dir := t.TempDir()
	config := func() supervisor.Config {
		return supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine, SpliceErr: errors.New("no splice")}}
	}
	m := openWith(t, dir, config())
	term := start(t, m, "sh", "-c", "seq 5000; exec cat")
	see(t, term, "(?m)^5000$")
	leaveTail(t, m, dir)
	m = openWith(t, dir, config())
	term = findIn(t, m, term.ID)
	typeIn(t, term, "on\n")
	see(t, term, "(?m)^4999\n5000\non\non$")
	if lossy, other, damaged := m.Terminals.Problems(); len(lossy) != 1 || !strings.Contains(lossy[0], "no splice") ||
		len(other) > 0 || damaged > 0 {
		t.Errorf("told are %q, %q, %d damaged", lossy, other, damaged)
	}
}
