package pty_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/pty"
)

// TestNoLineIsCut: of lines as long as the terminal takes them, typed in one or more pieces and with all that edits a
// line, the program gets every byte; a longer one is refused before anything is typed.
func TestNoLineIsCut(t *testing.T) {
	a, b := func(n int) string { return strings.Repeat("a", n) }, func(n int) string { return strings.Repeat("b", n) }
	for name, c := range map[string]struct {
		stty  string
		typed []string
		lines []int // the length of each that the program gets; none: the last piece is refused
	}{
		"the longest":           {"", []string{a(4095) + "\n"}, []int{4095}},
		"one more":              {"", []string{a(4096) + "\n"}, nil},
		"without its end":       {"", []string{a(4096)}, nil},
		"two pieces":            {"", []string{a(4000), b(95) + "\n"}, []int{4095}},
		"two pieces, one more":  {"", []string{a(4000), b(96) + "\n"}, nil},
		"behind a short one":    {"", []string{"ab\n" + a(4096) + "\n"}, nil},
		"two of the longest":    {"", []string{a(4095) + "\n" + b(4095) + "\n"}, []int{4095, 4095}},
		"CR ends a line":        {"", []string{a(4000) + "\r" + b(4000) + "\r"}, []int{4000, 4000}},
		"CR does not":           {"-icrnl", []string{a(4000) + "\r" + b(95) + "\n"}, nil},
		"CR is nothing":         {"igncr", []string{a(4000) + "\r" + b(95) + "\n"}, []int{4095}},
		"EOF ends a line":       {"", []string{a(4000) + "\x04" + b(4095) + "\n"}, []int{8095}},
		"EOL ends a line":       {"eol x", []string{a(4000) + "x" + b(4095) + "\n"}, []int{8096}},
		"the line is killed":    {"", []string{a(4000) + "\x15" + b(4095) + "\n"}, []int{4095}},
		"characters are erased": {"", []string{a(4000) + strings.Repeat("\x7f", 100) + b(195) + "\n"}, []int{4095}},
		"long ones too": {"", []string{a(4000) + strings.Repeat("é", 47), strings.Repeat("\x7f", 47) +
			b(95) + "\n"}, []int{4095}},
		"a word is erased":          {"", []string{"one " + a(4000) + "  \x17" + b(4091) + "\n"}, []int{4095}},
		"with no such character":    {"kill undef", []string{a(4000) + "\x15" + b(95) + "\n"}, nil},
		"what is quoted":            {"", []string{a(4000) + "\x16\x15" + b(94) + "\n"}, []int{4095}},
		"a signal":                  {"", []string{a(4000), "\x03" + b(4095) + "\n"}, []int{4095}},
		"flow control":              {"", []string{a(4000) + "\x13\x11" + b(95) + "\n"}, []int{4095}},
		"a program that reads keys": {"-icanon", []string{a(6000) + "\n"}, []int{6000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, "bash", "-c", "trap : INT; stty -echo "+c.stty+"; echo ready; "+
				"while IFS= read -r x || [ $? -gt 128 ]; do echo \"got ${#x}.\"; done")
			s.expect("ready\r\n")
			for i, p := range c.typed {
				if i < len(c.typed)-1 || c.lines != nil {
					s.send(p)
					continue
				}
				n, err := s.Write(limited(t, patience), []byte(p))
				if _, ok := errors.AsType[*pty.LineTooLong](err); !ok || !errors.Is(err, pty.ErrLineTooLong) || n != 0 {
					t.Fatalf("%d bytes, %v", n, err)
				}
				s.send("\x15\nshort\n")
				s.expect("got 5.")
			}
			for _, n := range c.lines {
				s.expect(fmt.Sprintf("got %d.", n))
			}
		})
	}
}

// TestShortLinesAreNotCut: a program that reads lines slowly gets all of more lines than the terminal keeps.
func TestShortLinesAreNotCut(t *testing.T) {
	s := run(t, "bash", "-c", "stty -echo; echo ready; while read -r x && [ \"$x\" != end ]; do s=$((s+${#x}+1)); "+
		"((++n % 500)) || sleep 0.05; done; echo \"$n lines, $s bytes.\"")
	s.expect("ready\r\n")
	var all strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&all, "line %06d of the input that is longer than the buffer\n", i)
	}
	s.send(all.String() + "end\n")
	s.expect(fmt.Sprintf("2000 lines, %d bytes.", all.Len()))
}

// TestCheckFreshLine: a terminal that was just opened edits lines.
func TestCheckFreshLine(t *testing.T) {
	ok := strings.Repeat("a", pty.MaxLine)
	if err := pty.CheckFreshLine([]byte(ok + "\n" + ok + "\r" + ok)); err != nil {
		t.Error(err)
	}
	if err := pty.CheckFreshLine([]byte("a" + ok)); !errors.Is(err, pty.ErrLineTooLong) {
		t.Errorf("%v", err)
	}
}
