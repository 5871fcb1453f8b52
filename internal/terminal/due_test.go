package terminal

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestDue: a terminal is due once for any number of changes, and nobody looks at the others.
func TestDue(t *testing.T) {
	d := newDue()
	busy, quiet := &Terminal{ID: "busy"}, &Terminal{ID: "quiet"}
	busy.files.t, quiet.files.t = busy, quiet
	for range 3 {
		busy.raise(&busy.active, d)
	}
	if list := d.take(); len(list) != 1 || list[0] != busy {
		t.Errorf("due are %d", len(list))
	}
	busy.raise(&busy.active, d) // it was not cleared
	if list := d.take(); len(list) != 0 {
		t.Errorf("due again are %d", len(list))
	}
	busy.active.Store(false)
	busy.raise(&busy.active, d)
	if list := d.take(); len(list) != 1 {
		t.Errorf("after another change due are %d", len(list))
	}
}

// TestQuietServerSleeps: rounds begin at once, then an interval after a change, and never without one.
func TestQuietServerSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r, d := &Registry{ctx: ctx}, newDue()
		var rounds atomic.Int32
		go r.whenDue(d, time.Second, func() {
			rounds.Add(1)
			d.take()
		})
		synctest.Wait()
		for _, want := range []int32{1, 2} {
			time.Sleep(time.Hour)
			if rounds.Load() != want {
				t.Errorf("%d rounds, want %d", rounds.Load(), want)
			}
			d.add(&Terminal{})
			d.add(&Terminal{})
			time.Sleep(time.Second / 2)
			if rounds.Load() != want {
				t.Error("a round begins before the interval is over")
			}
		}
		stop()
		synctest.Wait()
	})
}
