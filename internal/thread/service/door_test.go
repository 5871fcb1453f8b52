package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/tests/polling"
)

// TestDoors: a deletion waits for who is inside, lets nobody in, and keeps nothing.
func TestDoors(t *testing.T) {
	var d doors
	leave, err := d.enter("a")
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.close(late, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("closed with somebody inside: %v", err)
	}
	closed := make(chan func())
	go func() {
		open, _ := d.close(t.Context(), "a")
		closed <- open
	}()
	leave()
	open := <-closed
	if _, err := d.enter("a"); !errors.Is(err, thread.ErrDeleting) {
		t.Errorf("entered a closed door: %v", err)
	}
	if other, err := d.enter("b"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	open()
	if !polling.Until(time.Minute, func() bool { leave, err = d.enter("a"); return err == nil }) {
		t.Fatal(err)
	}
	leave()
	if !polling.Until(time.Minute, func() bool { d.mu.Lock(); defer d.mu.Unlock(); return len(d.used) == 0 }) {
		t.Error("doors are kept")
	}
}
