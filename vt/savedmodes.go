package vt

import (
	"fmt"
	"maps"
)

// savedModes is what XTSAVE (xterm ctlseqs, CSI ? Pm s) keeps: private modes by
// number. It holds only modes that the terminal has, so it stays small. nil is
// empty.
type savedModes map[int]bool

// saveModes implements XTSAVE.
func (x *executor) saveModes() {
	x.stream.Cut()
	for i := range x.stream.Count() {
		mode := x.stream.Param(i)
		if state := x.modes.reportPrivate(mode); CanSaveMode(mode) {
			if x.saved == nil {
				x.saved = savedModes{}
			}
			x.saved[mode] = state == modeSet
		}
	}
}

// restoreModes implements XTRESTORE (xterm ctlseqs, CSI ? Pm r). A mode that was
// never saved stays as it is. Viewers get DECSET and DECRST, because xterm.js
// saves no modes.
func (x *executor) restoreModes() {
	var text []byte
	for i := range x.stream.Count() {
		mode := x.stream.Param(i)
		on, ok := x.saved[mode]
		switch {
		case !ok:
		case on:
			text = fmt.Appendf(text, "\x1b[?%dh", mode)
		default:
			text = fmt.Appendf(text, "\x1b[?%dl", mode)
		}
	}
	x.expand(text)
}

// CanSaveMode reports whether XTSAVE keeps a private mode: one that programs can switch.
// 1048 is an action and no switch.
func CanSaveMode(mode int) bool {
	var m Modes
	state := m.reportPrivate(mode)
	return mode != 1048 && (state == modeSet || state == modeReset)
}

// Resume implements Engine.
func (t *Terminal) Resume(f *Frame) {
	t.modes.resume(f.Modes)
	t.labels.Resume(f)
	t.saved = maps.Clone(f.SavedModes)
}
