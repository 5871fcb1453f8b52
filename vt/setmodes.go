package vt

import "strconv"

// setModes implements SM, RM, DECSET and DECRST for all parameters.
func (t *Terminal) setModes(f function) {
	on := byte(f) == 'h'
	t.showModes(f)
	for i := range t.stream.Count() {
		if mode := t.stream.Param(i); f >= private {
			t.setPrivateMode(mode, on)
		} else {
			t.modes.setANSI(mode, on)
		}
	}
}

// showModes gives viewers the sequence at hand with the modes alone that they show and a
// snapshot restores.
func (t *Terminal) showModes(f function) {
	in := &t.stream
	show := shownANSI
	if f >= private {
		show = t.shownPrivate
	}
	same := !in.parser.full
	for i := 0; same && i < in.Count(); i++ {
		same = show(in.Param(i), byte(f) == 'h') == in.Param(i)
	}
	if same {
		return
	}
	var text []byte
	for i := range in.Count() {
		if mode := show(in.Param(i), byte(f) == 'h'); mode >= 0 {
			text = strconv.AppendInt(append(text, ';'), int64(mode), 10)
		}
	}
	if len(text) == 0 {
		in.Cut()
		return
	}
	head := "\x1b["
	if f >= private {
		head += "?"
	}
	in.Replace(append(append([]byte(head), text[1:]...), byte(f))...)
}

// hiddenMode stands for a mode that viewers do not get.
const hiddenMode = -1

// shownANSI is the mode of ECMA-48 that viewers get for one.
func shownANSI(mode int, _ bool) int {
	if mode == 4 || mode == 20 { // IRM, LNM
		return mode
	}
	return hiddenMode
}

// shownPrivate is the DEC private mode that viewers get for one.
func (t *Terminal) shownPrivate(mode int, on bool) int {
	switch mode {
	case 1, 5, 6, 7, 9, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026:
		return mode
	case 1016:
		if t.cfg.Guest {
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
func (t *Terminal) setPrivateMode(mode int, on bool) {
	if t.modes.setPrivate(mode, on) {
		return
	}
	switch mode {
	case 2:
		if on { // DECANM designates ASCII
			t.charsets.DesignateAll(usASCII)
		}
	case 6:
		t.modes.Origin = on
		t.screen.MoveTo(0, 0, t.modes.Origin)
	case 47, 1047:
		t.setAlt(on)
	case 1048:
		t.saveOrRestore(on)
	case 1049:
		if on {
			t.saveCursor()
		}
		if t.setAlt(on); !on {
			t.restoreCursor()
		}
	}
}

// saveCursor implements DECSC (VT510).
func (t *Terminal) saveCursor() {
	t.screen.Save(t.base(), &t.pen, &t.charsets, t.modes.Origin)
}

// restoreCursor implements DECRC (VT510).
func (t *Terminal) restoreCursor() {
	t.screen.Restore(t.base(), &t.pen, &t.charsets, t.modes.Origin)
	t.loseLink()
	t.penChanged()
}

func (t *Terminal) saveOrRestore(save bool) {
	if save {
		t.saveCursor()
	} else {
		t.restoreCursor()
	}
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
