package viewer

import (
	"bytes"
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
	events chan update
	listed []byte // the last list; owned by the goroutine that writes

	commands map[string]*commands // by terminal, "attach" and "detach" among them; owned by the goroutine that reads

	mu       sync.Mutex // guards attached
	attached map[string]attachment
}

// attachment is a terminal that the page watches.
type attachment struct {
	actor
	feed feed
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
	p := &page{socket: s, dir: d, viewer: v, events: make(chan update), commands: map[string]*commands{},
		attached: map[string]attachment{}}
	defer p.detachAll()
	s.run(func() { p.readAll(ctx) }, func() {
		p.pump(ctx)
		p.detachAll()
	})
}

func (p *page) readAll(ctx context.Context) {
	defer func() {
		for _, l := range p.commands {
			l.end(p.cancel)
		}
	}()
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
			p.refuse(c.PTY, err, p.viewer.Refusal)
		}
	}
}

// handle carries out a command: pings at once, others in turn with those for the same terminal.
func (p *page) handle(ctx context.Context, c command) error {
	switch c.Type {
	case "ping":
		return p.pong(c.T)
	case "auth": // already logged in
		return nil
	}
	l := p.commands[c.PTY]
	if l == nil {
		if c.Type != "attach" {
			return p.do(ctx, c) // to be refused: it is not attached
		}
		if err := p.makeRoom(); err != nil {
			return err
		}
		l = newCommands()
		p.commands[c.PTY] = l
	}
	return l.add(len(c.message), func() {
		if err := p.do(ctx, c); err != nil {
			p.refuse(c.PTY, err, p.viewer.Refusal)
		}
	})
}

// makeRoom forgets the commands of terminals that were detached, when there are many.
func (p *page) makeRoom() error {
	if len(p.commands) < 2*maxAttached {
		return nil
	}
	for id, l := range p.commands {
		if _, ok := p.find(id); !ok && l.waiting.Load() == 0 {
			l.end(p.cancel)
			delete(p.commands, id)
		}
	}
	if len(p.commands) < 2*maxAttached {
		return nil
	}
	return errCrowded
}

var errCrowded = fmt.Errorf("%w: a page watches at most %d terminals", httpapi.ErrBadMessage, maxAttached)

func (p *page) do(ctx context.Context, c command) error {
	if ended(ctx) {
		return httpapi.ErrEnded
	}
	switch c.Type {
	case "attach":
		return p.attach(ctx, c)
	case "detach":
		p.detach(c.PTY)
		return nil
	}
	a, ok := p.find(c.PTY)
	if !ok {
		return fmt.Errorf("%w: %q needs \"pty\", a terminal this page is attached to, got %q", httpapi.ErrBadMessage,
			c.Type, c.PTY)
	}
	return a.do(ctx, c)
}

// attach begins to watch a terminal. It applies the requested size first, so that the page gets
// the screen once and not again after a resize. If that fails, the viewer is still attached.
func (p *page) attach(ctx context.Context, c command) error {
	t, err := p.dir.Find(c.PTY)
	if err != nil {
		return err
	}
	p.detach(c.PTY) // attaching again starts over, with a snapshot unless it says since
	p.mu.Lock()
	crowded := len(p.attached) >= maxAttached
	if !crowded {
		p.attached[c.PTY] = attachment{} // not used before the next command for the terminal
	}
	p.mu.Unlock()
	if crowded {
		return errCrowded
	}
	a := actor{term: t, sub: t.Hub().Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: c.Since,
		MayType: !p.viewer.ReadOnly}), readOnly: p.viewer.ReadOnly}
	a.sub.Hide(c.Hidden)
	if c.Cols > 0 && c.Rows > 0 && !a.readOnly {
		err = t.RequestSize(a.sub, c.Cols, c.Rows)
	}
	p.mu.Lock()
	p.attached[c.PTY] = attachment{a, follow(ctx, a.sub, p.events)}
	p.mu.Unlock()
	return err
}

func (p *page) find(id string) (attachment, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.attached[id]
	return a, ok
}

func (p *page) detach(id string) {
	p.mu.Lock()
	a, ok := p.attached[id]
	delete(p.attached, id)
	p.mu.Unlock()
	if ok {
		a.detach()
	}
}

func (a attachment) detach() {
	a.term.Detach(a.sub)
	a.feed.stop()
}

func (p *page) detachAll() {
	p.mu.Lock()
	all := p.attached
	p.attached = map[string]attachment{}
	p.mu.Unlock()
	for _, a := range all {
		a.detach()
	}
}

// pump writes the events of all attached terminals, lists, answers and pings, so that a flood of
// one terminal delays neither the others nor the answers. A list comes before everything else.
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
		case h := <-p.events:
			err = h.send(p.messages) // the error of a terminal that has ended follows its exit: nothing to send
		case b := <-p.answers:
			err = p.reply(b)
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

// list sends the list of terminals, unless it is the one that was sent last: what has changed may be of another user.
func (p *page) list() error {
	items := p.dir.List()
	if p.listed != nil && bytes.Equal(items, p.listed) {
		return nil
	}
	p.listed = items
	return p.control(fmt.Appendf(nil, `{"event":"list","items":%s}`, items))
}
