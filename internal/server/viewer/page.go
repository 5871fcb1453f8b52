package viewer

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
)

const (
	// maxAttached bounds the terminals that one page watches at once.
	maxAttached = 64
	// listPace is the shortest time between two lists: terminals change with
	// every byte of output, and a person reads no faster.
	listPace = 500 * time.Millisecond
)

// page is one browser page: any number of terminals on one connection, because
// a browser opens only six to one server.
type page struct {
	*socket
	dir    stream.Directory
	viewer Viewer
	wake   chan struct{}

	mu       sync.Mutex // guards attached
	attached map[string]actor
}

// ServePage serves a page until it leaves or v.Closing. Events and commands are the same as for one
// terminal, with the member "pty". "attach" and "detach" begin and end the events of a terminal;
// "list" events have all terminals.
func ServePage(w http.ResponseWriter, r *http.Request, d stream.Directory, v Viewer) {
	s, ctx, err := open(w, r, false)
	if err != nil {
		return
	}
	defer s.cancel()
	p := &page{socket: s, dir: d, viewer: v, wake: make(chan struct{}, 1), attached: map[string]actor{}}
	defer p.leaveAll()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer s.cancel()
		p.readAll(ctx)
	}()
	p.pump(ctx)
	s.cancel()
	_ = s.conn.Close() // releases the reader
	<-read
}

func (p *page) readAll(ctx context.Context) {
	for {
		_, b, err := p.read()
		if err != nil {
			return
		}
		c, err := parseCommand(b)
		if err == nil {
			err = p.handle(ctx, c)
		}
		if err != nil {
			p.refuse(c.PTY, err, p.viewer.Code)
		}
	}
}

func (p *page) handle(ctx context.Context, c command) error {
	switch c.Type {
	case "ping":
		p.pong(c.T)
		return nil
	case "attach":
		return p.attach(c)
	case "detach":
		p.detach(c.PTY)
		return nil
	}
	p.mu.Lock()
	a, ok := p.attached[c.PTY]
	p.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: %q needs \"pty\", a terminal this page is attached to, got %q", httpapi.ErrBadMessage,
			c.Type, c.PTY)
	}
	return a.do(ctx, c)
}

// attach begins to watch a terminal. It applies the requested size first, so that the pump sends
// the screen once and not again after a resize. If that fails, the viewer is still attached.
func (p *page) attach(c command) error {
	t, err := p.dir.Find(c.PTY)
	if err != nil {
		return err
	}
	p.detach(c.PTY) // attaching again starts over, with a snapshot unless it says since
	if len(p.all()) >= maxAttached {
		return fmt.Errorf("%w: a page watches at most %d terminals", httpapi.ErrBadMessage, maxAttached)
	}
	a := actor{term: t, sub: t.Hub().Subscribe(stream.Viewing{Wake: p.wake, Scrollback: -1, Since: c.Since,
		Types: !p.viewer.ReadOnly}), readOnly: p.viewer.ReadOnly}
	a.sub.Hide(c.Hidden)
	if c.Cols > 0 && c.Rows > 0 && !a.readOnly {
		err = t.Wish(a.sub, c.Cols, c.Rows)
	}
	p.mu.Lock()
	p.attached[c.PTY] = a
	p.mu.Unlock()
	wake(p.wake)
	return err
}

func (p *page) detach(id string) {
	p.mu.Lock()
	a, ok := p.attached[id]
	delete(p.attached, id)
	p.mu.Unlock()
	if ok {
		a.term.Leave(a.sub)
	}
}

func (p *page) leaveAll() {
	p.mu.Lock()
	all := p.attached
	p.attached = map[string]actor{}
	p.mu.Unlock()
	for _, a := range all {
		a.term.Leave(a.sub)
	}
}

// pump writes the events of all attached terminals, lists, answers and pings. A list
// comes before everything else.
func (p *page) pump(ctx context.Context) {
	beat := time.NewTicker(httpapi.Heartbeat)
	defer beat.Stop()
	changed, stop := p.dir.Watch()
	defer stop()
	pace := time.NewTimer(listPace)
	pace.Stop()
	defer pace.Stop()
	waiting := false
	for err := p.list(); err == nil; {
		select {
		case <-p.wake:
			err = p.drain()
		case b := <-p.answers:
			err = p.control(b)
		case <-changed:
			if !waiting {
				pace.Reset(listPace)
				waiting = true
			}
		case <-pace.C:
			waiting = false
			err = p.list()
		case <-beat.C:
			err = p.ping()
		case <-p.viewer.Closing:
			p.closeWith(ctx, websocket.CloseGoingAway, "the server is shutting down", hurriedClose)
			return
		case <-ctx.Done():
			return
		}
	}
}

// list sends the list of terminals.
func (p *page) list() error {
	return p.control(fmt.Appendf(nil, `{"event":"list","items":%s}`, p.dir.List()))
}

// drain sends the queued events of each terminal once per round, so that a flood of one terminal
// delays neither the others nor the answers.
func (p *page) drain() error {
	for _, a := range p.all() {
		batch, err := a.sub.Poll()
		if err != nil {
			continue // it has ended, and the page knows; or was just detached
		}
		if len(batch) > 0 {
			wake(p.wake)
		}
		for _, m := range batch {
			if err := p.message(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *page) all() []actor {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]actor, 0, len(p.attached))
	for _, a := range p.attached {
		out = append(out, a)
	}
	return out
}

// wake puts a value into a channel that has room for one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
