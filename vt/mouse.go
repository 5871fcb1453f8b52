package vt

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// ErrBadMouse is returned by EncodeMouse for an event that no mouse makes.
var ErrBadMouse = errors.New("not a mouse event")

// MouseEvent is what a mouse does in a cell.
type MouseEvent struct {
	X int `json:"x"` // column, from 0
	Y int `json:"y"` // row, from 0
	// Button is left, middle, right, wheel_up, wheel_down, wheel_left, wheel_right,
	// or none for a movement without one; "" is left.
	Button string `json:"button,omitempty"`
	// Action is press, release, move, or click, which is a press and a release;
	// "" is click. A wheel is only pressed, and a click of it is one step.
	Action string `json:"action,omitempty"`
	// Mods are the keys that are held: shift, alt, ctrl.
	Mods []string `json:"mods,omitempty"`
}

// Codes of buttons and keys in a report (xterm ctlseqs, Mouse Tracking).
const (
	mouseRelease = 3  // any button, but in the encodings that say which
	mouseNone    = 3  // a movement without a button
	mouseMotion  = 32 // added for a movement
	mouseWheel   = 64 // the first wheel button
)

var mouseButtons = map[string]int{"": 0, "left": 0, "middle": 1, "right": 2, "none": mouseNone,
	"wheel_up": mouseWheel, "wheel_down": mouseWheel + 1, "wheel_left": mouseWheel + 2, "wheel_right": mouseWheel + 3}

var mouseMods = map[string]int{"shift": 4, "alt": 8, "meta": 8, "ctrl": 16}

// EncodeMouse returns the bytes that e sends to a program in modes m: what its
// tracking mode reports, in the encoding it asked for (xterm ctlseqs, Mouse
// Tracking). They are none when it asked for no mouse, or not for such events, or
// when the encoding cannot say so large a position. The position is inside a
// screen of MaxSize columns and rows; for programs that asked for pixels (?1016)
// it is the middle of a cell of 10 by 20 pixels. Errors wrap ErrBadMouse.
func EncodeMouse(e MouseEvent, m Modes) ([]byte, error) {
	code, known := mouseButtons[e.Button]
	switch {
	case e.X < 0 || e.Y < 0 || e.X >= MaxSize || e.Y >= MaxSize:
		return nil, fmt.Errorf("vt: %w: x %d, y %d: 0 to %d are allowed", ErrBadMouse, e.X, e.Y, MaxSize-1)
	case !known:
		return nil, fmt.Errorf("vt: %w: button %q: left, middle, right, wheel_up, wheel_down, "+
			"wheel_left, wheel_right and none are allowed", ErrBadMouse, e.Button)
	case code == mouseNone && e.Action != "move":
		return nil, fmt.Errorf("vt: %w: action %q: with the button none only move is allowed", ErrBadMouse, e.Action)
	}
	mods := 0
	for _, name := range e.Mods {
		mod, ok := mouseMods[name]
		if !ok {
			return nil, fmt.Errorf("vt: %w: mods %q: shift, alt, meta and ctrl are allowed", ErrBadMouse, name)
		}
		mods |= mod
	}
	p := pointer{x: e.X, y: e.Y, button: code, mods: mods, modes: m}
	switch e.Action {
	case "", "click":
		return p.release(p.press(nil)), nil
	case "press":
		return p.press(nil), nil
	case "release":
		return p.release(nil), nil
	case "move":
		return p.move(nil), nil
	}
	return nil, fmt.Errorf("vt: %w: action %q: press, release, move and click are allowed", ErrBadMouse, e.Action)
}

// pointer is a mouse: where it is, and the button and keys that are held.
type pointer struct {
	x, y, button, mods int
	modes              Modes
}

func (p pointer) wheel() bool { return p.button >= mouseWheel }

func (p pointer) press(b []byte) []byte {
	switch {
	case p.modes.Mouse == MouseNone, p.modes.Mouse == MouseX10 && p.wheel():
		return b
	case p.modes.Mouse == MouseX10:
		p.mods = 0 // X10 compatibility mode knows no keys
	}
	return p.report(b, p.button, false)
}

func (p pointer) release(b []byte) []byte {
	if p.modes.Mouse < MouseNormal || p.wheel() {
		return b
	}
	return p.report(b, p.button, true)
}

func (p pointer) move(b []byte) []byte {
	held := p.button < mouseNone
	if p.wheel() || p.modes.Mouse < MouseButton || p.modes.Mouse == MouseButton && !held {
		return b
	}
	return p.report(b, p.button+mouseMotion, false)
}

// report encodes one event.
func (p pointer) report(b []byte, code int, released bool) []byte {
	x, y := p.x+1, p.y+1
	switch p.modes.MouseEncoding {
	case MouseEncodingSGRPixels:
		x, y = p.x*CellWidth+CellWidth/2, p.y*CellHeight+CellHeight/2
		fallthrough
	case MouseEncodingSGR:
		final := byte('M')
		if released {
			final = 'm'
		}
		return appendMouse(append(b, "\x1b[<"...), code|p.mods, x, y, final)
	}
	if released {
		code = code&^mouseNone | mouseRelease
	}
	code = (code | p.mods) + ' '
	switch p.modes.MouseEncoding {
	case MouseEncodingURXVT:
		return appendMouse(append(b, "\x1b["...), code, x, y, 'M')
	case MouseEncodingUTF8:
		b = append(b, "\x1b[M"...)
		for _, v := range [...]int{code, x + ' ', y + ' '} {
			b = utf8.AppendRune(b, rune(v))
		}
		return b
	}
	const last = 255 - ' ' // a position is one byte
	if x > last || y > last {
		return b
	}
	return append(append(b, "\x1b[M"...), byte(code), byte(x+' '), byte(y+' '))
}

func appendMouse(b []byte, code, x, y int, final byte) []byte {
	b = append(strconv.AppendInt(b, int64(code), 10), ';')
	b = append(strconv.AppendInt(b, int64(x), 10), ';')
	return append(strconv.AppendInt(b, int64(y), 10), final)
}
