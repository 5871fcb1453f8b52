package provider

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Bounds of a remote terminal.
const (
	ptyWrite    = 10 * time.Second // for one message
	ptyPing     = 20 * time.Second
	ptySilence  = 3 * ptyPing // without an answer to a ping the connection counts as lost
	ptyMessage  = 1 << 20     // bytes of one message of output
	ptyInput    = 32 << 10    // bytes of one message of input
	ptyMaxSize  = 1000        // columns and rows, the service's own limit
	ptyReadSize = 32 << 10
)

// OpenPTY opens a terminal with the user's shell. The service can start nothing else on one, so another program is the first thing that is typed;
// the screen is cleared before it begins.
func (d *Daytona) OpenPTY(ctx context.Context, id string, r PTYRequest) (PTY, error) {
	name := "evertty-" + rand.Text()
	env := map[string]string{"TERM": "xterm-256color"}
	for k, v := range r.Env {
		env[k] = v
	}
	in := struct {
		ID   string            `json:"id"`
		Cwd  string            `json:"cwd,omitempty"`
		Env  map[string]string `json:"envs,omitempty"`
		Cols int               `json:"cols"`
		Rows int               `json:"rows"`
		Lazy bool              `json:"lazyStart"` // it begins when somebody is connected, so that nothing is printed before
	}{name, or(r.Cwd, d.c.Cwd), env, size(r.Cols), size(r.Rows), true}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("daytona: %w", err)
	}
	if _, err := d.inside(ctx, id, "/process/pty", call{method: http.MethodPost, body: body, kind: "application/json"}); err != nil {
		return nil, stillThere(err)
	}
	p := &daytonaPTY{d: d, instance: id, name: name, quit: make(chan struct{})}
	if err := p.connect(ctx); err != nil {
		p.remove(ctx)
		return nil, err
	}
	p.pings.Go(p.ping)
	if len(r.Argv) > 0 {
		if _, err := p.Write([]byte(typed(r.Argv))); err != nil {
			_ = p.Close()
			return nil, err
		}
	}
	return p, nil
}

// size keeps a number of columns or rows within what services take.
func size(n int) int { return min(max(n, 1), ptyMaxSize) }

// typed is a program as a line for a shell that becomes it. The space keeps it out of most histories.
func typed(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = quote(a)
	}
	return ` printf '\033c'; exec ` + strings.Join(words, " ") + "\r"
}

// daytonaPTY is a terminal behind a WebSocket: output comes as binary messages, every message to it is input.
type daytonaPTY struct {
	d              *Daytona
	instance, name string
	conn           *websocket.Conn
	write          sync.Mutex // one writer at a time, as gorilla asks
	pings          sync.WaitGroup
	quit           chan struct{}
	closing        sync.Once

	read sync.Mutex // one reader at a time
	rest []byte     // of a message that did not fit

	mu     sync.Mutex
	code   int
	known  bool
	closed bool
	end    error // what Read says from now on
}

func (p *daytonaPTY) connect(ctx context.Context) error {
	u, err := p.d.toolbox(ctx, p.instance, "/process/pty/"+p.name+"/connect")
	if err != nil {
		return err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: connectTimeout, ReadBufferSize: ptyReadSize, WriteBufferSize: 4 << 10}
	// "ws" + "://…" or "ws" + "s://…".
	conn, resp, err := dialer.DialContext(ctx, "ws"+u[len("http"):], p.d.header()) //nolint:bodyclose // an upgraded response has no body, and problem's has been read by gorilla
	if err != nil {
		if resp != nil && errors.Is(err, websocket.ErrBadHandshake) {
			return explain(ctx, p.d, p.instance, p.d.service.problem(resp))
		}
		return fmt.Errorf("daytona: %w: %s", ErrUnreachable, p.d.service.clean(err.Error()))
	}
	p.conn = conn
	conn.SetReadLimit(ptyMessage)
	conn.SetPongHandler(func(string) error { return p.alive() })
	_ = p.alive()
	if err := p.greeting(); err != nil {
		_ = conn.Close()
		return err
	}
	return nil
}

// greeting reads the first message, which says whether there is a terminal.
func (p *daytonaPTY) greeting() error {
	_ = p.conn.SetReadDeadline(time.Now().Add(connectTimeout))
	kind, data, err := p.conn.ReadMessage()
	if err != nil {
		return fmt.Errorf("daytona: %w: %s", ErrUnreachable, p.d.service.clean(err.Error()))
	}
	var c struct {
		Type, Status, Error string
	}
	if kind != websocket.TextMessage || json.Unmarshal(data, &c) != nil || c.Status != "connected" {
		return fmt.Errorf("daytona: %w: no terminal: %s", ErrProvider, p.d.service.clean(or(c.Error, c.Status)))
	}
	return p.alive()
}

func (p *daytonaPTY) alive() error { return p.conn.SetReadDeadline(time.Now().Add(ptySilence)) }

// ping finds a connection that is gone without a word.
func (p *daytonaPTY) ping() {
	beat := time.NewTicker(ptyPing)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			_ = p.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(ptyWrite))
		case <-p.quit:
			return
		}
	}
}

// Read returns output. It ends with io.EOF when the program has, with ErrUnreachable when the connection was lost before.
func (p *daytonaPTY) Read(b []byte) (int, error) {
	p.read.Lock()
	defer p.read.Unlock()
	for len(p.rest) == 0 {
		if err := p.ended(); err != nil {
			return 0, err
		}
		kind, data, err := p.conn.ReadMessage()
		if err != nil {
			return 0, p.finish(err)
		}
		_ = p.alive()
		if kind == websocket.BinaryMessage || !control(data) {
			p.rest = data
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// control tells whether a text message is about the connection.
func control(data []byte) bool {
	var c struct{ Type string }
	return json.Unmarshal(data, &c) == nil && c.Type == "control"
}

func (p *daytonaPTY) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// finish keeps how it ended: the reason of the close frame is JSON with the exit code.
func (p *daytonaPTY) finish(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var frame *websocket.CloseError
	var exit struct {
		Code *int `json:"exitCode"`
	}
	switch {
	case errors.As(err, &frame) && json.Unmarshal([]byte(frame.Text), &exit) == nil && exit.Code != nil:
		p.code, p.known, p.end = *exit.Code, true, io.EOF
	case p.closed:
		p.end = io.EOF
	default:
		p.end = fmt.Errorf("daytona: terminal: %w: %s", ErrUnreachable, p.d.service.clean(err.Error()))
	}
	return p.end
}

// Write sends input, in order.
func (p *daytonaPTY) Write(b []byte) (int, error) {
	p.write.Lock()
	defer p.write.Unlock()
	for sent := 0; sent < len(b); {
		n := min(len(b)-sent, ptyInput)
		err := p.conn.SetWriteDeadline(time.Now().Add(ptyWrite))
		if err == nil {
			err = p.conn.WriteMessage(websocket.BinaryMessage, b[sent:sent+n])
		}
		if err != nil {
			return sent, fmt.Errorf("daytona: terminal: %w: %s", ErrUnreachable, p.d.service.clean(err.Error()))
		}
		sent += n
	}
	return len(b), nil
}

// Resize changes the size; the program gets SIGWINCH.
func (p *daytonaPTY) Resize(ctx context.Context, cols, rows int) error {
	body := fmt.Appendf(nil, `{"cols":%d,"rows":%d}`, size(cols), size(rows))
	_, err := p.d.inside(ctx, p.instance, "/process/pty/"+p.name+"/resize", call{method: http.MethodPost, body: body, kind: "application/json", twice: true})
	return stillThere(err)
}

// Exit tells how the program ended, once Read has said so.
func (p *daytonaPTY) Exit() (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code, p.known
}

// Close ends the program and the connection.
func (p *daytonaPTY) Close() error {
	p.closing.Do(func() {
		p.mu.Lock()
		p.closed = true
		over := p.known
		p.mu.Unlock()
		if !over {
			p.remove(context.Background())
		}
		close(p.quit)
		_ = p.conn.Close()
		p.pings.Wait()
	})
	return nil
}

// remove deletes the terminal at the service, which ends the program.
func (p *daytonaPTY) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	u, err := p.d.toolbox(ctx, p.instance, "/process/pty/"+p.name)
	if err == nil {
		_, _ = p.d.service.do(ctx, call{method: http.MethodDelete, url: u, header: p.d.header(), twice: true})
	}
}
