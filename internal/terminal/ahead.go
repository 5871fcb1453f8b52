package terminal

// ahead is the piece of a flood that the journal has and the screen has not: while the emulator works on it, the
// reader of the terminal reads the next one. It holds one value meanwhile. More pieces would make no flood faster,
// and what ^C changes would be seen behind them.
type ahead chan struct{}

func newAhead() ahead { return make(ahead, 1) }

// put has show called by a goroutine that work starts; where it starts none, by this one. It waits for the piece
// before.
func (a ahead) put(work func(func()) bool, show func()) {
	a <- struct{}{}
	do := func() {
		defer func() { <-a }()
		show()
	}
	if !work(do) {
		do() // the server ends
	}
}

// settle waits until the piece is shown.
func (a ahead) settle() {
	a <- struct{}{}
	<-a
}
