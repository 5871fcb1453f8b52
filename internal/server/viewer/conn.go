package viewer

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// deadlineMoves is how often the deadline of writes is moved at most: each move changes a timer of the runtime.
const deadlineMoves = time.Second

// conn is the connection below a WebSocket. Once it has started, Write takes everything at once: what the socket does
// not take waits in memory, in order, until flush. Before, it is an ordinary connection. So whoever has something for
// the viewer writes it, and never waits. It is safe for concurrent use, but for flush, which belongs to the goroutine
// that sends.
type conn struct {
	net.Conn
	raw     syscall.RawConn // nil: nothing is written at once, as with TLS, which cannot stop in a record
	moved   time.Time       // when flush moved the deadline last
	started atomic.Bool     // Write does not wait
	mu      sync.Mutex
	waiting [][]byte
	bytes   int // of waiting
}

func newConn(c net.Conn) *conn {
	own := &conn{Conn: c}
	switch socket := c.(type) {
	case *net.TCPConn:
		own.raw, _ = socket.SyscallConn()
	case *net.UnixConn:
		own.raw, _ = socket.SyscallConn()
	}
	return own
}

// start makes Write and SetWriteDeadline those of a connection that never waits.
func (c *conn) start() { c.started.Store(true) }

// Write takes p. Errors are those of the connection.
func (c *conn) Write(p []byte) (int, error) {
	if !c.started.Load() {
		return c.Conn.Write(p)
	}
	if _, err := c.write(p, slices.Clone[[]byte]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeShared is Write of what is never changed, unless all is true: then the socket has all of it.
func (c *conn) writeShared(p []byte) (all bool, err error) {
	return c.write(p, func(rest []byte) []byte { return rest })
}

func (c *conn) write(p []byte, keep func(rest []byte) []byte) (all bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	if len(c.waiting) == 0 && c.raw != nil {
		if n, err = c.try(p); err != nil {
			return false, err
		}
	}
	if n < len(p) {
		c.waiting, c.bytes = append(c.waiting, keep(p[n:])), c.bytes+len(p)-n
	}
	return n == len(p), nil
}

// try writes what the socket takes now. c.mu is held, for one system call that does not wait.
func (c *conn) try(p []byte) (n int, err error) {
	done := c.raw.Control(func(fd uintptr) {
		n, err = proc.WriteNow(int(fd), p)
	})
	if done != nil {
		return 0, done
	}
	if err == syscall.EAGAIN {
		err = nil
	}
	return max(n, 0), err
}

// Read is the read of the connection.
func (c *conn) Read(p []byte) (n int, err error) {
	if c.raw == nil || len(p) == 0 {
		return c.Conn.Read(p)
	}
	done := c.raw.Read(func(fd uintptr) bool {
		n, err = proc.ReadNow(int(fd), p)
		return err != syscall.EAGAIN
	})
	switch {
	case done != nil:
		return 0, done
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// SetWriteDeadline does nothing once Write does not wait: flush has its own.
func (c *conn) SetWriteDeadline(at time.Time) error {
	if c.started.Load() {
		return nil
	}
	return c.Conn.SetWriteDeadline(at)
}

// Waiting is how many bytes wait for flush.
func (c *conn) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// flush writes what waits, as long as the viewer takes something within httpapi.WriteTimeout.
func (c *conn) flush() error {
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.waiting = nil
			c.mu.Unlock()
			return nil
		}
		b := c.waiting[0][:min(len(c.waiting[0]), httpapi.WritePiece)]
		c.mu.Unlock()
		if err := c.writeAll(b); err != nil {
			return err
		}
		c.mu.Lock()
		c.bytes -= len(b)
		if c.waiting[0] = c.waiting[0][len(b):]; len(c.waiting[0]) == 0 {
			c.waiting = c.waiting[1:]
		}
		c.mu.Unlock()
	}
}

// writeAll writes b with a deadline.
func (c *conn) writeAll(b []byte) error {
	if now := time.Now(); now.Sub(c.moved) > deadlineMoves {
		c.moved = now
		if err := c.Conn.SetWriteDeadline(now.Add(httpapi.WriteTimeout + deadlineMoves)); err != nil {
			return err
		}
	}
	_, err := c.Conn.Write(b)
	return err
}

// maxUnsent is how much of what is written the kernel keeps that it cannot send, in bytes; else it may keep 4 MB, all
// of which a viewer on a slow line had to see before anything newer: at 20 KB/s these are 1.6 s. What is on its way is
// not bounded.
const maxUnsent = 32 << 10

// boundUnsent sets maxUnsent. A unix socket has a bound of its own; where it fails a slow viewer is further behind.
func (c *conn) boundUnsent() {
	if c.raw != nil {
		_ = proc.BoundUnsent(c.raw, maxUnsent)
	}
}

// hijacker gives a WebSocket a conn.
type hijacker struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return newConn(c), rw, nil
}
