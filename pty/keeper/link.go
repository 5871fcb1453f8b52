package keeper

import (
	"sync"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// link is a connection to one keeper process after its welcome.
type link struct {
	*protocol.Conn
	pid      int
	born     int64
	version  int
	release  string
	programs bool // the keeper knows run and kinds

	mu    sync.Mutex
	next  uint64
	calls map[uint64]*call
	over  bool // no answer will come any more
}

// call is a request that was not answered yet.
type call struct {
	number  uint64
	op, id  string
	parts   *startParts // of a start
	program *Program    // of a run: what it gives, without its process
	files   []int       // of a run: the client's duplicates of what is held, until a keeping has them

	// What the answer said, valid once done is closed.
	done chan struct{}
	kept *Kept
	err  error

	exit      *pty.Exit // of a child that ended before its start was answered
	abandoned bool      // whoever waited has left: what was started is released
}

// begins reports whether a program is started.
func (c *call) begins() bool { return c.op == protocol.OpStart || c.op == protocol.OpRun }

// begin notes a request. When the link is over it is noted nowhere: sending it will fail.
func (l *link) begin(op, id string) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	call := &call{number: l.next, op: op, id: id, done: make(chan struct{})}
	if !l.over {
		l.calls[call.number] = call
	}
	return call
}

// take removes the request that an answer is for, nil when nobody waits for it.
func (l *link) take(number uint64) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := l.calls[number]
	delete(l.calls, number)
	return call
}

// ended notes the end of a child whose start is not answered yet.
func (l *link) ended(id string, e *pty.Exit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, call := range l.calls {
		if call.begins() && call.id == id {
			call.exit = e
		}
	}
}

// finish takes all requests, which nobody will answer any more.
func (l *link) finish() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	list := make([]*call, 0, len(l.calls))
	for _, call := range l.calls {
		list = append(list, call)
	}
	clear(l.calls)
	return list
}

// ask sends a request and handles what comes in with c until it is answered. For the time before run has the link.
func (l *link) ask(c *Client, p protocol.Packet, files ...int) error {
	call := l.begin(p.Op, p.ID)
	p.Number = call.number
	if err := l.Conn.Send(p, files...); err != nil {
		return err
	}
	for {
		select {
		case <-call.done:
			return call.err
		default:
		}
		in, err := l.Receive()
		if err == nil {
			err = c.handle(l, in)
		}
		if err != nil {
			return err
		}
	}
}

// upgraded answers the request to upgrade, which a second welcome does.
func (l *link) upgraded(p protocol.Packet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version, l.release, l.programs = p.Version, p.Release, p.Programs
	for number, call := range l.calls {
		if call.op == protocol.OpUpgrade {
			close(call.done)
			delete(l.calls, number)
		}
	}
}

// leave marks a request as abandoned and reports whether it was unanswered.
func (l *link) leave(call *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return true
	}
	call.abandoned = l.calls[call.number] == call
	return call.abandoned
}
