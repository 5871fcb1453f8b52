package vt_test

import (
	"regexp"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// guestsGet are the sequences of docs/reference/sequences.md that reach a user's own terminal, by
// the names of vt.Sequences. An OSC that is cut at 20 bytes has been looked at by strings.
var guestsGet = regexp.MustCompile(`^(?:0[0-46-9a-f]|1[0-9a-f]|7f|8[458]|9c` +
	`|ESC (?:[=>78DEHMno\\]|#8|[()*+][0AB4C5RQKYE6ZH7=]|[-./].)` +
	"|CSI (?:[@A-IK-MPSTXZ`abd-gmrsu] .*|J [0-2].*|\\?[JK] [0-2].*|[hl](?: 4| 20)+" +
	`|\?[hl](?: (?:[15679]|25|45|47|66|100[02346]|104[789]|2004|2026))+|\?h.* 2(?: .*)?` +
	`| [@Aq] .*|!p .*|"q .*|'[}~] .*|[<=>]u .*)` +
	`|OSC "0*(?:[012]|4|7|8|10|11|12|104|110|111|112)(?:;.*)?"` +
	`)$`)

// FuzzGuest: whatever a program prints, the user's terminal gets sequences of the allow-list alone,
// no question, and shows the same.
func FuzzGuest(f *testing.F) {
	for _, s := range []string{"a\x1b[6nb\x1b[3b", "\x1bP0;1|17/6c\x1b\\\x1b[?1061;1000h\x1b[?2l",
		"\x1b]52;c;?\a\x1b]4;1;?;2;#fff\a",
		"\x1b[?1;1;0S\x1b[1$w\x1b_Gi=1\x1b\\\x1b^p\u009c", "\u0090$qm\u009c\u009b5i\u009d50;?\u009c",
		"\x1bc\x1b[3J日\x1b[3g\x05",
		"\x1b[1$\x1b[?10\x186h\x1b]2;a\x1bPq\x1b\\", "\x1b6\x1b9\x1b[1;1;2;2$z\x1b[?1s\x1b[?1r",
		"\x1b[?1016h\x1b[>4;2m\x1b[18t",
	} {
		f.Add([]byte(s), uint8(10), uint8(4), uint8(1))
		f.Add([]byte(s), uint8(40), uint8(9), uint8(7))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step uint8) {
		if len(in) > 4096 {
			return
		}
		c := vt.Config{Cols: int(cols)%60 + 1, Rows: int(rows)%16 + 1, Guest: true}
		program, text, _ := written(t, c, in, int(step)%64+1)
		for _, s := range vt.Sequences(text) {
			if !guestsGet.MatchString(s) {
				t.Fatalf("%q became %q with %s", in, text, s)
			}
		}
		if i := hidden.FindStringIndex(text); i != nil {
			t.Fatalf("%q became %q with %q", in, text, text[i[0]:i[1]])
		}
		person, _, asked := written(t, vt.Config{Cols: c.Cols, Rows: c.Rows}, []byte(text), len(text)+1)
		if asked != "" {
			t.Fatalf("%q became %q, answered by %q", in, text, asked)
		}
		want, got := snapshot.Text(program.Freeze(), 0), snapshot.Text(person.Freeze(), 0)
		if want != got {
			t.Fatalf("%q became %q: shows\n%s\nwant\n%s", in, text, got, want)
		}
	})
}

// hidden are heads of strings that never reach a user's terminal, whatever follows.
var hidden = regexp.MustCompile("\x1b[PX^_]|[\u0090\u0098\u009e\u009f]|(?:\x1b]|\u009d)0*(?:52|50);")
