package notify_test

import (
	"testing"

	"github.com/evertty/evertty/internal/notify"
)

// waits reports whether a wake-up waits, and takes it.
func waits(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestSignal: wake-ups that nobody received are one.
func TestSignal(t *testing.T) {
	s := notify.NewSignal()
	if waits(s) {
		t.Error("a new signal wakes")
	}
	s.Set()
	s.Set()
	if !waits(s) || waits(s) {
		t.Error("two wake-ups are not one")
	}
}

// TestNotifier: every watcher is woken, until it stops.
func TestNotifier(t *testing.T) {
	var n notify.Notifier
	n.Notify()
	a, stopA := n.Watch()
	b, stopB := n.Watch()
	if waits(a) || waits(b) {
		t.Error("woken by a change before it watched")
	}
	n.Notify()
	n.Notify()
	if !waits(a) || waits(a) || !waits(b) {
		t.Error("not woken once each")
	}
	stopA()
	n.Notify()
	if waits(a) || !waits(b) {
		t.Error("stop ends another watch")
	}
	stopB()
	n.Notify()
	if waits(b) {
		t.Error("woken after stop")
	}
}
