package foreign

import (
	"encoding/json"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
)

// Terminado is what a terminal of JupyterLab speaks: JSON arrays, whose first element is their type. It drops
// all before setup. It comes back by itself unless the code is 1000 or 1001, or disconnect came before.
type Terminado struct {
	begun bool // setup was sent
}

var _ viewer.Protocol = (*Terminado)(nil)

// Name implements viewer.Protocol.
func (*Terminado) Name() string { return "" }

// Text implements viewer.Protocol.
func (*Terminado) Text() bool { return true }

// Waits implements viewer.Protocol.
func (*Terminado) Waits() bool { return false }

// Send implements viewer.Protocol.
func (t *Terminado) Send(m *stream.Message) (list [][]byte) {
	if !t.begun {
		t.begun = true
		list = message([]byte(`["setup",{}]`))
	}
	text := screen("", m)
	if text == nil {
		return list
	}
	b, _ := json.Marshal([2]string{"stdout", string(text)}) // cannot fail
	return append(list, b)
}

// Last implements viewer.Protocol. A server that is shutting down comes back, so the client has to.
func (*Terminado) Last(code int, _ string) ([][]byte, int) {
	switch {
	case final(code):
		return message([]byte(`["disconnect",1]`)), code
	case code == websocket.CloseGoingAway:
		return nil, websocket.CloseServiceRestart
	}
	return nil, code
}

// Read implements viewer.Protocol.
func (*Terminado) Read(kind int, p []byte) (a viewer.Act, bad *viewer.BadMessage) {
	if kind != websocket.TextMessage {
		return a, wrongKind("terminado has text messages only")
	}
	if bad := notText(p); bad != nil {
		return a, bad
	}
	var list []json.RawMessage
	var name string
	if bad := parse(p, &list); bad != nil {
		return a, bad
	}
	if len(list) == 0 || json.Unmarshal(list[0], &name) != nil {
		return a, policy("a message of terminado is a list that begins with its type")
	}
	switch {
	case name == "stdin" && len(list) == 2:
		var text *string
		if json.Unmarshal(list[1], &text) != nil || text == nil || stream.LoneSurrogate(list[1]) >= 0 {
			return a, policy("stdin needs a string of whole characters")
		}
		return viewer.Act{Input: []byte(*text)}, nil
	case name == "set_size" && len(list) >= 3: // rows, columns, and pixels
		var rows, cols *int
		if json.Unmarshal(list[1], &rows) == nil && json.Unmarshal(list[2], &cols) == nil {
			if a, ok := act(cols, rows); ok {
				return a, nil
			}
		}
		return a, badSize()
	}
	return a, policy("terminado has stdin with a string, and set_size with rows and columns")
}
