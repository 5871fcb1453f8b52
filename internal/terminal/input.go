package terminal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/pty"
)

const (
	// inputTimeout is how long a program may take no input before the caller
	// is told; what it took by then stays written.
	inputTimeout = 10 * time.Second
	// inputWaiting is how many inputs may wait behind the one being written.
	inputWaiting = 16
	// maxReplies bounds the answers to queries that wait for a program that
	// does not read its input, in bytes; newer ones are dropped.
	maxReplies = 64 << 10
)

// input writes to one PTY: completely, in the order of the calls, answers of
// the emulator between them. One goroutine writes, so that neither the reader
// nor a viewer ever waits for a program that does not read.
type input struct {
	process *pty.Process
	waiting chan *inputCall
	wake    chan struct{}
	stopped    chan struct{} // closed when nobody writes any more

	beforeAnswers func(seq uint64) // called before the answers to queries before seq are given

	mu      sync.Mutex
	replies []byte
	answeredTo   uint64 // position before which the queries have their answers in replies or got them
}

// inputCall is one caller's input.
type inputCall struct {
	ctx  context.Context
	p    []byte
	done chan error // has room for the result
}

// newInput is the input of a terminal; answered is called each time before
// answers to its program's queries are given.
func newInput(p *pty.Process, answered func(seq uint64)) *input {
	return &input{process: p, beforeAnswers: answered, waiting: make(chan *inputCall, inputWaiting), wake: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// write waits until the program has all of p. Errors: pty.ErrBlocked (with how
// much it took), pty.ErrExited, pty.ErrClosed, ErrExited or the context's.
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
	case err := <-c.done: // also when both have happened
		return err
	default:
		return ErrExited
	}
}

// reply queues answers to the program's queries before position seq.
func (in *input) reply(p []byte, seq uint64) {
	if len(p) == 0 {
		return
	}
	in.mu.Lock()
	if len(in.replies)+len(p) <= maxReplies {
		in.replies = append(in.replies, p...)
	}
	in.answeredTo = seq
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default: // it is awake
	}
}

// run writes until the terminal has ended or the server leaves.
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
	in.beforeAnswers(seq)
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
