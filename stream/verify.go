package stream

import (
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// verifier checks snapshots by making the screen again from their text, for debugging. The
// goroutine that encoded a snapshot checks it before it is sent, without a lock; the viewers that
// share the snapshot wait for it. It is safe for concurrent use.
type verifier struct {
	engine     vt.EngineFunc
	scrollback int // lines, of the terminal
	report     func(seq uint64, differences []string)
}

// newVerifier is nil without Hooks.Differs.
func newVerifier(o Options) *verifier {
	if o.Hooks.Differs == nil {
		return nil
	}
	return &verifier{engine: o.Engine, scrollback: o.Config.Scrollback, report: o.Hooks.Differs}
}

// check applies ansi, which was made of s with the options, to a fresh engine and reports how its
// state differs from s. The engine has room for all history in s: a screen from disk may have more
// than the terminal keeps now.
func (v *verifier) check(s *SharedSnapshot, o snapshot.Options, ansi []byte) {
	want := snapshot.Normalize(s.Frame, o)
	e := v.engine(vt.Config{Cols: want.Cols, Rows: want.Rows, Scrollback: max(v.scrollback, want.History.Len()),
		Unicode: want.Unicode, Memory: vt.MaxMemory})
	e.Write(ansi)
	if d := snapshot.Differences(want, e.Freeze()); len(d) > 0 {
		v.report(s.Seq, d)
	}
}
