package terminal

import (
	"sync"

	"github.com/evertty/evertty/internal/descriptors"
)

// roundsAtOnce is how many terminals of one kind of rounds are at work where there are descriptors enough: most of
// the time is the sync of the disk, which serves a few as fast as one.
const roundsAtOnce = 8

// rounds does one kind of work for all terminals again and again. A round leaves out a terminal
// that is still at work since an earlier one, so that none waits for another. It is safe for
// concurrent use.
type rounds struct {
	slots chan struct{}
	busy  sync.Map // *Terminal
	due   *due     // that the next round looks at
}

func newRounds() *rounds {
	return &rounds{slots: make(chan struct{}, descriptors.WritesAtOnce(roundsAtOnce)), due: newDue()}
}

// do runs work for t in a goroutine of the registry's lifetime, and waits until it has begun. While t is at work it is
// left to the next round; nothing is done when the server closes.
func (r *rounds) do(t *Terminal, work func()) {
	if _, busy := r.busy.LoadOrStore(t, nil); busy {
		r.due.add(t)
		return
	}
	select {
	case r.slots <- struct{}{}:
	case <-t.registry.ctx.Done():
		return
	}
	t.registry.life.Go(func() {
		defer func() { <-r.slots }()
		defer r.busy.Delete(t)
		work()
	})
}
