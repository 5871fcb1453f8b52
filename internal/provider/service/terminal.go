package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Bounds of a terminal at a service.
const (
	InputTimeout = 10 * time.Second // for one message of input
	maxInput     = 32 << 10         // bytes of one message of input
	maxSize      = 1000             // columns and rows: Daytona's own limit
)

// TerminalSize limits columns or rows to what services take.
func TerminalSize(n int) int { return min(max(n, 1), maxSize) }

// Exited is the error of Connection.Receive when the program has ended.
type Exited struct{ Code int }

// Error implements error.
func (e *Exited) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Connection is the connection of a Terminal to a service. Receive has one caller at a time, and so
// has Send.
type Connection interface {
	// Receive waits for output. Errors: *Exited; ErrUnreachable and others when the connection is
	// lost.
	Receive() ([]byte, error)
	Send(input []byte) error
	Resize(ctx context.Context, cols, rows int) error
	// Kill ends the program, with a hangup first where the service can.
	Kill()
	// Cancel makes Receive and Send return. Close follows, when no Receive runs any more.
	Cancel()
	Close()
}

// Terminal is a provider.PTY on a connection to a service.
type Terminal struct {
	c       Connection
	write   sync.Mutex // input stays in order
	closing sync.Once

	read sync.Mutex // one reader at a time
	rest []byte     // of a message that did not fit

	mu     sync.Mutex
	exit   *Exited
	closed bool
	end    error // the error of every Read from now on
}

// NewTerminal takes over the connection.
func NewTerminal(c Connection) *Terminal { return &Terminal{c: c} }

// Read returns output. It ends with io.EOF after the program's exit, with ErrUnreachable when the
// connection is lost before.
func (t *Terminal) Read(b []byte) (int, error) {
	t.read.Lock()
	defer t.read.Unlock()
	for len(t.rest) == 0 {
		t.mu.Lock()
		end := t.end
		t.mu.Unlock()
		if end != nil {
			return 0, end
		}
		var err error
		if t.rest, err = t.c.Receive(); err != nil {
			return 0, t.finish(err)
		}
	}
	n := copy(b, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

func (t *Terminal) finish(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.As(err, &t.exit), t.closed, errors.Is(err, provider.ErrNotFound), errors.Is(err, io.EOF):
		t.end = io.EOF // the last two have no exit code
	default:
		t.end = fmt.Errorf("terminal: %w", err)
	}
	return t.end
}

// Write sends input, in order.
func (t *Terminal) Write(b []byte) (int, error) {
	t.write.Lock()
	defer t.write.Unlock()
	for sent := 0; sent < len(b); {
		n := min(len(b)-sent, maxInput)
		if err := t.c.Send(b[sent : sent+n]); err != nil {
			return sent, err
		}
		sent += n
	}
	return len(b), nil
}

// Resize changes the size; the program gets SIGWINCH.
func (t *Terminal) Resize(ctx context.Context, cols, rows int) error {
	return t.c.Resize(ctx, cols, rows)
}

// Exit is the program's exit code, known when Read has ended.
func (t *Terminal) Exit() (code int, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exit == nil {
		return 0, false
	}
	return t.exit.Code, true
}

// Close ends the program and the connection.
func (t *Terminal) Close() error {
	t.closing.Do(func() {
		t.mu.Lock()
		t.closed = true
		over := t.exit != nil
		t.mu.Unlock()
		if !over {
			t.c.Kill()
		}
		t.c.Cancel()
		t.read.Lock()
		defer t.read.Unlock()
		t.c.Close()
	})
	return nil
}
