package viewer

import (
	"bytes"
	"io"
	"math/rand"
	"net"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// connected is both ends of a connection over TCP.
func connected(t *testing.T) (own *conn, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	own = newConn(near)
	own.start()
	return own, far
}

// TestConnNeverWaits: a peer that does not read makes Write keep what is left, and flush sends it in order, whatever was
// written since, and whether it is changed afterwards.
func TestConnNeverWaits(t *testing.T) {
	c, far := connected(t)
	data := make([]byte, 24<<20) // more than the kernel keeps
	rand.New(rand.NewSource(1)).Read(data)
	const piece = 1 << 20
	for i := 0; i < len(data); i += piece {
		b := bytes.Clone(data[i : i+piece])
		if i%(2*piece) == 0 {
			if _, err := c.writeShared(data[i : i+piece]); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		clear(b)
	}
	waiting := c.Waiting()
	if waiting <= 0 || waiting > len(data) {
		t.Fatalf("%d of %d bytes wait", waiting, len(data))
	}
	flushed := make(chan error, 1)
	go func() { flushed <- c.flush() }()
	got := make([]byte, len(data))
	_ = far.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(far, got); err != nil {
		t.Fatal(err)
	}
	if err := <-flushed; err != nil || c.Waiting() != 0 || !bytes.Equal(got, data) {
		t.Errorf("%v, %d bytes wait, equal %v", err, c.Waiting(), bytes.Equal(got, data))
	}
}

// TestConnEnds: reading says that the peer has gone, and writing to one that was closed fails.
func TestConnEnds(t *testing.T) {
	c, far := connected(t)
	if _, err := far.Write([]byte("last")); err != nil {
		t.Fatal(err)
	}
	far.Close()
	if b, err := io.ReadAll(c); string(b) != "last" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	c.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a closed connection is read")
	}
	if _, err := c.Write([]byte("x")); err == nil {
		t.Error("a closed connection is written")
	}
}

// TestSeal: the heads of RFC 6455, 5.2, for each length of them.
func TestSeal(t *testing.T) {
	for n, head := range map[int]string{
		0: "\x82\x00", 1: "\x82\x01", 125: "\x82\x7d", 126: "\x82\x7e\x00\x7e", 65535: "\x82\x7e\xff\xff",
		65536: "\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00",
	} {
		payload := bytes.Repeat([]byte{'x'}, n)
		got := seal(append(make([]byte, maxHead), payload...), websocket.BinaryMessage)
		if string(got) != head+string(payload) {
			t.Errorf("%d bytes: a message of %d that begins with %x", n, len(got), got[:min(len(got), maxHead)])
		}
	}
}
