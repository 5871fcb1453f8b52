package viewer

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
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
	listed []byte // the last list; owned by the goroutine that makes lists

	commands map[string]*commands // by terminal, "attach" and "detach" among them; owned by the goroutine that reads

	attaching sync.Mutex // guards attached
	attached  map[string]attachment
}

// attachment is a terminal that the page watches.
type attachment struct {
	actor
	feed *feed
}

// OpenPage is OpenWebSocket for a page, which lasts until it leaves. Events and commands are the same as for one
// terminal, with the member "pty". "attach" and "detach" begin and end the events of a terminal;
// "list" events have all terminals.
func OpenPage(w http.ResponseWriter, r *http.Request, d stream.Directory, v Viewer) (ok bool) {
	v.Binary = false
	s, err := open(w, r, v)
	if err != nil {
		return false
	}
	s.begun = true
	p := &page{socket: s, dir: d, commands: map[string]*commands{}, attached: map[string]attachment{}}
	changed, stop := p.dir.Watch()
	p.sendList()
	go p.keepList(changed, stop)
	go p.serve(p.readAll, p.detachAll)
	return true
}

func (p *page) readAll() {
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
			err = p.handle(c, len(b))
		}
		if err != nil {
			p.refuse(c.PTY, err)
		}
	}
}

// handle carries out a command whose message has size bytes: pings at once, others in turn with those for the same
// terminal.
func (p *page) handle(c command, size int) error {
	switch c.Type {
	case "ping":
		return p.pong(c.T)
	case "auth": // already logged in
		return nil
	}
	l := p.commands[c.PTY]
	if l == nil {
		if c.Type != "attach" {
			return p.do(c) // to be refused: it is not attached
		}
		if err := p.makeRoom(); err != nil {
			return err
		}
		l = new(commands)
		p.commands[c.PTY] = l
	}
	late := func(err error) { p.refuseNow(c.PTY, err) }
	if a, ok := p.find(c.PTY); ok && l.idle() && a.try(p.ctx, c, late) {
		return nil
	}
	return l.add(size, func() {
		defer p.sockets.guard(p.socket)
		if err := p.do(c); err != nil {
			p.refuse(c.PTY, err)
		}
	})
}

// makeRoom forgets the commands of terminals that were detached, when there are many.
func (p *page) makeRoom() error {
	if len(p.commands) < 2*maxAttached {
		return nil
	}
	for id, l := range p.commands {
		if _, ok := p.find(id); !ok && l.idle() {
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

func (p *page) do(c command) error {
	if ended(p.ctx) {
		return httpapi.ErrEnded
	}
	switch c.Type {
	case "attach":
		return p.attach(c)
	case "detach":
		p.detach(c.PTY)
		return nil
	}
	a, ok := p.find(c.PTY)
	if !ok {
		return fmt.Errorf("%w: %q needs \"pty\", a terminal this page is attached to, got %q", httpapi.ErrBadMessage,
			c.Type, c.PTY)
	}
	return a.do(p.ctx, c)
}

// attach begins to watch a terminal. It applies the requested size first, so that the page gets
// the screen once and not again after a resize. If that fails, the viewer is still attached.
func (p *page) attach(c command) error {
	if c.History != "" && c.History != wire.HistoryLazy {
		return fmt.Errorf("%w: history %q; allowed is lazy", httpapi.ErrBadMessage, c.History)
	}
	t, err := p.dir.Find(c.PTY)
	if err != nil {
		return err
	}
	p.detach(c.PTY) // attaching again starts over, with a snapshot unless it says since
	p.attaching.Lock()
	crowded := len(p.attached) >= maxAttached
	if !crowded {
		p.attached[c.PTY] = attachment{} // not used before the next command for the terminal
	}
	p.attaching.Unlock()
	if crowded {
		return errCrowded
	}
	f := p.watch(t, stream.SubscribeOptions{Scrollback: -1, Since: c.Since, Who: p.viewer.Who,
		Lazy: c.History == wire.HistoryLazy, Kicked: func() { go p.kicked(c.PTY) }}, nil)
	a := actor{term: t, sub: f.sub, readOnly: p.viewer.ReadOnly}
	a.sub.Hide(c.Hidden)
	if c.Cols > 0 && c.Rows > 0 && !a.readOnly {
		err = t.RequestSize(a.sub, c.Cols, c.Rows)
	}
	p.attaching.Lock()
	p.attached[c.PTY] = attachment{a, f}
	p.attaching.Unlock()
	p.begin(f)
	return err
}

func (p *page) find(id string) (attachment, bool) {
	p.attaching.Lock()
	defer p.attaching.Unlock()
	a, ok := p.attached[id]
	return a, ok && a.feed != nil
}

func (p *page) detach(id string) {
	p.attaching.Lock()
	a, ok := p.attached[id]
	delete(p.attached, id)
	p.attaching.Unlock()
	if ok && a.feed != nil {
		p.leaveTerminal(a)
	}
}

// leaveTerminal ends the events of a terminal.
func (p *page) leaveTerminal(a attachment) {
	p.drop(a.feed)
	a.term.Detach(a.sub)
}

// kicked ends the watching of a terminal that somebody has removed this viewer from. The page of who has a login stays,
// that of a link ends: the link is over.
func (p *page) kicked(id string) {
	defer p.sockets.guard(p.socket)
	p.viewer.revoke()
	p.detach(id)
	p.answer(wire.EventKicked{Event: "kicked", PTY: id, Error: stream.ErrKicked.Error()})
	if p.viewer.Who.Role != stream.RoleAdmin {
		p.endSoon(wire.CloseKicked, stream.ErrKicked.Error(), hurriedClose)
	}
}

func (p *page) detachAll() {
	p.attaching.Lock()
	all := p.attached
	p.attached = map[string]attachment{}
	p.attaching.Unlock()
	for _, a := range all {
		if a.feed != nil {
			p.leaveTerminal(a)
		}
	}
}

// keepList sends the list when it has changed, at most once in listPace, until the connection ends. changed and stop
// are of the directory.
func (p *page) keepList(changed <-chan struct{}, stop func()) {
	defer p.sockets.guard(p.socket)
	defer stop()
	for {
		select {
		case <-changed:
		case <-p.ctx.Done():
			return
		}
		select {
		case <-time.After(listPace):
		case <-p.ctx.Done():
			return
		}
		p.sendList()
	}
}

// sendList sends the list of terminals, unless it is the one that was sent last: what has changed may be of another
// user.
func (p *page) sendList() {
	items := p.dir.List()
	if p.listed != nil && bytes.Equal(items, p.listed) {
		return
	}
	p.listed = items
	p.setList(fmt.Appendf(nil, `{"event":"list","items":%s}`, items))
}
