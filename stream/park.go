package stream

import (
	"cmp"
	"errors"
	"sync"
)

// Reasons why a hub cannot be parked now.
var (
	ErrWatched = errors.New("it is watched")
	ErrChanged = errors.New("it changed while its screen was written")
	ErrInexact = errors.New("a snapshot cannot carry all of its screen")
)

// parked takes the place of the engine of a parked hub.
type parked struct {
	once sync.Once
	make func(seq uint64) *Hub // see Hub.Park
	made *Hub                  // set by once
}

// Park drops the engine of a hub that nobody watches and whose state is that of shot. Stats, position and size stay, so
// lists read them as before; Memory becomes 0. Whatever else is called brings the engine back first, once for all who
// call: it takes that of the hub that remake returns, a new one without viewers in the state after seq bytes of output.
// remake runs without the hub's lock, and not at the same time as anything that writes to the hub. Errors: ErrWatched;
// ErrChanged, also once finished; ErrInexact.
func (h *Hub) Park(shot *SharedSnapshot, remake func(seq uint64) *Hub) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.parked != nil {
		return nil
	}
	if h.engine == nil || h.version != shot.version {
		return ErrChanged
	}
	if err := h.parkable(); err != nil {
		return err
	}
	h.park(remake)
	return nil
}

// RestoreParked is Restore of a hub that is parked at once. stats are those it had; seq is its position.
func RestoreParked(o Options, stats Stats, seq uint64, remake func(seq uint64) *Hub) *Hub {
	o.Config.Cols, o.Config.Rows = stats.Cols, stats.Rows
	h := newHub(o)
	h.seq, h.cols, h.rows = seq, stats.Cols, stats.Rows
	h.stats.Stats = stats
	h.published.stats, h.published.seq = stats, seq
	h.park(remake)
	return h
}

// park drops the engine. Who reconnects resumes from the journal as after a restart of the server. The hub's lock is
// held.
func (h *Hub) park(remake func(seq uint64) *Hub) {
	h.parked = &parked{make: remake}
	h.engine, h.effects = nil, nil
	h.resume.resizes = resizes{first: Size{Cols: h.cols, Rows: h.rows}, known: h.seq + 1}
	h.publishParked(true)
}

// Parkable reports whether Park would park a hub that is awake. Errors: ErrWatched while there is a viewer, hidden or
// not, or a caller of Watch; ErrInexact.
func (h *Hub) Parkable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.parkable()
}

// parkable is Parkable with the hub's lock held.
func (h *Hub) parkable() error {
	switch {
	case len(h.viewers.subs) > 0 || h.changes.Watched():
		return ErrWatched
	case h.engine != nil && !h.engine.Restorable():
		return ErrInexact
	}
	return nil
}

// Parked reports whether the engine is not in memory, see Park. It never waits.
func (h *Hub) Parked() bool {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	return h.published.parked
}

// Wake brings the engine of a parked hub back.
func (h *Hub) Wake() {
	if h.Parked() {
		h.lock()
		h.mu.Unlock()
	}
}

// lock locks mu with the engine in memory, unless the hub is finished.
func (h *Hub) lock() {
	h.mu.Lock()
	for h.parked != nil {
		p, seq := h.parked, h.seq
		h.mu.Unlock()
		p.once.Do(func() { p.made = p.make(seq) })
		h.mu.Lock()
		if h.parked == p {
			h.unpark(p.made)
		}
	}
}

// unpark takes the engine of a hub that was made for it. The hub's lock is held.
func (h *Hub) unpark(made *Hub) {
	h.parked = nil
	h.engine, h.effects = made.engine, made.effects
	h.connectEffects()
	h.workBefore = h.stats.Work - h.engine.Work()
	h.version++
	h.cols, h.rows = made.cols, made.rows
	h.stats.Cwd = cmp.Or(h.stats.Cwd, made.stats.Cwd)
	h.resume.resizes.first = Size{Cols: h.cols, Rows: h.rows}
	h.resume.widthTableChanged = h.resume.widthTableChanged || made.resume.widthTableChanged
	h.publishParked(false)
	h.publishStats()
}

// publishParked publishes whether the hub is parked. The hub's lock is held.
func (h *Hub) publishParked(is bool) {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	h.published.parked = is
	if is {
		h.published.stats.Memory = 0
	}
}
