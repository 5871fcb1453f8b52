package bash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/wait"
)

// Attempt is one execution of a command. Its context ends with the caller's, after the command's
// timeout, and when a writer of its output fails: the rest has no reader then.
type Attempt struct {
	context.Context
	Stdout, Stderr io.Writer // the caller's

	caller context.Context
}

// NewAttempt begins one. The caller calls end when the command has ended.
func NewAttempt(ctx context.Context, timeout time.Duration, stdout, stderr io.Writer) (a *Attempt, end func()) {
	waiting, cancel := wait.WithTimeout(ctx, timeout)
	waiting, fail := context.WithCancelCause(waiting)
	end = func() { fail(nil); cancel() }
	return &Attempt{waiting, &cancelWriter{stdout, fail}, &cancelWriter{stderr, fail}, ctx}, end
}

// Interrupted is the result of a command that was ended because its context ended.
func (a *Attempt) Interrupted(name string) (provider.ExecResult, error) {
	cause := context.Cause(a.Context)
	if a.caller.Err() == nil && errors.Is(cause, context.DeadlineExceeded) {
		return provider.ExecResult{ExitCode: -1, TimedOut: true}, nil
	}
	return provider.ExecResult{}, fmt.Errorf("%s: %w", name, cause)
}

// cancelWriter cancels a context when its writer fails.
type cancelWriter struct {
	w    io.Writer
	fail context.CancelCauseFunc
}

func (c *cancelWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		c.fail(fmt.Errorf("output: %w", err))
	}
	return n, err
}

// SignalBase plus a signal's number is the exit code of a command that the signal ended (POSIX
// 2.8.2).
const SignalBase = 128

// ActivityWriter notes when it was used last. After its writer has failed, it accepts and drops
// everything.
type ActivityWriter struct {
	w      io.Writer
	at     atomic.Int64 // UnixNano; 0 during a Write
	failed bool
}

// NewActivityWriter makes one that counts as used now.
func NewActivityWriter(w io.Writer) *ActivityWriter {
	a := &ActivityWriter{w: w}
	a.at.Store(time.Now().UnixNano())
	return a
}

// Write implements io.Writer. It never fails.
func (a *ActivityWriter) Write(p []byte) (int, error) {
	a.at.Store(0)
	if !a.failed {
		_, err := a.w.Write(p)
		a.failed = err != nil
	}
	a.at.Store(time.Now().UnixNano())
	return len(p), nil
}

// Last is when it was used last; now, during a Write.
func (a *ActivityWriter) Last() time.Time {
	if at := a.at.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Now()
}

// Later is the latest of some times.
func Later(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// Buffer keeps written bytes, at most Max. Errors: provider.ErrTooLarge.
type Buffer struct {
	bytes.Buffer
	Max int64
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	if int64(b.Len()+len(p)) > b.Max {
		return 0, fmt.Errorf("%w: more than %d bytes", provider.ErrTooLarge, b.Max)
	}
	return b.Buffer.Write(p)
}
