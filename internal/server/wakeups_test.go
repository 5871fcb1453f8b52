package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/wire"
)

// keySocket is a viewer's WebSocket on a socket that blocks: what waits for it is one thread of the system, and no
// goroutine.
type keySocket struct {
	t  *testing.T
	fd int
}

// dialKeys opens the WebSocket of a terminal and waits until its screen has the word ready.
func dialKeys(t *testing.T, live *liveServer, id string) keySocket {
	t.Helper()
	at, err := url.Parse(live.url)
	if err != nil {
		t.Fatal(err)
	}
	address, err := net.ResolveTCPAddr("tcp4", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	to := unix.SockaddrInet4{Port: address.Port}
	copy(to.Addr[:], address.IP.To4())
	if err := unix.Connect(fd, &to); err != nil {
		t.Fatal(err)
	}
	k := keySocket{t, fd}
	k.write(fmt.Appendf(nil, "GET /pty/%s/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", id, at.Host))
	k.until("ready")
	return k
}

func (k keySocket) write(p []byte) {
	k.t.Helper()
	if _, err := unix.Write(k.fd, p); err != nil {
		k.t.Fatal(err)
	}
}

// until reads until text comes.
func (k keySocket) until(text string) {
	k.t.Helper()
	var got []byte
	for b := make([]byte, 4096); !bytes.Contains(got, []byte(text)); {
		n, err := unix.Read(k.fd, b)
		if n <= 0 {
			k.t.Fatal(n, err)
		}
		got = append(got, b[:n]...)
	}
}

// press types a key and waits for its echo.
func (k keySocket) press(key byte) {
	const masked, text = 1 << 7, 0x81
	command := fmt.Appendf(nil, `{"type":"input","data":"%c"}`, key)
	k.write(append([]byte{text, masked | byte(len(command)), 0, 0, 0, 0}, command...))
	k.until(fmt.Sprintf(`"data":"%c"`, key))
}

// scheduled is how often a goroutine of this process has begun to run that had waited, times one eighth: the runtime
// counts each eighth time that a goroutine stops, from a random one on.
func scheduled() (n uint64) {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return n
}

// TestWakeUpsOfAKey: a key that a program shows wakes the goroutine that reads the viewer and the one that reads the
// terminal, and few others.
func TestWakeUpsOfAKey(t *testing.T) {
	const (
		terminals = 24 // each has goroutines of its own, whose eighths begin elsewhere
		keys      = 100
		every     = 8
		most      = 4
	)
	live := startServer(t, auth.ModeNone, t.TempDir())
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the runtime's sweeper wakes thousands of times
	runtime.GC()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var n uint64
	for range terminals {
		reply := live.post(t, t.Context(), "/session/s/pty", `{"cmd":["sh","-c","stty raw -echo; echo ready; exec cat"]}`)
		var made wire.Terminal
		if err := json.NewDecoder(reply.Body).Decode(&made); err != nil {
			t.Fatal(err)
		}
		k := dialKeys(t, live, made.ID)
		for range keys { // until all pools and stacks have what they need
			k.press('a')
		}
		before := scheduled()
		for i := range keys {
			k.press('a' + byte(i%26))
		}
		n += scheduled() - before
	}
	each := float64(every*n) / (terminals * keys)
	t.Logf("%.2f wake-ups of a key", each)
	if each > most {
		t.Errorf("%.2f wake-ups of a key, at most %d are wanted", each, most)
	}
}
