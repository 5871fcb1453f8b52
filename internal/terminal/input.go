package terminal

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	wake    chan struct{}
	stopped chan struct{} // closed when run has ended

	beforeAnswers func(seq uint64) // called before queries before seq are answered

	mu         sync.Mutex
	replies    []byte
	answeredTo uint64 // queries before this position were answered, or their answers are in replies
}

// inputCall is one call of write.
type inputCall struct {
	ctx  context.Context
	p    []byte
	done chan error // has room for the result
}

// newInput returns the input of a process. beforeAnswers is called before each answer to
// queries of the program.
func newInput(p *pty.Process, beforeAnswers func(seq uint64)) *input {
	return &input{process: p, beforeAnswers: beforeAnswers, waiting: make(chan *inputCall, inputQueue),
		wake: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// write waits until the program has all of p. Errors: pty.ErrBlocked (with the number of
// bytes it took), pty.ErrExited, pty.ErrClosed, ErrExited, the reason of ctx.
func (in *input) write(ctx context.Context, p []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, inputTimeout, pty.ErrBlocked)
	defer cancel()
	c := &inputCall{ctx: ctx, p: p, done: make(chan error, 1)}
	select {
	case in.waiting <- c:
	case <-in.stopped:
		return ErrExited
	case <-ctx.Done():
		return fmt.Errorf("0 of %d bytes were taken: %w", len(p), context.Cause(ctx))
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
	if len(in.replies)+len(p) <= maxReplies {
		in.replies = append(in.replies, p...)
	}
	in.answeredTo = max(in.answeredTo, seq)
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default: // run was woken already
	}
}

// run writes until the terminal or the server ends.
func (in *input) run(ended, leaving <-chan struct{}) {
	defer close(in.stopped)
	for {
		select {
		case c := <-in.waiting:
			c.done <- in.send(c.ctx, c.p)
		case <-in.wake:
			in.sendReplies()
		case <-ended:
			return
		case <-leaving:
			return
		}
	}
}

func (in *input) sendReplies() {
	in.mu.Lock()
	p, seq := in.replies, in.answeredTo
	in.replies = nil
	in.mu.Unlock()
	if len(p) == 0 {
		return
	}
	if seq > 0 {
		in.beforeAnswers(seq)
	}
	ctx, cancel := context.WithTimeout(context.Background(), inputTimeout)
	defer cancel()
	_ = in.send(ctx, p) // a program that does not read gets no answers
}

func (in *input) send(ctx context.Context, p []byte) error {
	n, err := in.process.Write(ctx, p)
	if err != nil {
		return fmt.Errorf("%d of %d bytes were taken: %w", n, len(p), err)
	}
	return nil
}
