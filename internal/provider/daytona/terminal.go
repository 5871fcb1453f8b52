package daytona

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/service"
	"github.com/evertty/evertty/internal/provider/wait"
)

// Bounds of a terminal's connection.
const (
	pingInterval    = 20 * time.Second
	silenceTimeout  = 3 * pingInterval // without a sign of life the connection counts as lost
	greetingTimeout = 10 * time.Second
	maxMessage      = 1 << 20  // bytes of one message of output
	readBuffer      = 32 << 10 // bytes
)

// OpenPTY opens a terminal with the user's shell. The service cannot start another program on one:
// its command line is typed first, and the screen is cleared before it begins.
func (d *Provider) OpenPTY(ctx context.Context, id string, r provider.PTYRequest) (provider.PTY, error) {
	name := "evertty-" + rand.Text()
	env := map[string]string{"TERM": "xterm-256color"}
	maps.Copy(env, r.Env)
	in := struct {
		ID   string            `json:"id"`
		Cwd  string            `json:"cwd,omitempty"`
		Env  map[string]string `json:"envs,omitempty"`
		Cols int               `json:"cols"`
		Rows int               `json:"rows"`
		Lazy bool              `json:"lazyStart"` // it begins with the connection, so that nothing is printed before
	}{name, cmp.Or(r.Cwd, d.c.Cwd), env, service.TerminalSize(r.Cols), service.TerminalSize(r.Rows), true}
	if err := d.post(ctx, id, "/process/pty", service.Call{}, in, nil); err != nil {
		return nil, err
	}
	c := &connection{d: d, instance: id, at: "/process/pty/" + name, quit: make(chan struct{})}
	if err := c.connect(ctx); err != nil {
		c.remove(ctx)
		return nil, err
	}
	c.pings.Go(c.ping)
	t := service.NewTerminal(c)
	if len(r.Argv) > 0 {
		if _, err := t.Write([]byte(typedLine(r.Argv))); err != nil {
			_ = t.Close()
			return nil, err
		}
	}
	return t, nil
}

// typedLine is a line for a shell that replaces itself by a program. The space keeps it out of most
// histories.
func typedLine(argv []string) string {
	return ` printf '\033c'; exec ` + bash.QuoteWords(argv) + "\r"
}

// connection is a terminal behind a WebSocket: output comes as binary messages, every message to it
// is input.
type connection struct {
	d            *Provider
	instance, at string
	conn         *websocket.Conn
	pings        sync.WaitGroup
	quit         chan struct{}
}

func (c *connection) connect(ctx context.Context) error {
	u, err := c.d.toolbox(ctx, c.instance, c.at+"/connect")
	if err != nil {
		return err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: greetingTimeout,
		ReadBufferSize: readBuffer}
	u = "ws" + u[len("http"):]                                  // "ws" + "://…" or "ws" + "s://…"
	conn, resp, err := dialer.DialContext(ctx, u, c.d.header()) //nolint:bodyclose // gorilla has read it
	if err != nil {
		if resp != nil && errors.Is(err, websocket.ErrBadHandshake) {
			return service.Explain(ctx, c.d, c.instance, c.d.Client.ReadError(resp))
		}
		return c.lost(err)
	}
	c.conn = conn
	conn.SetReadLimit(maxMessage)
	conn.SetPongHandler(func(string) error { return c.alive() })
	_ = c.alive()
	if err := c.greeting(); err != nil {
		_ = conn.Close()
		return err
	}
	return nil
}

// greeting reads the first message, which says whether there is a terminal.
func (c *connection) greeting() error {
	_ = c.conn.SetReadDeadline(time.Now().Add(greetingTimeout))
	kind, data, err := c.conn.ReadMessage()
	if err != nil {
		return c.lost(err)
	}
	var m struct{ Status, Error string }
	if kind != websocket.TextMessage || json.Unmarshal(data, &m) != nil || m.Status != "connected" {
		return fmt.Errorf("daytona: %w: no terminal: %s", provider.ErrProvider,
			c.d.Client.Redact(cmp.Or(m.Error, m.Status)))
	}
	return c.alive()
}

func (c *connection) alive() error { return c.conn.SetReadDeadline(time.Now().Add(silenceTimeout)) }

// ping detects a connection that is lost without a close.
func (c *connection) ping() {
	for {
		select {
		case <-time.After(pingInterval):
			_ = c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(service.InputTimeout))
		case <-c.quit:
			return
		}
	}
}

// Receive returns the next output. The reason of the close frame is JSON with the exit code.
func (c *connection) Receive() ([]byte, error) {
	for {
		kind, data, err := c.conn.ReadMessage()
		if err == nil {
			_ = c.alive()
			if kind == websocket.BinaryMessage || !control(data) {
				return data, nil
			}
			continue
		}
		var frame *websocket.CloseError
		var exit struct {
			Code *int `json:"exitCode"`
		}
		if errors.As(err, &frame) && json.Unmarshal([]byte(frame.Text), &exit) == nil && exit.Code != nil {
			return nil, &service.Exited{Code: *exit.Code}
		}
		return nil, c.lost(err)
	}
}

func (c *connection) lost(err error) error {
	return fmt.Errorf("daytona: %w: %s", provider.ErrUnreachable, c.d.Client.Redact(err.Error()))
}

// control reports whether a text message is about the connection.
func control(data []byte) bool {
	var c struct{ Type string }
	return json.Unmarshal(data, &c) == nil && c.Type == "control"
}

// Send sends input.
func (c *connection) Send(input []byte) error {
	err := c.conn.SetWriteDeadline(time.Now().Add(service.InputTimeout))
	if err == nil {
		err = c.conn.WriteMessage(websocket.BinaryMessage, input)
	}
	if err != nil {
		return c.lost(err)
	}
	return nil
}

// Resize changes the size.
func (c *connection) Resize(ctx context.Context, cols, rows int) error {
	in := map[string]int{"cols": service.TerminalSize(cols), "rows": service.TerminalSize(rows)}
	return c.d.post(ctx, c.instance, c.at+"/resize", service.Call{Idempotent: true}, in, nil)
}

// Kill ends the program.
func (c *connection) Kill() { c.remove(context.Background()) }

// Cancel ends the connection.
func (c *connection) Cancel() {
	close(c.quit)
	_ = c.conn.Close()
}

// Close waits for the end of the pings.
func (c *connection) Close() { c.pings.Wait() }

// remove deletes the terminal at the service, which ends the program.
func (c *connection) remove(ctx context.Context) {
	ctx, cancel := wait.CleanupContext(ctx)
	defer cancel()
	u, err := c.d.toolbox(ctx, c.instance, c.at)
	if err == nil {
		_, _ = c.d.Client.Do(ctx, service.Call{Method: http.MethodDelete, URL: u, Header: c.d.header(),
			Idempotent: true})
	}
}
