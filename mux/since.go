package mux

import (
	"errors"
	"io"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// lately is what a terminal has printed since a position, as the screen and
// history of a terminal that was empty then. It is not for concurrent use.
type lately struct {
	engine vt.Engine
	reader *snapshot.JournalReader
	seq    uint64
}

// since begins at a position. Errors: ErrInvalid beyond the end of the output,
// snapshot.ErrNotKept, ErrJournal. The caller must close it.
func (t *Terminal) since(seq uint64) (*lately, error) {
	j, err := t.Journal()
	if err != nil {
		return nil, err
	}
	if end := j.End(); seq > end {
		return nil, wrapf(ErrInvalid, "since %d: the output has %d bytes", seq, end)
	}
	r, err := j.Read(seq)
	if err != nil {
		return nil, err
	}
	f := t.Hub().Facts()
	e := t.mux.cfg.Engine(vt.Config{Cols: f.Cols, Rows: f.Rows, Scrollback: *t.spec.Scrollback, Unicode: t.mux.cfg.Unicode, Memory: t.mux.cfg.Memory})
	return &lately{engine: e, reader: r, seq: seq}, nil
}

func (l *lately) close() { _ = l.reader.Close() }

// see applies what was printed since the last look and returns all text.
func (l *lately) see() (Waited, error) {
	for {
		e, err := l.reader.Next()
		if errors.Is(err, io.EOF) {
			return Waited{Text: snapshot.Text(l.engine.Freeze(), -1), Seq: l.seq - uint64(l.engine.Held())}, nil
		}
		if err != nil {
			return Waited{Seq: l.seq}, err
		}
		l.seq = e.Seq
		switch e.Kind {
		case snapshot.EntryOutput:
			l.engine.Write(e.Data)
		case snapshot.EntryRestart:
			l.engine.Flush() // of the generation that has ended
			l.engine.Resize(e.Cols, e.Rows)
		case snapshot.EntryResize:
			l.engine.Resize(e.Cols, e.Rows)
		case snapshot.EntryGap, snapshot.EntryExit:
			l.engine.Flush()
		}
	}
}
