package keeper

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// link is a connection to one keeper process after its welcome.
type link struct {
	*protocol.Conn
	pid      int
	started  int64 // when the keeper process started
	version  int
	release  string
	programs bool // the keeper knows run and kinds
	reports  bool // the keeper knows proc.Plan.Reports

	mu    sync.Mutex
	next  uint64
	calls map[uint64]*call
	ended bool // no answer will come any more
}

// call is a request that was not answered yet.
type call struct {
	number  uint64
	op, id  string
	parts   *startParts // of a start
	program *Program    // of a run: what it gives, without its process
	files   []int       // of a run: the client's duplicates of the held files, until an entry has them

	// What the answer said, valid once done is closed.
	done     chan struct{}
	terminal *Held
	err      error

	exit      *pty.Exit // of a child that ended before its start was answered
	abandoned bool      // its caller waits no longer: what was started is released
}

// begins reports whether a program is started.
func (c *call) begins() bool { return c.op == protocol.OpStart || c.op == protocol.OpRun }

// begin registers a request. After the link's end it does not: sending will fail.
func (l *link) begin(op, id string) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	call := &call{number: l.next, op: op, id: id, done: make(chan struct{})}
	if !l.ended {
		l.calls[call.number] = call
	}
	return call
}

// knows reports whether the keeper can execute a plan. Errors: pty.ErrUnsupported.
func (l *link) knows(p proc.Plan) error {
	if !p.Reports || l.reports {
		return nil
	}
	return fmt.Errorf("%w: the keeper, process %d, is of the older release %q and cannot confine programs; it is "+
		"replaced when the server starts again, or ends with its programs", pty.ErrUnsupported, l.pid, l.release)
}

// answered removes the request that an answer is for, nil when there is none.
func (l *link) answered(number uint64) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := l.calls[number]
	delete(l.calls, number)
	return call
}

// noteExit notes the end of a child whose start is not answered yet.
func (l *link) noteExit(id string, e *pty.Exit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, call := range l.calls {
		if call.begins() && call.id == id {
			call.exit = e
		}
	}
}

// finish ends the link and returns all requests, which will get no answer.
func (l *link) finish() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	list := slices.Collect(maps.Values(l.calls))
	clear(l.calls)
	return list
}

// ask sends a request and handles packets with c until it is answered. It must not run beside session.read.
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
	l.version, l.release, l.programs, l.reports = p.Version, p.Release, p.Programs, p.Reports
	for number, call := range l.calls {
		if call.op == protocol.OpUpgrade {
			close(call.done)
			delete(l.calls, number)
		}
	}
}

// abandon marks a request as abandoned and reports whether it was unanswered.
func (l *link) abandon(call *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return true
	}
	call.abandoned = l.calls[call.number] == call
	return call.abandoned
}
