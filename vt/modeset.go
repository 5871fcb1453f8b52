package vt

// Numbers of the DEC private modes (VT510; xterm ctlseqs) that are a switch in
// Modes and nothing else.
func (m *Modes) flag(mode int) *bool {
	switch mode {
	case 1:
		return &m.AppCursor
	case 4:
		return &m.SmoothScroll
	case 5:
		return &m.ReverseVideo
	case 7:
		return &m.Autowrap
	case 18:
		return &m.PrintFormFeed
	case 19:
		return &m.PrintExtent
	case 42:
		return &m.NationalCharsets
	case 45:
		return &m.ReverseWrap
	case 60:
		return &m.CursorCoupling
	case 66:
		return &m.AppKeypad
	case 1004:
		return &m.FocusEvents
	case 2004:
		return &m.BracketedPaste
	case 2026:
		return &m.SyncOutput
	case 2031:
		return &m.ColorReports
	}
	return nil
}

var mouseModes = map[int]Mouse{9: MouseX10, 1000: MouseNormal, 1002: MouseButton, 1003: MouseAny}

// mouseEncodings are those xterm.js has; it ignores 1005 and 1015.
var mouseEncodings = map[int]MouseEncoding{1006: MouseEncodingSGR, 1016: MouseEncodingSGRPixels}

// reset is what RIS (ECMA-48 8.3.105) does in xterm.js, which forgets neither LNM
// nor that the cursor is hidden.
func (m *Modes) reset() {
	*m = Modes{Autowrap: true, Linefeed: m.Linefeed, CursorHidden: m.CursorHidden}
}

// softReset is what DECSTR (VT510) does in xterm.js.
func (m *Modes) softReset() {
	*m = Modes{ // these stay, the others are off
		Autowrap: true, Linefeed: m.Linefeed, ReverseVideo: m.ReverseVideo, ColorReports: m.ColorReports,
		AltScreen: m.AltScreen, Mouse: m.Mouse, MouseEncoding: m.MouseEncoding, Kitty: m.Kitty,
		SmoothScroll: m.SmoothScroll, PrintFormFeed: m.PrintFormFeed, PrintExtent: m.PrintExtent,
		CursorCoupling: m.CursorCoupling,
	}
}

// setANSI sets or resets a mode of ECMA-48 (8.3.125, 8.3.106).
func (m *Modes) setANSI(mode int, on bool) {
	switch mode {
	case 4:
		m.Insert = on
	case 20:
		m.Linefeed = on
	}
}

// setPrivate sets or resets a DEC private mode that changes nothing but m, and
// reports whether it is one of those.
func (m *Modes) setPrivate(mode int, on bool) bool {
	if f := m.flag(mode); f != nil {
		*f = on
		return true
	}
	if mouse, ok := mouseModes[mode]; ok {
		if m.Mouse = mouse; !on {
			m.Mouse = MouseNone
		}
		return true
	}
	if enc, ok := mouseEncodings[mode]; ok {
		if m.MouseEncoding = enc; !on {
			m.MouseEncoding = MouseEncodingDefault
		}
		return true
	}
	if mode == 25 {
		m.CursorHidden = !on
		return true
	}
	return false
}

// modeReport is the state of a mode in DECRPM (VT510).
type modeReport int

// The states of DECRPM.
const (
	modeUnknown modeReport = iota
	modeSet
	modeReset
	modeAlwaysSet
	modeNeverSet
)

func onOff(on bool) modeReport {
	if on {
		return modeSet
	}
	return modeReset
}

// reportANSI answers DECRQM for a mode of ECMA-48.
func (m *Modes) reportANSI(mode int) modeReport {
	switch mode {
	case 4:
		return onOff(m.Insert)
	case 12: // SRM
		return modeAlwaysSet
	case 20:
		return onOff(m.Linefeed)
	case 1, 2, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19:
		// GATM, KAM, SRTM, VEM, HEM, PUM, FEAM, FETM, MATM, TTM, SATM, TSM, EBM
		return modeNeverSet
	}
	return modeUnknown
}

// reportPrivate answers DECRQM for a DEC private mode.
func (m *Modes) reportPrivate(mode int) modeReport {
	if f := m.flag(mode); f != nil {
		return onOff(*f)
	}
	if mouse, ok := mouseModes[mode]; ok {
		return onOff(m.Mouse == mouse)
	}
	if enc, ok := mouseEncodings[mode]; ok {
		return onOff(m.MouseEncoding == enc)
	}
	switch mode {
	case 6:
		return onOff(m.Origin)
	case 8: // DECARM
		return modeAlwaysSet
	case 25:
		return onOff(!m.CursorHidden)
	case 3, 40, 67, 69, 1005, 1015: // DECCOLM and its permission, DECBKM, DECLRMM, mouse as UTF-8 and of urxvt
		return modeNeverSet
	case 47, 1047, 1049:
		return onOff(m.AltScreen)
	case 1048:
		return modeSet
	}
	return modeUnknown
}
