package stream

import (
	"cmp"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// Restore makes the hub of a running terminal in the state of f after seq bytes of output: after
// a restart of the server, or as the next generation of a terminal that had ended. The size is
// f's; the engine keeps as much of f's history as o.Config allows. No hook is called. The owner
// then writes the output that came after seq.
func Restore(o Options, f *vt.Frame, seq uint64) *Hub {
	o.Config.Cols, o.Config.Rows = f.Cols, f.Rows
	h := newHub(o)
	if whole := (snapshot.Options{Scrollback: -1, Engine: true}); !h.engine.Restore(snapshot.Normalize(f, whole)) {
		_ = whole.Write(engineWriter{h.engine}, f) // an engine takes everything
		h.engine.Resume(f)
	}
	h.connectEffects()
	h.seq = seq
	h.cols, h.rows = f.Cols, f.Rows
	h.stats.Title = f.Title
	if h.ownHost(f.CwdHost) {
		h.stats.Cwd = f.Cwd
	}
	// A change of size at seq itself may be from before the restart.
	h.resume.resizes = resizes{first: Size{Cols: f.Cols, Rows: f.Rows}, known: seq + 1}
	h.resume.widthTableChanged = cmp.Or(f.Unicode, vt.Unicode11) != cmp.Or(o.Config.Unicode, vt.Unicode11)
	h.publishStats()
	return h
}

// RestoreStats sets what neither frame nor journal has: when the program wrote last, and how
// often it has rung at least.
func (h *Hub) RestoreStats(output time.Time, bells uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Output = output
	h.stats.Bells = max(h.stats.Bells, bells)
	h.publishStats()
}

// engineWriter is an engine as an io.Writer.
type engineWriter struct{ vt.Engine }

func (w engineWriter) Write(p []byte) (int, error) {
	w.Engine.Write(p)
	return len(p), nil
}
