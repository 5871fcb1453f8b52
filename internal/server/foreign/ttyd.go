package foreign

import (
	"bytes"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Messages of ttyd (src/server.h): the first byte.
const (
	ttydInput  = '0'
	ttydResize = '1'
	ttydPause  = '2'
	ttydResume = '3'
	ttydHello  = '{' // of JSON

	ttydOutput      = "0"
	ttydTitle       = "1"
	ttydPreferences = "2"
)

// TTYDName is the subprotocol of ttyd.
const TTYDName = "tty"

// TTYD is what the page of ttyd speaks. It does not come back by itself where preferences say so; a code other
// than 1000 makes it.
type TTYD struct {
	name    string
	title   string
	greeted bool // the client has said hello; belongs to Read
	begun   bool // it has the title; belongs to Send
}

var _ viewer.Protocol = (*TTYD)(nil)

// NewTTYD makes a connection with a subprotocol, or none. title is the window's at first.
func NewTTYD(name, title string) *TTYD { return &TTYD{name: name, title: title} }

// Name implements viewer.Protocol.
func (t *TTYD) Name() string { return t.name }

// Text implements viewer.Protocol.
func (*TTYD) Text() bool { return false }

// Waits implements viewer.Protocol.
func (*TTYD) Waits() bool { return true }

// Send implements viewer.Protocol. To leave the page ends nothing here, so it asks nobody.
func (t *TTYD) Send(m *stream.Message) (list [][]byte) {
	if !t.begun {
		t.begun = true
		list = [][]byte{[]byte(ttydTitle + t.title), []byte(ttydPreferences + `{"disableLeaveAlert":true}`)}
	}
	if m.Kind == stream.KindMeta {
		var meta wire.EventMeta
		_ = m.Decode(&meta) // cannot fail: the hub has made it
		if meta.Title != nil && *meta.Title != "" {
			list = append(list, []byte(ttydTitle+*meta.Title))
		}
	}
	return append(list, message(screen(ttydOutput, m))...)
}

// Last implements viewer.Protocol.
func (*TTYD) Last(code int, _ string) ([][]byte, int) {
	if !final(code) || code == websocket.CloseNormalClosure { // behind 1000 it does not come back anyway
		return nil, code
	}
	return [][]byte{[]byte(ttydPreferences + `{"disableReconnect":true}`)}, code
}

// Read implements viewer.Protocol. Other clients of ttyd than its page send text messages; ttyd does not tell
// them apart.
func (t *TTYD) Read(_ int, p []byte) (viewer.Act, *viewer.BadMessage) {
	if len(p) == 0 {
		return viewer.Act{}, policy("a message of ttyd begins with its type")
	}
	if !t.greeted {
		return t.hello(p)
	}
	switch p[0] {
	case ttydInput:
		return viewer.Act{Input: bytes.Clone(p[1:])}, nil
	case ttydResize:
		return sizeOf(p[1:])
	case ttydPause:
		return viewer.Act{Hold: true}, nil
	case ttydResume:
		return viewer.Act{Go: true}, nil
	case ttydHello: // ttyd ignores a second one
		return viewer.Act{}, nil
	}
	return viewer.Act{}, policy("ttyd has no such type of message")
}

// hello reads the first message. Its AuthToken counts for nothing: the request has shown who asks.
func (t *TTYD) hello(p []byte) (viewer.Act, *viewer.BadMessage) {
	if p[0] != ttydHello {
		return viewer.Act{}, policy("the first message has to be {\"AuthToken\":…,\"columns\":…,\"rows\":…}")
	}
	var s size
	if bad := parse(p, &s); bad != nil {
		return viewer.Act{}, bad
	}
	a := viewer.Act{}
	if s.Columns != nil || s.Rows != nil {
		var ok bool
		if a, ok = act(s.Columns, s.Rows); !ok {
			return a, badSize()
		}
	}
	t.greeted, a.Go = true, true
	return a, nil
}

// sizeOf reads {"columns":N,"rows":N}.
func sizeOf(p []byte) (viewer.Act, *viewer.BadMessage) {
	var s size
	if bad := parse(p, &s); bad != nil {
		return viewer.Act{}, bad
	}
	a, ok := act(s.Columns, s.Rows)
	if !ok {
		return a, badSize()
	}
	return a, nil
}
