package stream

import (
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// verifier checks snapshots by making the screen again from their text. It is a
// switch for debugging: the goroutine that encoded a snapshot checks it before
// it is sent, without a lock, and the viewers that share the snapshot wait for
// both. It is safe for concurrent use.
type verifier struct {
	engine     vt.EngineFunc
	scrollback int // lines, of the terminal
	report     func(seq uint64, differences []string)
}

// newVerifier is nil when nobody wants to know.
func newVerifier(o Options) *verifier {
	if o.Observe.Differs == nil {
		return nil
	}
	return &verifier{engine: o.Engine, scrollback: o.Config.Scrollback, report: o.Observe.Differs}
}

// check applies ansi, which was made of s with the options, to a fresh engine
// and reports in what it does not end as s. The engine is given room for all the
// history there is: a screen from disk may have more than the terminal keeps now.
func (v *verifier) check(s *Shot, o snapshot.Options, ansi []byte) {
	want := snapshot.Normalize(s.Frame, o)
	e := v.engine(vt.Config{Cols: want.Cols, Rows: want.Rows, Scrollback: max(v.scrollback, want.History.Len()),
		Unicode: want.Unicode,
		Memory:  vt.MaxMemory})
	e.Write(ansi)
	if d := snapshot.Differences(want, e.Freeze()); len(d) > 0 {
		v.report(s.Seq, d)
	}
}
