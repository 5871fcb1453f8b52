package vt

import "strconv"

// setModes implements SM, RM, DECSET and DECRST for all parameters.
func (x *executor) setModes(f function) {
	on := byte(f) == 'h'
	x.showModes(f)
	for i := range x.stream.Count() {
		if mode := x.stream.Param(i); f >= private {
			x.setPrivateMode(mode, on)
		} else if flag := x.modes.ansiFlag(mode); flag != nil {
			*flag = on
		}
	}
}

// showModes gives viewers the sequence at hand with the modes alone that they show and a
// snapshot restores.
func (x *executor) showModes(f function) {
	in := &x.stream
	head, show := "\x1b[", x.shownANSI
	if f >= private {
		head, show = "\x1b[?", x.shownPrivate
	}
	same := !in.parser.full
	text := []byte(head)
	for i := range in.Count() {
		mode := show(in.Param(i), byte(f) == 'h')
		same = same && mode == in.Param(i)
		if mode >= 0 {
			text = append(strconv.AppendInt(text, int64(mode), 10), ';')
		}
	}
	switch {
	case same:
	case len(text) == len(head):
		in.Cut()
	default:
		text[len(text)-1] = byte(f)
		in.Replace(text...)
	}
}

// hiddenMode stands for a mode that viewers do not get.
const hiddenMode = -1

// shownANSI is the mode of ECMA-48 that viewers get for one.
func (x *executor) shownANSI(mode int, _ bool) int {
	if x.modes.ansiFlag(mode) == nil {
		return hiddenMode
	}
	return mode
}

// shownPrivate is the DEC private mode that viewers get for one.
func (x *executor) shownPrivate(mode int, on bool) int {
	switch mode {
	case 1, 5, 6, 7, 9, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026:
		return mode
	case 1016:
		if x.cfg.Guest {
			return 1006
		}
		return mode
	case 2: // the other way is a VT52 (DECANM)
		if on {
			return mode
		}
	}
	return hiddenMode
}

// setPrivateMode implements DECSET and DECRST (xterm ctlseqs).
func (x *executor) setPrivateMode(mode int, on bool) {
	if x.modes.setPrivate(mode, on) {
		return
	}
	switch mode {
	case 2:
		if on { // DECANM designates ASCII
			x.charsets.DesignateAll(usASCII)
		}
	case 6:
		x.modes.Origin = on
		x.screen.MoveTo(0, 0, x.modes.Origin)
	case 47, 1047:
		x.setAlt(on)
	case 1048, 1049:
		if on {
			x.saveCursor()
		}
		if mode == 1049 {
			x.setAlt(on)
		}
		if !on {
			x.restoreCursor()
		}
	}
}

// saveCursor implements DECSC (VT510).
func (x *executor) saveCursor() {
	x.screen.Save(x.base(), &x.pen, &x.charsets, x.modes.Origin)
}

// restoreCursor implements DECRC (VT510).
func (x *executor) restoreCursor() {
	x.screen.Restore(x.base(), &x.pen, &x.charsets, x.modes.Origin)
	x.loseLink()
	x.penChanged()
}

// selectStyle is the style after DECSCUSR with parameter n, at least 0 (VT510). A style
// that does not exist only says whether the cursor blinks: odd ones do (xterm.js).
func (s CursorStyle) selectStyle(n int) CursorStyle {
	if n <= maxCursorStyle {
		return CursorStyle(n)
	}
	steady := (max(s, 1) + 1) &^ 1
	return steady - CursorStyle(n&1)
}

// maxCursorStyle is the last style that exists.
const maxCursorStyle = 6
