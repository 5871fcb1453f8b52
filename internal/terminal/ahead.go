package terminal

import "sync"

// aheadMax is how many pieces of a flood, of floodBuffer each, may be in the journal and not on the screen: while the
// emulator works on one the next is read. More would make a program faster for a moment only, and what ^C changes
// would be seen behind them.
const aheadMax = 2

// ahead are the pieces of a flood that the journal has and the screen has not, in order. A goroutine shows them; it lives
// while there are any. The zero value is empty. put and settle have one caller at a time, the reader of the terminal.
type ahead struct {
	mu      sync.Mutex
	changed sync.Cond // of len(pieces); L is set with the first piece
	pieces  []piece   // the first one is being shown
}

// piece is output that the journal has.
type piece struct {
	data  []byte
	buf   *[floodBuffer]byte // data is in it
	group int                // process group in the foreground when data was read; 0: unknown
}

// put has a piece shown by work, a goroutine that calls show, behind those before it. It waits while aheadMax are there.
func (a *ahead) put(x piece, work func(func()) bool, show func(piece)) {
	a.mu.Lock()
	a.changed.L = &a.mu
	for len(a.pieces) >= aheadMax {
		a.changed.Wait()
	}
	a.pieces = append(a.pieces, x)
	first := len(a.pieces) == 1
	a.mu.Unlock()
	if first && !work(func() { a.run(show) }) {
		a.run(show) // the server ends
	}
}

// settle waits until all pieces are shown.
func (a *ahead) settle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pieces) > 0 {
		a.changed.Wait()
	}
}

func (a *ahead) run(show func(piece)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pieces) > 0 {
		x := a.pieces[0]
		a.mu.Unlock()
		show(x)
		a.mu.Lock()
		a.pieces = append(a.pieces[:0], a.pieces[1:]...)
		a.changed.Signal()
	}
}
