package stream

import (
	"cmp"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// Restore makes the hub of a running terminal that was in the state of f after
// seq bytes of output: after a restart of the server, or as the next generation
// of one that had ended. The size is f's; the engine keeps as much of f's history
// as o.Config says. Nothing is observed meanwhile. What the program has written
// since is then the owner's to Write.
func Restore(o Options, f *vt.Frame, seq uint64) *Hub {
	o.Config.Cols, o.Config.Rows = f.Cols, f.Rows
	h := newHub(o)
	cfg := o.Config
	cfg.Effects = &h.effects
	h.engine = o.Engine(cfg)
	if whole := (snapshot.Options{Scrollback: -1, Engine: true}); !h.engine.Restore(snapshot.Normalize(f, whole)) {
		_ = whole.Write(engineWriter{h.engine}, f) // an engine takes everything
		h.engine.Resume(f)
	}
	h.listen()
	h.begin(f, seq)
	h.rewidthed = cmp.Or(f.Unicode, vt.Unicode11) != cmp.Or(o.Config.Unicode, vt.Unicode11)
	h.show()
	return h
}

// begin puts a new hub at position seq, in the state of f.
func (h *Hub) begin(f *vt.Frame, seq uint64) {
	h.seq = seq
	h.cols, h.rows = f.Cols, f.Rows
	h.facts.Title = f.Title
	if h.ownHost(f.CwdHost) {
		h.facts.Cwd = f.Cwd
	}
	// A change of size at seq itself may be one of the life before.
	h.resizes = resizes{cols: f.Cols, rows: f.Rows, known: seq + 1}
}

// Remember tells a restored hub what no frame and no journal has: when the
// program wrote last, and how often it has rung at least.
func (h *Hub) Remember(output time.Time, bells uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts.Output = output
	h.facts.Bells = max(h.facts.Bells, bells)
	h.show()
}

// engineWriter is an engine as an io.Writer.
type engineWriter struct{ vt.Engine }

func (w engineWriter) Write(p []byte) (int, error) {
	w.Engine.Write(p)
	return len(p), nil
}
