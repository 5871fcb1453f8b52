package vt

// flag is the switch in Modes of a DEC private mode (VT510; xterm ctlseqs) that is one and nothing
// else, nil for others.
func (m *Modes) flag(mode int) *bool {
	for _, f := range [...]struct {
		mode int
		on   *bool
	}{
		{1, &m.AppCursor}, {2026, &m.SyncOutput}, {7, &m.Autowrap}, {2004, &m.BracketedPaste}, {5, &m.ReverseVideo},
		{45, &m.ReverseWrap}, {66, &m.AppKeypad}, {1004, &m.FocusEvents}, {4, &m.SmoothScroll},
		{18, &m.PrintFormFeed}, {19, &m.PrintExtent}, {42, &m.NationalCharsets}, {60, &m.CursorCoupling},
		{2031, &m.ColorReports},
	} {
		if f.mode == mode {
			return f.on
		}
	}
	return nil
}

// ansiFlag is flag for a mode of ECMA-48.
func (m *Modes) ansiFlag(mode int) *bool {
	switch mode {
	case 4: // IRM
		return &m.Insert
	case 20: // LNM
		return &m.Linefeed
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

// setPrivate sets or resets a DEC private mode that changes nothing but m, and
// reports whether it is one of those.
func (m *Modes) setPrivate(mode int, on bool) bool {
	if mode == 25 {
		m.CursorHidden = !on
		return true
	}
	if f := m.flag(mode); f != nil {
		*f = on
		return true
	}
	mouse, tracks := mouseModes[mode]
	encoding, encodes := mouseEncodings[mode]
	if !on {
		mouse, encoding = MouseNone, MouseEncodingDefault
	}
	switch {
	case tracks:
		m.Mouse = mouse
	case encodes:
		m.MouseEncoding = encoding
	}
	return tracks || encodes
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

// ansiReports are the answers to DECRQM for modes of ECMA-48 that never change: SRM is set, and GATM,
// KAM, SRTM, VEM, HEM, PUM, FEAM, FETM, MATM, TTM, SATM, TSM and EBM are not.
var ansiReports = map[int]modeReport{
	12: modeAlwaysSet,
	1:  modeNeverSet, 2: modeNeverSet, 5: modeNeverSet, 7: modeNeverSet, 10: modeNeverSet, 11: modeNeverSet,
	13: modeNeverSet, 14: modeNeverSet, 15: modeNeverSet, 16: modeNeverSet, 17: modeNeverSet, 18: modeNeverSet,
	19: modeNeverSet,
}

// privateReports are those for DEC private modes: DECARM is set; DECCOLM and its permission, DECBKM,
// DECLRMM, the mouse as UTF-8 and of urxvt are not.
var privateReports = map[int]modeReport{
	8: modeAlwaysSet, 1048: modeSet,
	3: modeNeverSet, 40: modeNeverSet, 67: modeNeverSet, 69: modeNeverSet, 1005: modeNeverSet, 1015: modeNeverSet,
}

// reportANSI answers DECRQM for a mode of ECMA-48.
func (m *Modes) reportANSI(mode int) modeReport {
	if f := m.ansiFlag(mode); f != nil {
		return onOff(*f)
	}
	return ansiReports[mode]
}

// reportPrivate answers DECRQM for a DEC private mode.
func (m *Modes) reportPrivate(mode int) modeReport {
	if f := m.flag(mode); f != nil {
		return onOff(*f)
	}
	if mouse, ok := mouseModes[mode]; ok {
		return onOff(m.Mouse == mouse)
	}
	if encoding, ok := mouseEncodings[mode]; ok {
		return onOff(m.MouseEncoding == encoding)
	}
	switch mode {
	case 6:
		return onOff(m.Origin)
	case 25:
		return onOff(!m.CursorHidden)
	case 47, 1047, 1049:
		return onOff(m.AltScreen)
	}
	return privateReports[mode]
}
