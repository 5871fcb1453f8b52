package vt

// maxKitty is the depth of the keyboard stack of each screen. kitty drops the
// oldest entry when a program pushes more.
const maxKitty = 16

// kittyFlags are the progressive enhancements that exist (kitty keyboard
// protocol).
const kittyFlags = 0x1f

// pushKitty implements CSI > flags u: the flags in force until the pop.
func (x *executor) pushKitty(flags int) {
	s := x.screen
	if len(s.kitty) == maxKitty {
		s.kitty = append(s.kitty[:0], s.kitty[1:]...)
	}
	s.kitty = append(s.kitty, uint8(flags&kittyFlags))
	x.useKitty()
}

// popKitty implements CSI < n u. Beyond the last entry all is off.
func (x *executor) popKitty(n int) {
	s := x.screen
	s.kitty = s.kitty[:len(s.kitty)-min(n, len(s.kitty))]
	x.useKitty()
}

// changeKitty implements CSI = flags ; how u: 1 sets exactly the flags, 2 adds
// them, 3 takes them away.
func (x *executor) changeKitty(flags, how int) {
	now, change := x.modes.Kitty, uint8(flags&kittyFlags)
	switch how {
	case 1:
		x.setKitty(change)
	case 2:
		x.setKitty(now | change)
	case 3:
		x.setKitty(now &^ change)
	}
}

// setKitty changes the flags in force; the bottom of the stack is made by it.
func (x *executor) setKitty(flags uint8) {
	s := x.screen
	if len(s.kitty) == 0 {
		if flags == 0 {
			return
		}
		s.kitty = append(s.kitty, 0)
	}
	s.kitty[len(s.kitty)-1] = flags
	x.useKitty()
}

// useKitty brings the mode in line with the stack of the screen shown.
func (x *executor) useKitty() {
	x.modes.Kitty = 0
	if k := x.screen.kitty; len(k) > 0 {
		x.modes.Kitty = k[len(k)-1]
	}
}
