package tests

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// events is a connection that brings a terminal's events.
type events interface {
	Next() (client.Event, error)
	Close() error
}

// transport is a way to watch a terminal.
type transport string

const (
	sse      transport = "SSE"
	wsJSON   transport = "WebSocket JSON"
	wsBinary transport = "WebSocket binary"
)

var transports = []transport{sse, wsJSON, wsBinary}

// viewer is what a correct client holds: an emulator that follows the events.
// Its methods belong to one goroutine.
type viewer struct {
	t      testing.TB
	kind   transport
	events events
	engine vt.Engine
	cols   int
	rows   int
	seq    uint64
	first  client.Event      // the first event
	shots  []string          // the reasons of the snapshots so far
	last   client.Event      // the latest event
	exit   *wire.Exit        // once it came
	metas  []*wire.EventMeta // all of them
	text   []byte            // the data since the first event, up to maxText
	blind  bool              // data is not shown on the screen: for floods
}

// maxText bounds what a viewer keeps of the data, in bytes.
const maxText = 1 << 20

// watch connects and takes the first event, which must be a snapshot.
func (s *server) watch(kind transport, id string) *viewer {
	s.t.Helper()
	v, err := s.connect(kind, id)
	s.must(err)
	return v
}

// connect is watch for goroutines that are not the test's own.
func (s *server) connect(kind transport, id string) (*viewer, error) {
	v := &viewer{t: s.t, kind: kind}
	var err error
	switch ctx := s.ctx(); kind {
	case sse:
		v.events, err = s.Stream(ctx, id)
	case wsBinary:
		v.events, err = s.Attach(ctx, id, client.AttachOptions{Scrollback: client.AllHistory})
	case wsJSON:
		v.events, err = s.dialJSON(ctx, "/pty/"+id+"/ws")
	}
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(v.close)
	if v.first, err = v.next(); err == nil && v.first.Kind != client.KindSnapshot {
		err = errors.New("the first event is " + string(v.first.Kind))
	}
	return v, err
}

func (v *viewer) close() { _ = v.events.Close() }

// next takes one event.
func (v *viewer) next() (client.Event, error) {
	e, err := v.events.Next()
	if err != nil {
		return e, err
	}
	v.last = e
	switch e.Kind {
	case client.KindSnapshot:
		v.shots = append(v.shots, e.Reason)
		v.cols, v.rows = e.Cols, e.Rows
		v.engine = vt.NewEngine(vt.Config{Cols: e.Cols, Rows: e.Rows, Scrollback: vt.DefaultScrollback})
		v.engine.Write(e.Data)
		v.seq = e.Seq
	case client.KindData:
		if !v.blind {
			v.engine.Write(e.Data)
		}
		if len(v.text) < maxText {
			v.text = append(v.text, e.Data...)
		}
		v.seq = e.Seq
	case client.KindResize:
		v.cols, v.rows = e.Cols, e.Rows
		v.engine.Resize(e.Cols, e.Rows)
	case client.KindMeta:
		v.metas = append(v.metas, e.Meta)
	case client.KindExit:
		v.exit = e.Exit
	}
	return e, nil
}

// until follows the stream until f is true of what it has brought.
func (v *viewer) until(what string, f func() bool) {
	v.t.Helper()
	for !f() {
		if _, err := v.next(); err != nil {
			v.t.Fatalf("%s: never: %s: %v; the screen:\n%s", v.kind, what, err, v.screen())
		}
	}
}

// sees follows the stream until a line of the screen or the history contains text.
func (v *viewer) sees(text string) {
	v.t.Helper()
	v.until("the screen has "+text, func() bool { return strings.Contains(v.all(), text) })
}

// end follows the stream to its end, which must be the exit event.
func (v *viewer) end() *wire.Exit {
	v.t.Helper()
	v.until("exit", func() bool { return v.exit != nil })
	if e, err := v.events.Next(); !errors.Is(err, io.EOF) {
		v.t.Errorf("%s: after the exit: %v, %v", v.kind, e, err)
	}
	return v.exit
}

// screen is the visible screen, one line per row, without blanks at the ends.
func (v *viewer) screen() string {
	if v.engine == nil {
		return ""
	}
	return lines(v.engine.Freeze().Active().Lines)
}

// all is the history and the screen.
func (v *viewer) all() string {
	f := v.engine.Freeze()
	return lines(f.History.Slice()) + lines(f.Main.Lines)
}

func lines(list []vt.Line) string {
	var b []byte
	for _, l := range list {
		b = append(l.AppendText(b), '\n')
	}
	return string(b)
}
