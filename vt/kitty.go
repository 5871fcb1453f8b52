package vt

// maxKitty is the depth of the keyboard stack of each screen. kitty drops the
// oldest entry when a program pushes more.
const maxKitty = 16

// kittyFlags are the progressive enhancements that exist (kitty keyboard
// protocol).
const kittyFlags = 0x1f

// pushKitty implements CSI > flags u: the flags in force until the pop.
func (t *Terminal) pushKitty(flags int) {
	s := t.screen
	if len(s.kitty) == maxKitty {
		s.kitty = append(s.kitty[:0], s.kitty[1:]...)
	}
	s.kitty = append(s.kitty, uint8(flags&kittyFlags))
	t.useKitty()
}

// popKitty implements CSI < n u. Beyond the last entry all is off.
func (t *Terminal) popKitty(n int) {
	s := t.screen
	s.kitty = s.kitty[:len(s.kitty)-min(n, len(s.kitty))]
	t.useKitty()
}

// changeKitty implements CSI = flags ; how u: 1 sets exactly the flags, 2 adds
// them, 3 takes them away.
func (t *Terminal) changeKitty(flags, how int) {
	now, change := t.modes.Kitty, uint8(flags&kittyFlags)
	switch how {
	case 1:
		t.setKitty(change)
	case 2:
		t.setKitty(now | change)
	case 3:
		t.setKitty(now &^ change)
	}
}

// setKitty changes the flags in force; the bottom of the stack is made by it.
func (t *Terminal) setKitty(flags uint8) {
	s := t.screen
	if len(s.kitty) == 0 {
		if flags == 0 {
			return
		}
		s.kitty = append(s.kitty, 0)
	}
	s.kitty[len(s.kitty)-1] = flags
	t.useKitty()
}

// useKitty brings the mode in line with the stack of the screen shown.
func (t *Terminal) useKitty() {
	t.modes.Kitty = 0
	if k := t.screen.kitty; len(k) > 0 {
		t.modes.Kitty = k[len(k)-1]
	}
}
