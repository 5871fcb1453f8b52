package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Write gives all of p to the terminal, in order, as if it was typed; p is not retained. It waits while the program
// does not read, until ctx ends: then it returns how many bytes the terminal has taken, and ErrBlocked together with
// context.Cause(ctx). A Write that follows continues after them.
//
// One Write runs at a time, a second one waits for its turn and never comes between the bytes of the first. Errors:
// ErrBlocked, ErrExited after the child's exit, ErrClosed after Close; both also end a Write that waits. *LineTooLong
// before anything is written: see CheckLine. While no process holds the terminal open the kernel keeps what is typed
// for who opens it.
func (m *Master) Write(ctx context.Context, p []byte) (int, error) {
	select {
	case m.writing <- struct{}{}:
		defer func() { <-m.writing }()
	case <-ctx.Done():
		return 0, m.stopped(ctx)
	case <-m.gone:
		return 0, m.stopped(ctx)
	case <-m.closed:
		return 0, m.stopped(ctx)
	}
	// A deadline of an earlier Write may be left. The look at gone must follow: Drain closes it before it sets its own
	// deadline.
	_ = m.file.SetWriteDeadline(time.Time{})
	if isClosed(m.gone) || ctx.Err() != nil {
		return 0, m.stopped(ctx)
	}
	if err := m.CheckLine(p); err != nil {
		return 0, err
	}
	release := m.wakeWriter(ctx)
	defer release()
	n, err := m.file.Write(p)
	m.noteTyped(p[:n])
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, m.stopped(ctx)
	}
	return n, m.failed("write", err)
}

// TryWrite gives the terminal as much of p as it takes at once, in order, and returns how many bytes that is: possibly
// none, with no error. begin is called before the first byte with the mode in which the line discipline gets them. A
// Write that runs or waits keeps its turn: then nothing is written and the error is ErrBlocked. Errors, before begin:
// also ErrExited, ErrClosed and *LineTooLong, see Write.
func (m *Master) TryWrite(p []byte, begin func(LineMode)) (n int, err error) {
	select {
	case m.writing <- struct{}{}:
		defer func() { <-m.writing }()
	default:
		return 0, ErrBlocked
	}
	if isClosed(m.gone) {
		return 0, ErrExited
	}
	t, err := m.termios()
	if err != nil {
		return 0, err
	}
	if err := m.checkLine(t, p); err != nil {
		return 0, err
	}
	begin(lineModeOf(t))
	err = m.control("write", func(fd int) (err error) {
		if n, err = proc.WriteNow(fd, p); err == unix.EAGAIN {
			err = nil
		}
		return err
	})
	n = max(n, 0)
	m.lineMu.Lock()
	defer m.lineMu.Unlock()
	m.line.add(t, p[:n])
	return n, err
}

// wakeWriter makes a write return when ctx ends. After release returned it no longer touches the deadline.
func (m *Master) wakeWriter(ctx context.Context) (release func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = m.file.SetWriteDeadline(time.Now())
		close(woken)
	})
	return func() {
		if !stop() {
			<-woken
		}
	}
}

// stopped says why a Write ended before its bytes did.
func (m *Master) stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case isClosed(m.closed):
		return ErrClosed
	case isClosed(m.gone):
		return ErrExited
	case cause != nil && !errors.Is(cause, ErrBlocked):
		return fmt.Errorf("%w: %w", ErrBlocked, cause)
	}
	return ErrBlocked
}
