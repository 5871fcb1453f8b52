package keeper_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLeavesInTheMiddle: a server that leaves while answers wait for it, and while requests of its wait, makes room for
// the next.
func TestLeavesInTheMiddle(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	pid := c.PID()
	start(t, c, "x", shell(p.dir, "cat"))
	_ = c.Close()
	before := 0
	for i := range 40 {
		r := p.dial()
		if i == 1 {
			before = fds(t, pid)
		}
		for n := range i * 5 {
			r.say(fmt.Sprintf(`{"op":"take","n":%d}`, n+1))
		}
		r.leave()
	}
	for range 5 { // with both directions full
		r := p.dial()
		limit := unix.NsecToTimeval(int64(20 * time.Millisecond))
		if err := unix.SetsockoptTimeval(r.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
			t.Fatal(err)
		}
		for n := 1; ; n++ {
			err := again(func() error {
				return unix.Sendmsg(r.fd, fmt.Appendf(nil, `{"op":"take","n":%d}`, n), nil, nil, unix.MSG_NOSIGNAL)
			})
			if err == unix.EAGAIN {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.leave()
	}
	r := p.dial()
	if !poll(func() bool { return fds(t, pid) == before }) {
		t.Errorf("the keeper has %d descriptors, had %d", fds(t, pid), before)
	}
	r.leave()
}
