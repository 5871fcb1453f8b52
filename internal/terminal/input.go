package terminal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/pty"
)

const (
	// inputTimeout is how long a program may read no input before a call fails. The bytes
	// that it took by then stay written.
	inputTimeout = 10 * time.Second
	// inputQueue is how many calls may wait for the one being written.
	inputQueue = 16
	// maxReplies bounds the answers to queries of a program that does not read its input,
	// in bytes; newer ones are dropped.
	maxReplies = 64 << 10
)

// input writes to one PTY: completely, in the order of the calls, with the emulator's answers
// between them. One goroutine writes, so that neither the reader nor a viewer ever waits
// for a program that does not read.
type input struct {
	process *pty.Process
	waiting chan *inputCall
	wake    notify.Signal // replies came
	stopped chan struct{} // closed when run has ended

	beforeAnswers func(seq uint64) // called before queries before seq are answered

	mu      sync.Mutex
	replies []answer
	replied int // bytes of replies
}

// inputCall is one call of write.
type inputCall struct {
	ctx   context.Context
	p     []byte
	begin func()
	done  chan error // has room for the result
}

// Blocked is input that the program did not take in time. It wraps pty.ErrBlocked.
type Blocked struct {
	Bytes int    // that it took
	Seq   uint64 // position of the output before
	err   error
}

func (e *Blocked) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *Blocked) Unwrap() error { return e.err }

// newInput returns the input of a process. beforeAnswers is called before each answer to
// queries of the program.
func newInput(p *pty.Process, beforeAnswers func(seq uint64)) *input {
	return &input{process: p, beforeAnswers: beforeAnswers, waiting: make(chan *inputCall, inputQueue),
		wake: notify.NewSignal(), stopped: make(chan struct{})}
}

// write waits until the program has all of p. It calls begin before the first byte. Errors:
// *Blocked without its Seq, *pty.LineTooLong (before begin, nothing is typed), pty.ErrExited,
// pty.ErrClosed, ErrExited, context.Cause(ctx).
func (in *input) write(ctx context.Context, p []byte, begin func()) error {
	ctx, cancel := context.WithTimeoutCause(ctx, inputTimeout, pty.ErrBlocked)
	defer cancel()
	c := &inputCall{ctx: ctx, p: p, begin: begin, done: make(chan error, 1)}
	select {
	case in.waiting <- c:
	case <-in.stopped:
		return ErrExited
	case <-ctx.Done():
		return taken(0, len(p), context.Cause(ctx))
	}
	select {
	case err := <-c.done:
		return err
	case <-in.stopped:
	}
	select {
	case err := <-c.done: // both were ready
		return err
	default:
		return ErrExited
	}
}

// reply queues answers to the program's queries before position seq; 0: a report that
// answers none.
func (in *input) reply(p []byte, seq uint64) {
	if len(p) == 0 {
		return
	}
	in.mu.Lock()
	if in.replied+len(p) <= maxReplies {
		group, _ := in.process.Foreground() // 0 with an error: who asks is unknown
		in.replies, in.replied = append(in.replies, answer{p, seq, group}), in.replied+len(p)
	}
	in.mu.Unlock()
	in.wake.Set()
}

// run writes until the terminal or the server ends.
func (in *input) run(ended, leaving <-chan struct{}) {
	defer close(in.stopped)
	for {
		select {
		case c := <-in.waiting:
			deadline, _ := c.ctx.Deadline()
			in.sendReplies(deadline, leaving) // to what a viewer saw before it typed
			c.done <- in.typeIn(c)
		case <-in.wake:
			if len(in.waiting) == 0 { // else the call sends them in its turn
				in.sendReplies(time.Now().Add(inputTimeout), leaving)
			}
		case <-ended:
			return
		case <-leaving:
			return
		}
	}
}

// typeIn is one call of write in its turn.
func (in *input) typeIn(c *inputCall) error {
	if err := in.process.Master().CheckLine(c.p); err != nil {
		return err
	}
	c.begin()
	return in.send(c.ctx, c.p)
}

// sendReplies gives the answers that wait for it, unless the server is leaving. A program that does not
// read has until deadline.
func (in *input) sendReplies(deadline time.Time, leaving <-chan struct{}) {
	in.mu.Lock()
	list := in.replies
	in.replies, in.replied = nil, 0
	in.mu.Unlock()
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	patience := answerPatience
	for _, a := range list {
		awaited, known, ok := in.awaited(a, patience, leaving)
		if !ok {
			return
		}
		if !known {
			patience = 0 // nobody can tell for those behind it either
		}
		if a.seq > 0 {
			in.beforeAnswers(a.seq)
		}
		if awaited {
			_ = in.send(ctx, a.p) // a program that does not read gets no answers
		}
	}
}

func (in *input) send(ctx context.Context, p []byte) error {
	n, err := in.process.Write(ctx, p)
	return taken(n, len(p), err)
}

// taken is err of a write of so many bytes, of which n were taken.
func taken(n, size int, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%d of %d bytes were taken: %w", n, size, err)
	if errors.Is(err, pty.ErrBlocked) {
		return &Blocked{Bytes: n, err: err}
	}
	return err
}
