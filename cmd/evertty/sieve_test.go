//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// evil are sequences that act on a user's terminal, stay there, or have it answer into the program.
var evil = []string{
	"\x1bP0;1|17/6c730a\x1b\\", "\x1b[?1061h", "\x1b[?2l", "\x1b[?38h", "\x1b[?1;1;0S", "\x1b[1$w", "\x1b[2$w",
	"\x1b[1;1;1;1#|", "\x1b[#R", "\x1b[#|", "\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1bZ",
	"\x05",
	"\x1b[>q", "\x1b]4;1;?\a", "\x1b]10;?\a", "\x1b]52;c;?\a", "\x1b]52;c;ZXZpbA==\a", "\x1b]50;?\a", "\x1bP$qm\x1b\\",
	"\x1bP+q544e\x1b\\", "\x1b[18t", "\x1b[21t", "\x1b[8;50;100t", "\x1b[?u", "\x1b[?4m", "\x1b[?1$p",
	"\x1b[1;1;1;1;1;1*y",
	"\x1b[0x", "\x1b[?996n", "\x1b[5i", "\x1b[1;2'z", "\x1b['|", "\x1b[61\"p", "\x1b G", "\x1b[?3h", "\x1b[?40h",
	"\x1b[?69h",
	"\x1b[?1001h", "\x1b[?1005h", "\x1b[?1015h", "\x1b[?1034h", "\x1b[?1036h", "\x1b[?1050h", "\x1b[?1060h", "\x1b[2h",
	"\x1b[12l",
	"\x1b[>4;2m", "\x1b[>2p", "\x1b[#P", "\x1b[>1t", "\x1b[1;1;1;1$r", "\x1b[2*x", "\x1b[80$|", "\x1b[$~", "\x1bl",
	"\x1bm",
	"\x1b%/G", "\x1b]46;/tmp/log\a", "\x1b]3;p=x\a", "\x1b]P1ff0000\x1b\\", "\x1b_Gi=1;AAAA\x1b\\", "\x1bPq#0~\x1b\\",
	"\x1bc", "\x1b[3J",
	"\u009b?2l", "\u009b?1;1;0S", "\u00900;1|17/6c730a\u009c", "\x1b[?1;2l\x1b[?38;1000h",
}

// through says which of them are in what was written to a terminal.
func through(written string) (found []string) {
	for _, s := range evil {
		if strings.Contains(written, s) {
			found = append(found, fmt.Sprintf("%q", s))
		}
	}
	return found
}

// TestNothingEvilReachesTheUsersTerminal: whatever verb shows what a program printed, on terminals of several sizes;
// the terminal is as it was then.
func TestNothingEvilReachesTheUsersTerminal(t *testing.T) {
	s := newFakeServer(t)
	text, err := json.Marshal("x" + strings.Join(evil, "-") + "end")
	if err != nil {
		t.Fatal(err)
	}
	cast := castFile(t, castHead+`[0, "o", `+string(text)+"]\n")
	plain := castFile(t, "x"+strings.Join(evil, "-")+"end")
	for _, cols := range []int{40, 50, 0} { // a terminal of no columns does not say its size
		for verb, args := range map[string][]string{"attach": {"attach", "t1"}, "play": {"play", cast, "--no-wait"},
			"render": {"render", "--cols", "40", "--format", "ansi", plain}} {
			u := knownOuter(t)
			before := u.frame()
			if cols > 0 {
				u.resize(cols, 8)
			} else {
				u.unsized()
			}
			code, _ := u.evertty(args...)
			if verb == "attach" {
				v := s.viewer()
				v.snapshot(40, 8, "x")
				u.sees("x")
				for _, in := range evil {
					v.data(in)
				}
				v.data("end")
				v.exit(0)
			}
			within(t, code, "the end")
			if verb != "render" {
				u.left()
			}
			if found := through(strings.ReplaceAll(u.written(), (&userColors{}).question(), "")); len(found) > 0 {
				t.Errorf("%s in %d columns: %s", verb, cols, found)
			}
			if d := leftBehind(before, u.frame()); d != "" && cols == 40 {
				t.Errorf("%s in %d columns: left behind: %s", verb, cols, d)
			}
		}
	}
}

// TestSieve: output of commands and raw recordings passes a terminal only as far as viewers get it, and JSON has no
// control that acts there; what is no terminal gets all as it is.
func TestSieve(t *testing.T) {
	u := knownOuter(t)
	for _, in := range append(evil, "é", "\xff", "\x1b[1mbold\r\n") {
		for i := range len(in) { // in pieces
			w := sieved(u.slave)
			_, _ = w.Write([]byte(in[:i]))
			if n, err := w.Write([]byte(in[i:])); err != nil || n != len(in)-i {
				t.Fatal(n, err)
			}
		}
		value, _ := json.Marshal(in)
		for i := range len(value) {
			w := terminalJSON(u.slave)
			_, _ = w.Write(value[:i])
			if n, err := w.Write(value[i:]); err != nil || n != len(value)-i {
				t.Fatal(n, err)
			}
		}
	}
	for _, in := range evil { // in pieces of two outputs
		for i := range len(in) {
			out, err := sievedBoth(u.slave, u.slave)
			_, _ = out.Write([]byte(in[:i]))
			_, _ = err.Write([]byte(in[i:]))
			_, _ = out.Write([]byte("\x18"))
		}
	}
	_, _ = u.slave.WriteString("all written")
	u.sees("all written")
	written := u.written()
	if found := through(written); len(found) > 0 || !strings.Contains(written, "\x1b[1mbold") ||
		!strings.Contains(written, `\u009b?2l`) {
		t.Errorf("%s got through", found)
	}
	var b bytes.Buffer
	for _, w := range []interface{ Write([]byte) (int, error) }{sieved(&b), terminalJSON(&b)} {
		b.Reset()
		if _, err := w.Write([]byte("\u009b?2l")); err != nil || b.String() != "\u009b?2l" {
			t.Errorf("%q, %v", b.String(), err)
		}
	}
}
