package pty

import (
	"testing"
	"time"
)

func TestDrain(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Unix(1000, 0).Add(d) }
	var d drainTimer
	if d.over(at(time.Hour)) {
		t.Error("over before the first read")
	}
	d.dry(at(0))
	if d.over(at(quietAfterExit-1)) || !d.over(at(quietAfterExit)) {
		t.Error("silence ends it too early or too late")
	}
	d.took(10, at(quietAfterExit/2))
	if d.over(at(quietAfterExit)) {
		t.Error("output does not prolong it")
	}
	for now := time.Duration(0); now < maxAfterExit; now += quietAfterExit / 2 {
		d.took(1, at(now))
	}
	if !d.over(at(maxAfterExit)) {
		t.Error("a talker keeps it open")
	}
	// A reader that is slow after the exit still gets all that the child wrote.
	var slow drainTimer
	slow.took(4096, at(0))
	if slow.over(at(time.Hour)) {
		t.Error("over although more of the child's output may be left")
	}
	slow.took(heldByKernel, at(time.Hour))
	if !slow.over(at(time.Hour)) {
		t.Error("a flood keeps it open")
	}
}
