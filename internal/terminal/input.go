package terminal

import (
	"context"
	"errors"
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

// input writes to one PTY: completely, in the order of the calls, with the emulator's answers between them. Who types
// writes itself what the terminal takes at once. A goroutine writes the rest and what comes behind, so that neither the
// reader nor a viewer ever waits for a program that does not read; it lives while something waits.
type input struct {
	process *pty.Process
	waiting chan *inputCall
	ended   <-chan struct{}        // closed at the end of the program
	leaving <-chan struct{}        // closed when the server ends
	work    func(func()) (ok bool) // starts a goroutine; false once the server ends

	beforeAnswers func(seq uint64) // called before queries before seq are answered

	mu      sync.Mutex // a leaf, but for work
	writing bool       // run or try writes
	rest    *inputCall // what try has begun; it comes before everything else
	replies []answer
	replied int // bytes of replies
}

// inputCall is one call of write or try that waits.
type inputCall struct {
	ctx   context.Context
	p     []byte
	taken int                // bytes that were taken before p
	begin func(pty.LineMode) // nil once it was called
	done  func(error)        // must return at once
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

// newInput is the input of the terminal's process.
func (p *program) newInput(process *pty.Process) *input {
	r := p.t.registry
	return &input{process: process, beforeAnswers: p.noteAnswered, waiting: make(chan *inputCall, inputQueue),
		ended: p.ended, leaving: r.ctx.Done(), work: r.life.TryGo}
}

// write waits until the program has all of p. It calls begin before the first byte. Errors:
// *Blocked without its Seq, *pty.LineTooLong (before begin, nothing is typed), pty.ErrExited,
// pty.ErrClosed, ErrExited, context.Cause(ctx).
func (in *input) write(ctx context.Context, p []byte, begin func(pty.LineMode)) error {
	done := make(chan error, 1)
	if in.try(ctx, p, begin, func(err error) { done <- err }) {
		return <-done
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inputTimeout, pty.ErrBlocked)
	defer cancel()
	c := &inputCall{ctx: ctx, p: p, begin: begin, done: func(err error) { done <- err }}
	select {
	case in.waiting <- c:
	case <-ctx.Done():
		return taken(0, len(p), context.Cause(ctx))
	}
	in.begin()
	return <-done
}

// try is write by this goroutine, unless something else is written or waits, or p cannot be written at all: then it
// returns false and nothing is typed. What the program does not take at once is written behind, before everything else,
// within inputTimeout; p is not changed until done. It calls done once, with the errors of write, when all is over:
// before it returns, or later.
func (in *input) try(ctx context.Context, p []byte, begin func(pty.LineMode), done func(error)) (ok bool) {
	if !in.take() {
		return false
	}
	begun := false
	n, err := in.process.Master().TryWrite(p, func(mode pty.LineMode) {
		begun = true
		begin(mode)
	})
	if n == len(p) || !begun || err != nil {
		in.release(nil)
		if begun {
			done(taken(n, len(p), err))
		}
		return begun
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inputTimeout, pty.ErrBlocked)
	in.release(&inputCall{ctx: ctx, p: p[n:], taken: n, done: func(err error) {
		cancel()
		done(err)
	}})
	return true
}

// take makes the caller the one that writes, if nobody is and nothing waits.
func (in *input) take() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.writing || len(in.waiting) > 0 || len(in.replies) > 0 {
		return false
	}
	in.writing = true
	return true
}

// release ends take. rest is what is left to be written, nil for nothing.
func (in *input) release(rest *inputCall) {
	in.mu.Lock()
	in.rest, in.writing = rest, false
	waits := rest != nil || len(in.waiting) > 0 || len(in.replies) > 0
	in.mu.Unlock()
	if waits {
		in.begin()
	}
}

// groupNow stands for the process group that is in the foreground now.
const groupNow = -1

// reply queues answers to the program's queries before position seq; 0: a report that
// answers none. group was in the foreground when they were read.
func (in *input) reply(p []byte, seq uint64, group int) {
	if len(p) == 0 {
		return
	}
	in.mu.Lock()
	if in.replied+len(p) <= maxReplies {
		if group == groupNow {
			group, _ = in.process.Foreground() // 0 with an error: who asks is unknown
		}
		in.replies, in.replied = append(in.replies, answer{p, seq, group}), in.replied+len(p)
	}
	in.mu.Unlock()
	in.begin()
}

// begin lets run write what waits now. It never waits for it. At the end of the server it refuses the calls instead;
// the next server gives the answers.
func (in *input) begin() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.writing {
		return
	}
	if in.writing = in.work(in.run); in.writing {
		return
	}
	for c := in.next(); c != nil; c = in.next() {
		c.done(ErrExited)
	}
}

// next takes the call whose turn it is, nil when none waits; another goroutine may have taken it. in.mu is held.
func (in *input) next() *inputCall {
	if c := in.rest; c != nil {
		in.rest = nil
		return c
	}
	select {
	case c := <-in.waiting:
		return c
	default:
		return nil
	}
}

// run writes what waits.
func (in *input) run() {
	for {
		in.mu.Lock()
		c := in.next()
		in.mu.Unlock()
		if c != nil {
			c.done(in.serve(c))
			continue
		}
		in.sendReplies(time.Now().Add(inputTimeout))
		if in.rests() {
			return
		}
	}
}

// rests ends run when nothing waits.
func (in *input) rests() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.writing = len(in.waiting) > 0 || len(in.replies) > 0
	return !in.writing
}

// serve is one call in its turn. The program's or the server's end refuses it.
func (in *input) serve(c *inputCall) error {
	select {
	case <-in.ended:
		return ErrExited
	case <-in.leaving:
		return ErrExited
	default:
	}
	if c.begin != nil {
		deadline, _ := c.ctx.Deadline()
		in.sendReplies(deadline) // to what a viewer saw before it typed
		if err := in.typeIn(c); err != nil {
			return err
		}
	}
	n, err := in.process.Write(c.ctx, c.p)
	return taken(c.taken+n, c.taken+len(c.p), err)
}

// typeIn begins to type the input of a call.
func (in *input) typeIn(c *inputCall) error {
	master := in.process.Master()
	if err := master.CheckLine(c.p); err != nil {
		return err
	}
	mode, err := master.LineMode()
	if err == nil {
		c.begin(mode)
	}
	return err
}

// sendReplies gives the answers that wait for it, unless the server is leaving. A program that does not
// read has until deadline.
func (in *input) sendReplies(deadline time.Time) {
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
		awaited, known, ok := in.awaited(a, patience)
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
			_, _ = in.process.Write(ctx, a.p) // a program that does not read gets no answers
		}
	}
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
