package terminal

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// RecoveredSession is the session of terminals whose record cannot be read.
const RecoveredSession = "recovered"

// recoverCorrupt makes a record for a terminal whose own cannot be read: its program may run,
// and its screen and journal may be good. It fails when there is nothing but the damaged
// record.
func (r recovery) recoverCorrupt(id string) (*meta, error) {
	n, now := vt.DefaultScrollback, time.Now().UTC()
	record := &meta{Format: recordFormat, ID: id, CreatedAt: now, LastActivity: now, Generation: firstGeneration,
		Cols: DefaultCols, Rows: DefaultRows,
		Spec: Spec{Session: RecoveredSession, CreateTerminal: wire.CreateTerminal{Cmd: []string{"?"}, Scrollback: &n,
			SizePolicy: wire.SizePolicyLatest}},
		State: StateLost, Exit: &stream.Exit{Reason: "lost"}, EndedAt: now}
	if g := r.newest[id]; g > 0 {
		k := r.held[id+"."+strconv.Itoa(g)]
		record.Generation, record.State, record.Exit, record.EndedAt = g, StateRunning, nil, time.Time{}
		record.Spec.Cmd = commandOf(k.Process.PID())
		if cols, rows, err := k.Process.Master().Size(); err == nil {
			record.Cols, record.Rows = cols, rows
		}
	}
	if loaded, err := r.cfg.Store.Load(id); err == nil {
		record.Cols, record.Rows = loaded.Frame.Cols, loaded.Frame.Rows
		loaded.Free()
	} else if record.State == StateLost {
		return nil, fmt.Errorf("no screen and no process of terminal %s: %w", id, err)
	}
	record.Spec.Cols, record.Spec.Rows = &record.Cols, &record.Rows
	return record, nil
}

// commandOf is the command line of a process, "?" when it cannot be read.
func commandOf(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if words := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"); err == nil && words[0] != "" {
		return words
	}
	return []string{"?"}
}
