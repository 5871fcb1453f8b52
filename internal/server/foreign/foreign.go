// Package foreign speaks the WebSocket protocols of other products, so that their unmodified clients show a
// terminal and type into it. Each type is a viewer.Protocol, which is one connection.
//
// None of them has a snapshot, so a snapshot is output that begins with a reset: it replaces what the client
// shows, whatever it was in the middle of. The sources of the rules are the clients themselves:
// @xterm/addon-attach 0.12, ttyd 1.7, @jupyterlab/services 7.6 with terminado, asciinema-player 3.18,
// @kubernetes/client-node 1.4 with client-go 0.34.
package foreign

import (
	"encoding/json"
	"net/http"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// reset empties a terminal in whatever state it is: CAN ends a sequence (ECMA-48 8.3.6), RIS resets (8.3.105).
const reset = "\x18\x1bc"

// maxSize is the largest size in cells that is no mistake. The terminal has its own, smaller bounds.
const maxSize = 1<<16 - 1

// Choose is the first of ours that a client offers as a subprotocol, "" for a client that offers none. ok is
// false for one that offers others only.
func Choose(r *http.Request, ours ...string) (name string, ok bool) {
	offered := websocket.Subprotocols(r)
	for _, name := range ours {
		for _, o := range offered {
			if o == name {
				return name, true
			}
		}
	}
	return "", len(offered) == 0
}

// screen is the output of an event for a client without snapshots, behind head; nil for an event without output.
func screen(head string, m *stream.Message) []byte {
	switch m.Kind {
	case stream.KindSnapshot:
		return append([]byte(head+reset), m.ShortText()...)
	case stream.KindData:
		return append([]byte(head), m.Text()...)
	}
	return nil
}

// message is a list of one message, or of none.
func message(b []byte) [][]byte {
	if b == nil {
		return nil
	}
	return [][]byte{b}
}

// size is what a client says of its size.
type size struct {
	Columns, Rows *int // of ttyd
	Width, Height *int // of Kubernetes
}

// act is a size that the client requests; 0, of a window that is not laid out, is none. ok is false for sizes that
// are none.
func act(cols, rows *int) (a viewer.Act, ok bool) {
	if cols == nil || rows == nil || min(*cols, *rows) < 0 || max(*cols, *rows) > maxSize {
		return a, false
	}
	return viewer.Act{Cols: *cols, Rows: *rows}, true
}

// parse reads JSON.
func parse(p []byte, v any) *viewer.BadMessage {
	if json.Unmarshal(p, v) != nil {
		return policy("this is not the JSON that the protocol has here")
	}
	return nil
}

// policy closes with 1008.
func policy(reason string) *viewer.BadMessage {
	return &viewer.BadMessage{Code: websocket.ClosePolicyViolation, Reason: reason}
}

// badSize refuses a size.
func badSize() *viewer.BadMessage {
	return policy("a size needs columns and rows, numbers from 0 to 65535")
}

// notText refuses a text message that is not UTF-8 (RFC 6455, 8.1).
func notText(p []byte) *viewer.BadMessage {
	if stream.InvalidUTF8(p) < 0 {
		return nil
	}
	return &viewer.BadMessage{Code: websocket.CloseInvalidFramePayloadData, Reason: "a text message has to be UTF-8"}
}

// wrongKind refuses a message of the other kind.
func wrongKind(reason string) *viewer.BadMessage {
	return &viewer.BadMessage{Code: websocket.CloseUnsupportedData, Reason: reason}
}

// final reports whether a client must not come back by itself: the program has ended, somebody has sent it away,
// or its ticket has ended.
func final(code int) bool { return code == websocket.CloseNormalClosure || code >= 4000 }

// exitOf is how the program has ended.
func exitOf(m *stream.Message) (e wire.Exit) {
	_ = m.Decode(&e) // cannot fail: the hub has made it
	return e
}
