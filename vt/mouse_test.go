package vt

import (
	"errors"
	"strings"
	"testing"
)

func TestEncodeMouse(t *testing.T) {
	sgr := func(m Mouse) Modes { return Modes{Mouse: m, MouseEncoding: MouseEncodingSGR} }
	tests := []struct {
		name string
		e    MouseEvent
		m    Modes
		want string
	}{
		{"nobody asked", MouseEvent{}, Modes{}, ""},
		{"nobody asked, with an encoding", MouseEvent{Action: "move", Button: "none"},
			Modes{MouseEncoding: MouseEncodingSGR}, ""},
		{"click", MouseEvent{X: 4, Y: 2}, sgr(MouseNormal), "\x1b[<0;5;3M\x1b[<0;5;3m"},
		{"right press with keys", MouseEvent{X: 4, Y: 2, Button: "right", Action: "press",
			Mods: []string{"shift", "ctrl", "alt"}}, sgr(MouseAny), "\x1b[<30;5;3M"},
		{"release", MouseEvent{Button: "middle", Action: "release"}, sgr(MouseButton), "\x1b[<1;1;1m"},
		{"wheel", MouseEvent{Button: "wheel_down"}, sgr(MouseNormal), "\x1b[<65;1;1M"},
		{"a wheel is not released", MouseEvent{Button: "wheel_up", Action: "release"}, sgr(MouseNormal), ""},
		{"movement, not asked for", MouseEvent{Action: "move"}, sgr(MouseNormal), ""},
		{"drag", MouseEvent{Action: "move"}, sgr(MouseButton), "\x1b[<32;1;1M"},
		{"movement without a button, not asked for", MouseEvent{Action: "move", Button: "none"}, sgr(MouseButton), ""},
		{"movement without a button", MouseEvent{Action: "move", Button: "none"}, sgr(MouseAny), "\x1b[<35;1;1M"},
		{"X10", MouseEvent{X: 1, Y: 1, Button: "right", Mods: []string{"ctrl"}}, Modes{Mouse: MouseX10},
			"\x1b[M\"\"\""},
		{"X10 has no wheel", MouseEvent{Button: "wheel_up"}, Modes{Mouse: MouseX10}, ""},
		{"bytes", MouseEvent{X: 222, Y: 0, Mods: []string{"ctrl"}}, Modes{Mouse: MouseNormal},
			"\x1b[M0\xff!\x1b[M3\xff!"},
		{"too far for bytes", MouseEvent{X: 223}, Modes{Mouse: MouseNormal}, ""},
		{"UTF-8", MouseEvent{X: 223, Action: "press"}, Modes{Mouse: MouseNormal, MouseEncoding: MouseEncodingUTF8},
			"\x1b[M Ā!"},
		{"urxvt", MouseEvent{X: 500, Y: 9}, Modes{Mouse: MouseNormal, MouseEncoding: MouseEncodingURXVT},
			"\x1b[32;501;10M\x1b[35;501;10M"},
		{"pixels", MouseEvent{X: 2, Y: 1, Action: "press"},
			Modes{Mouse: MouseAny, MouseEncoding: MouseEncodingSGRPixels}, "\x1b[<0;25;30M"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := EncodeMouse(tt.e, tt.m); err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestEncodeMouseRefuses(t *testing.T) {
	for _, e := range []MouseEvent{{X: -1}, {Y: MaxSize}, {Button: "fourth"}, {Action: "drag"},
		{Mods: []string{"hyper"}}, {Button: "none"}, {Button: "none", Action: "press"}} {
		if got, err := EncodeMouse(e, Modes{Mouse: MouseAny}); !errors.Is(err, ErrBadMouse) || got != nil ||
			!strings.Contains(err.Error(), "allowed") {
			t.Errorf("%+v: got %q, %v", e, got, err)
		}
	}
}
