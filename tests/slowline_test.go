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

// slowLine is a line to the server at addr, and returns its own end of it, a host and a port. Each byte arrives delay
// after it was sent, in both directions; from the server come at most bytesPerSecond, 0 for any number. To connect
// takes no time. An end of one direction arrives behind what was sent before; an error ends both. It closes with the
// test.
func slowLine(t testing.TB, addr string, delay time.Duration, bytesPerSecond int) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var lines sync.WaitGroup
	closed := make(chan struct{})
	t.Cleanup(func() {
		close(closed)
		_ = listener.Close()
		lines.Wait()
	})
	lines.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			lines.Go(func() { carry(c.(*net.TCPConn), addr, delay, bytesPerSecond, closed) })
		}
	})
	return listener.Addr().String()
}

// carry is one connection of a slow line, until both directions have ended or closed is.
func carry(near *net.TCPConn, addr string, delay time.Duration, bytesPerSecond int, closed <-chan struct{}) {
	defer near.Close()
	conn, err := net.Dial("tcp", addr)
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
		case <-closed:
		case <-ended:
		}
		_, _ = near.Close(), far.Close() // whoever reads or writes returns
	}()
	var both sync.WaitGroup
	both.Go(func() { oneWay(far, near, delay, 0) })
	both.Go(func() { oneWay(near, far, delay, bytesPerSecond) })
	both.Wait()
}

// piece is what travels on a slow line.
type piece struct {
	bytes []byte
	due   time.Time
}

// oneWay carries what from says to to, until from has ended or either fails.
func oneWay(to, from *net.TCPConn, delay time.Duration, bytesPerSecond int) {
	way := make(chan piece, slowPieces)
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for p := range way {
			time.Sleep(time.Until(p.due))
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
			way <- piece{b[:n], time.Now().Add(delay)}
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
