package vt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// A script is one file of testdata/script: what a program prints and what the
// terminal is then. Lines that begin with # are comments; the first ones say
// the tested rule and where the rule comes from. Then come
//
//	size 20x6 | scrollback 100 | unicode 15-graphemes
//	uncut                        no snapshots: they cannot carry this state
//	in "…" | in "…" x1000        output of the program, the second form repeated
//	resize 30x6
//
// and, after some of these, a block that says what the terminal is at that
// point. A block is complete: what it does not mention is as in a new terminal,
// and no effect happened since the block before.
//
//	sb 2                         lines of history; up to 20, else the last 3, as
//	hist 0 "…" | hist+ 1 "…"     + continues the line above (autowrap)
//	row 0 "…" | row+ 1 "…"       rows of the active screen that are not blank
//	main 0 "…" | main+ 1 "…"     rows of the main screen while the other is shown
//	cursor X,Y [wrap]            from 0; wrap: the next character wraps first
//	saved X,Y [set=0] [style]    DECSC, of the active screen; "main saved" and
//	                             "hidden saved" of the one that is not shown
//	region T,B | main region T,B | tabs 4 8
//	on insert … | off autowrap | mouse button sgr | flags 5 (kitty keyboard)
//	pen [style] | sets 0BBB/1 (G0 to G3, then the invoked one) | style 4 (DECSCUSR)
//	invoked 0                    the set in force when that is not the invoked one
//	title "…" | icon "…" | cwd "…" | palette 3=#102030 | colours FG BG CURSOR
//	pending "…"                  the unfinished sequence
//	bell | notify "title" "body" | clipboard "c" "data" | prompt D 1
//	reply "…"                    everything the terminal answered
//	text "…"                     what viewers got, when it is not the input
//
// A row is text, and between < and > one of: a style (fg=1 bg=#102030 bold dim
// italic blink inverse invisible strike overline protected ul=curly uc=3
// link=URI id=ID), / for the default style, _5 for five erased cells, ^x for a
// base with its marks in one cell and ^^x in two. << is a less-than sign.
type script struct {
	name string
	cfg  vt.Config
	ops  []op
	// uncut scripts are about a state that a snapshot cannot carry; they say why.
	uncut bool
}

// op is one thing that happens: output, a new size, or a look at the terminal.
type op struct {
	in         string
	cols, rows int      // new size when not 0
	want       []string // the block when not nil
}

// scriptScrollback is the history of a script that does not say.
const scriptScrollback = 100

func loadScripts(t testing.TB) []*script {
	t.Helper()
	paths, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var out []*script
	for _, p := range paths {
		s, err := loadScript(p)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		out = append(out, s)
	}
	return out
}

func loadScript(path string) (*script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &script{
		name: strings.TrimSuffix(filepath.Base(path), ".txt"),
		cfg:  vt.Config{Scrollback: scriptScrollback},
	}
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := s.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(s.ops) == 0 || s.ops[len(s.ops)-1].want == nil {
		return nil, fmt.Errorf("ends without expectations")
	}
	return s, nil
}

func (s *script) line(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "size":
		_, err = fmt.Sscanf(rest, "%dx%d", &s.cfg.Cols, &s.cfg.Rows)
	case "scrollback":
		s.cfg.Scrollback, err = strconv.Atoi(rest)
	case "unicode":
		s.cfg.Unicode = vt.Unicode(rest)
	case "uncut":
		s.uncut = true
	case "in":
		var o op
		o.in, err = parseInput(rest)
		s.ops = append(s.ops, o)
	case "resize":
		var o op
		_, err = fmt.Sscanf(rest, "%dx%d", &o.cols, &o.rows)
		s.ops = append(s.ops, o)
	default:
		if len(s.ops) == 0 {
			return fmt.Errorf("%s before any input", word)
		}
		if last := &s.ops[len(s.ops)-1]; last.want == nil {
			s.ops = append(s.ops, op{})
		}
		last := &s.ops[len(s.ops)-1]
		last.want = append(last.want, line)
	}
	return err
}

// parseInput reads "…" or "…" xN.
func parseInput(s string) (string, error) {
	end := strings.LastIndexByte(s, '"')
	if len(s) < 2 || s[0] != '"' || end == 0 {
		return "", fmt.Errorf("%s is not quoted", s)
	}
	in, err := unquote(s[1:end])
	if times, ok := strings.CutPrefix(s[end+1:], " x"); ok && err == nil {
		var n int
		n, err = strconv.Atoi(times)
		in = strings.Repeat(in, n)
	}
	return in, err
}

// named are the controls that have a letter of their own behind a backslash.
const named = "\x1be\aa\bb\tt\nn\vv\ff\rr\\\\\"\""

// unquote reads \e, \xHH for a byte, \u{H…} for a character, and what quote writes.
func unquote(s string) (string, error) {
	var b []byte
	for s != "" {
		if s[0] != '\\' {
			b, s = append(b, s[0]), s[1:]
			continue
		}
		var err error
		if b, s, err = appendEscape(b, s[1:]); err != nil {
			return "", err
		}
	}
	return string(b), nil
}

// appendEscape reads what follows a backslash.
func appendEscape(b []byte, s string) (out []byte, rest string, err error) {
	if digits, after, ok := strings.Cut(s, "}"); ok && strings.HasPrefix(digits, "u{") {
		v, err := strconv.ParseUint(digits[2:], 16, 32)
		return utf8.AppendRune(b, rune(v)), after, err
	}
	if len(s) >= 3 && s[0] == 'x' {
		v, err := strconv.ParseUint(s[1:3], 16, 8)
		return append(b, byte(v)), s[3:], err
	}
	for i := 1; i < len(named) && s != ""; i += 2 {
		if named[i] == s[0] {
			return append(b, named[i-1]), s[1:], nil
		}
	}
	return b, s, fmt.Errorf("escape in \\%s is unknown", s)
}

// quote writes s as it stands in scripts: controls, marks and what has no shape
// as escapes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		at := strings.IndexRune(named, r)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case at >= 0 && at%2 == 0:
			b.WriteByte('\\')
			b.WriteByte(named[at+1])
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.In(r, unicode.M, unicode.Cc, unicode.Cf):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	b.WriteByte('"')
	return b.String()
}
