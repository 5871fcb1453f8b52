package bench

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/gorilla/websocket"
)

// ttyd starts a program for each connection, which ends with it.
type ttyd struct {
	program string
	pid     int
	ctx     context.Context
	at      string // HOST:PORT
}

func (t *ttyd) start(ctx context.Context, dir string) (err error) {
	t.ctx = ctx
	t.pid, err = begin(ctx, dir, t.program, "--port", "0", "--interface", "127.0.0.1", "--writable",
		"sh", filepath.Join(dir, scriptName))
	if err != nil {
		return err
	}
	port, err := printed(ctx, dir, t.pid, "Listening on port: ")
	t.at = "127.0.0.1:" + strings.TrimSpace(port)
	return err
}

func (t *ttyd) pids() []int { return []int{t.pid} }

func (t *ttyd) create() (string, error) { return "", nil }

func (t *ttyd) attach(string) (viewer, error) {
	d := websocket.Dialer{Subprotocols: []string{"tty"}}
	conn, resp, err := d.DialContext(t.ctx, "ws://"+t.at+"/ws", nil)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	hello, _ := json.Marshal(map[string]any{"AuthToken": "", "columns": columns, "rows": rows})
	if err := conn.WriteMessage(websocket.TextMessage, hello); err != nil {
		return nil, err
	}
	context.AfterFunc(t.ctx, func() { _ = conn.Close() })
	return socket{conn}, nil
}

// socket has messages whose first byte is their kind, '0' is output or input.
type socket struct{ *websocket.Conn }

func (s socket) read() ([]byte, error) {
	for {
		_, p, err := s.ReadMessage()
		if err != nil {
			return nil, err
		}
		if len(p) > 0 && p[0] == '0' {
			return p[1:], nil
		}
	}
}

func (s socket) send(keys []byte) error {
	return s.WriteMessage(websocket.BinaryMessage, append([]byte{'0'}, keys...))
}

func (s socket) close() { _ = s.Close() }
