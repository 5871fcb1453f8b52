package foreign

import (
	"bytes"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
)

// Attach is what @xterm/addon-attach speaks: output in binary messages, input in messages of both kinds, and
// nothing else.
type Attach struct{}

var _ viewer.Protocol = Attach{}

// Name implements viewer.Protocol.
func (Attach) Name() string { return "" }

// Text implements viewer.Protocol.
func (Attach) Text() bool { return false }

// Waits implements viewer.Protocol.
func (Attach) Waits() bool { return false }

// Send implements viewer.Protocol.
func (Attach) Send(m *stream.Message) [][]byte { return message(screen("", m)) }

// Last implements viewer.Protocol.
func (Attach) Last(code int, _ string) ([][]byte, int) { return nil, code }

// Read implements viewer.Protocol.
func (Attach) Read(kind int, p []byte) (viewer.Act, *viewer.BadMessage) {
	if kind == websocket.TextMessage {
		if bad := notText(p); bad != nil {
			return viewer.Act{}, bad
		}
	}
	return viewer.Act{Input: bytes.Clone(p)}, nil
}
