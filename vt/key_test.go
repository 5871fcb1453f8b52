package vt

import (
	"errors"
	"strings"
	"testing"
)

func TestEncodeKeys(t *testing.T) {
	app := Modes{AppCursor: true}
	kitty := func(flags uint8) Modes { return Modes{Kitty: flags, AppCursor: true} }
	tests := []struct {
		keys string // separated by spaces
		m    Modes
		want string
	}{
		{"Enter Tab BTab Escape Space BSpace", Modes{}, "\r\t\x1b[Z\x1b \x7f"},
		{"Up Down Right Left Home End", Modes{}, "\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F"},
		{"Up Down Right Left Home End", app, "\x1bOA\x1bOB\x1bOC\x1bOD\x1bOH\x1bOF"},
		{"Insert Delete PgUp PgDn", app, "\x1b[2~\x1b[3~\x1b[5~\x1b[6~"},
		{"F1 F2 F3 F4 F5 F6", Modes{}, "\x1bOP\x1bOQ\x1bOR\x1bOS\x1b[15~\x1b[17~"},
		{"F7 F8 F9 F10 F11 F12", Modes{}, "\x1b[18~\x1b[19~\x1b[20~\x1b[21~\x1b[23~\x1b[24~"},
		{"F13 F16 F17 F24", Modes{}, "\x1b[1;2P\x1b[1;2S\x1b[15;2~\x1b[24;2~"},
		{"S-Up M-Up C-Up C-M-S-Up", app, "\x1b[1;2A\x1b[1;3A\x1b[1;5A\x1b[1;8A"},
		{"S-PgUp C-Delete M-F5 C-F1 C-F13", Modes{}, "\x1b[5;2~\x1b[3;5~\x1b[15;3~\x1b[1;5P\x1b[1;6P"},
		{"a A é 日 - ~", Modes{}, "aAé日-~"},
		{"S-a S-é S-1", Modes{}, "AÉ1"},
		{"C-a C-Z C-[ C-\\ C-] C-^ C-_ C-@ C-?", Modes{}, "\x01\x1a\x1b\x1c\x1d\x1e\x1f\x00\x7f"},
		{"C-2 C-3 C-7 C-8 C-/ C-1", Modes{}, "\x00\x1b\x1f\x7f\x1f1"},
		{"C-Space M-Space C-BSpace M-BSpace", Modes{}, "\x00\x1b \b\x1b\x7f"},
		{"M-x M-X C-M-x M-C-x M-é C--", Modes{}, "\x1bx\x1bX\x1b\x18\x1b\x18\x1bé-"},
		{"M-Enter M-Escape M-Tab S-Tab C-Tab M-BTab", Modes{}, "\x1b\r\x1b\x1b\x1b\t\x1b[Z\t\x1b\x1b[Z"},
		{"text:C-a text: C-c", Modes{}, "C-a\x03"},
		{"enter UP f1", Modes{}, "\r\x1b[A\x1bOP"},

		{"PageUp PageDown PPage NPage DC IC Backspace Esc Return Del Ins", app,
			"\x1b[5~\x1b[6~\x1b[5~\x1b[6~\x1b[3~\x1b[2~\x7f\x1b\r\x1b[3~\x1b[2~"},
		{"C-PageUp S-DC M-Return", Modes{}, "\x1b[5;5~\x1b[3;2~\x1b\r"},
		{"KP0 KP9 KP. KP/ KP* KP- KP+ KP= KPEnter KPDivide kp5", Modes{}, "09./*-+=\r/5"},
		{"KP0 KP1 KP2 KP3 KP4 KP5 KP6 KP7 KP8 KP9", Modes{AppKeypad: true},
			"\x1bOp\x1bOq\x1bOr\x1bOs\x1bOt\x1bOu\x1bOv\x1bOw\x1bOx\x1bOy"},
		{"KP. KP/ KP* KP- KP+ KP= KPEnter", Modes{AppKeypad: true}, "\x1bOn\x1bOo\x1bOj\x1bOm\x1bOk\x1bOX\x1bOM"},
		{"M-KP5 C-KPEnter", Modes{AppKeypad: true}, "\x1b5\r"},
		{"KP5 KPEnter C-KP5", kitty(1), "5\x1b[57414u\x1b[57404;5u"},
		{"KP5 KPEnter", kitty(8 | 16), "\x1b[57404;;53u\x1b[57414u"},

		// kitty, disambiguate
		{"Escape Enter Tab BSpace Space a A", kitty(1), "\x1b[27u\r\t\x7f aA"},
		{"S-Enter C-Tab BTab M-BSpace C-Space", kitty(1), "\x1b[13;2u\x1b[9;5u\x1b[9;2u\x1b[127;3u\x1b[32;5u"},
		{"C-a M-a M-A C-M-a C-é", kitty(1), "\x1b[97;5u\x1b[97;3u\x1b[97;4u\x1b[97;7u\x1b[233;5u"},
		{"Up Home F1 F3 F4 F5 F13 S-F3 C-Up", kitty(1),
			"\x1b[A\x1b[H\x1b[P\x1b[13~\x1b[S\x1b[15~\x1b[57376u\x1b[13;2~\x1b[1;5A"},
		{"Escape Up", kitty(2), "\x1b\x1bOA"},
		// kitty, report all
		{"a A Enter Tab Space C-a", kitty(8), "\x1b[97u\x1b[97;2u\x1b[13u\x1b[9u\x1b[32u\x1b[97;5u"},
		{"a A C-a Enter", kitty(8 | 16), "\x1b[97;;97u\x1b[97;2;65u\x1b[97;5u\x1b[13u"},
		{"A a", kitty(8 | 4), "\x1b[97:65;2u\x1b[97u"},
		{"text:a", kitty(8), "a"},
	}
	for _, tt := range tests {
		t.Run(tt.keys, func(t *testing.T) {
			got, err := EncodeKeys(strings.Split(tt.keys, " "), tt.m)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestEncodeKeysRefuses(t *testing.T) {
	for _, name := range []string{"", "Entr", "F0", "F25", "F01", "F+1", "Fx", "C-", "C-foo", "X-a", "ab", "\x1b", "\n",
		"\u009b", "\xff", "C-M-"} {
		got, err := EncodeKeys([]string{"a", name}, Modes{})
		if !errors.Is(err, ErrUnknownKey) || got != nil {
			t.Errorf("%q: got %q, %v", name, got, err)
			continue
		}
		if !strings.Contains(err.Error(), "BSpace") {
			t.Errorf("%q: %v does not say what is allowed", name, err)
		}
	}
}

func TestEncodeKeysNone(t *testing.T) {
	if got, err := EncodeKeys(nil, Modes{}); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
}
