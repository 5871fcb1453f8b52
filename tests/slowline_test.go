package tests

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

const (
	// slowPiece is how much of what comes at once travels as one, in bytes: at 1 MB/s it takes 4 ms.
	slowPiece = 4 << 10
	// slowPieces bounds what is on its way in one direction: 4 MiB of whole pieces.
	slowPieces = 1 << 10
	// slowBuffer is what the kernel may keep before the line, in bytes: else it hides that the line is slow.
	slowBuffer = 32 << 10
)

// line is a slow line to a server.
type line struct {
	addr           string // its own end, a host and a port
	delay          time.Duration
	bytesPerSecond int
	closed         chan struct{}
	mu             sync.Mutex
	to             string        // the server's end
	open           chan struct{} // closed: what the server sends arrives
}

// newLine is a line to the server at addr. Each byte arrives delay after it was sent, in both directions; from the
// server come at most bytesPerSecond, 0 for any number. To connect takes no time. An end of one direction arrives
// behind what was sent before; an error ends both. It closes with the test.
func newLine(t testing.TB, addr string, delay time.Duration, bytesPerSecond int) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{addr: listener.Addr().String(), delay: delay, bytesPerSecond: bytesPerSecond, to: addr,
		closed: make(chan struct{}), open: make(chan struct{})}
	l.release()
	var conns sync.WaitGroup
	t.Cleanup(func() {
		close(l.closed)
		_ = listener.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { l.carry(c.(*net.TCPConn)) })
		}
	})
	return l
}

// slowLine is the end of a new line.
func slowLine(t testing.TB, addr string, delay time.Duration, bytesPerSecond int) string {
	t.Helper()
	return newLine(t, addr, delay, bytesPerSecond).addr
}

// leadsTo has new connections lead to another server.
func (l *line) leadsTo(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = addr
}

// hold keeps what the server sends back until release.
func (l *line) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = make(chan struct{})
}

func (l *line) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.open)
}

// ends is the server's end, and what is closed while the line carries.
func (l *line) ends() (to string, open <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to, l.open
}

// carry is one connection of a slow line, until both directions have ended or the line is closed.
func (l *line) carry(near *net.TCPConn) {
	defer near.Close()
	to, _ := l.ends()
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	far := conn.(*net.TCPConn)
	defer far.Close()
	if far.SetReadBuffer(slowBuffer) != nil || near.SetWriteBuffer(slowBuffer) != nil {
		return
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-l.closed:
		case <-ended:
		}
		_, _ = near.Close(), far.Close() // whoever reads or writes returns
	}()
	var both sync.WaitGroup
	both.Go(func() { l.oneWay(far, near, 0, nil) })
	both.Go(func() {
		l.oneWay(near, far, l.bytesPerSecond, func() {
			_, open := l.ends()
			select {
			case <-open:
			case <-l.closed:
			}
		})
	})
	both.Wait()
}

// piece is what travels on a slow line.
type piece struct {
	bytes []byte
	due   time.Time
}

// oneWay carries what from says to to, until from has ended or either fails. held returns when it may arrive; nil: it
// may.
func (l *line) oneWay(to, from *net.TCPConn, bytesPerSecond int, held func()) {
	way := make(chan piece, slowPieces)
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for p := range way {
			time.Sleep(time.Until(p.due))
			if held != nil {
				held()
			}
			if _, err := to.Write(p.bytes); err != nil {
				_, _ = to.Close(), from.Close() // the reader returns, and what is on its way is lost
			}
		}
	}()
	free := time.Now() // when the line has sent all of what it was given
	var err error
	for err == nil {
		b := make([]byte, slowPiece)
		n := 0
		n, err = from.Read(b)
		if n > 0 && bytesPerSecond > 0 {
			if now := time.Now(); now.After(free) {
				free = now
			}
			free = free.Add(time.Duration(n) * time.Second / time.Duration(bytesPerSecond))
			time.Sleep(time.Until(free))
		}
		if n > 0 {
			way <- piece{b[:n], time.Now().Add(l.delay)}
		}
	}
	close(way)
	<-arrived
	if err == io.EOF {
		_ = to.CloseWrite()
	} else {
		_, _ = to.Close(), from.Close()
	}
}

// TestSlowLine: both directions are late, the server's is slow too, and an end of one direction is no end of the other.
func TestSlowLine(t *testing.T) {
	t.Parallel()
	const delay, rate, size = 100 * time.Millisecond, 1 << 20, 256 << 10
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // answers once it has heard all
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := io.Copy(io.Discard, c); err == nil {
			_, _ = c.Write(make([]byte, size))
		}
	}()
	c, err := net.Dial("tcp", slowLine(t, l.Addr().String(), delay, rate))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	begin := time.Now()
	if _, err := c.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	var first [1]byte
	if _, err := io.ReadFull(c, first[:]); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 2*delay {
		t.Errorf("the first byte comes after %v", took)
	}
	n, err := io.Copy(io.Discard, c)
	if took := time.Since(begin); err != nil || n != size-1 || took < 2*delay+size*time.Second/rate {
		t.Errorf("%d bytes come after %v, %v", n, took, err)
	}
}
