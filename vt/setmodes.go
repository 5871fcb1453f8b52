package vt

// setModes implements SM, RM, DECSET and DECRST for all parameters.
func (c *core) setModes(f function) {
	on := byte(f) == 'h'
	for i := range c.stream.Count() {
		if mode := c.stream.Param(i); f >= private {
			c.setPrivateMode(mode, on)
		} else {
			c.modes.setANSI(mode, on)
		}
	}
}

// setPrivateMode implements DECSET and DECRST (xterm ctlseqs).
func (c *core) setPrivateMode(mode int, on bool) {
	if c.modes.setPrivate(mode, on) {
		return
	}
	switch mode {
	case 2:
		if on { // DECANM designates ASCII
			c.charsets.DesignateAll(usASCII)
		}
	case 6:
		c.modes.Origin = on
		c.cur.MoveTo(0, 0, c.modes.Origin)
	case 47, 1047:
		c.grid.setAlt(on)
	case 1048:
		c.saveOrRestore(on)
	case 1049:
		if on {
			c.saveCursor()
		}
		if c.grid.setAlt(on); !on {
			c.restoreCursor()
		}
	}
}

// saveCursor implements DECSC (VT510).
func (c *core) saveCursor() {
	c.cur.Save(c.base(), &c.pen, &c.charsets, c.modes.Origin)
}

// restoreCursor implements DECRC (VT510).
func (c *core) restoreCursor() {
	c.cur.Restore(c.base(), &c.pen, &c.charsets, c.modes.Origin)
	c.grid.loseLink()
	c.penChanged()
}

func (c *core) saveOrRestore(save bool) {
	if save {
		c.saveCursor()
	} else {
		c.restoreCursor()
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
