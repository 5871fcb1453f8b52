package terminal

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/evertty/evertty/vt"
)

// Match is text that a pattern was found in, and where in the output it was
// printed: behind Start and up to End. Where nobody knows, because it was printed
// long ago, both are a position at which it was shown already.
type Match struct {
	Text  string
	Start uint64
	End   uint64
}

const (
	// maxMatches is how many places of a line are looked at for one that counts.
	maxMatches = 1000
	// maxMatchText bounds the text of a match that is told, in bytes.
	maxMatchText = 32 << 10
)

// pattern finds text or a regular expression in lines.
type pattern struct {
	text []byte         // of text
	re   *regexp.Regexp // of regex
	// together: it may reach over the end of a line, so lines are looked at as one
	// text, each ended by LF.
	together bool
}

// newPattern compiles what to look for. Errors wrap ErrInvalid.
func newPattern(p string, regex bool) (*pattern, error) {
	if p == "" || len(p) > maxPattern {
		return nil, fmt.Errorf("%w: pattern has %d bytes: 1 to %d are allowed", ErrInvalid, len(p), maxPattern)
	}
	if !regex {
		return &pattern{text: []byte(p), together: strings.Contains(p, "\n")}, nil
	}
	re, err := regexp.Compile("(?m)" + p)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern: %v", ErrInvalid, err)
	}
	return &pattern{re: re, together: spansLines(p)}, nil
}

// spansLines tells whether somebody who wrote p means it to reach over the end of
// a line: it names LF, or a dot or class that has everything.
func spansLines(p string) bool {
	tree, err := syntax.Parse(p, syntax.Perl)
	return err == nil && namesLF(tree)
}

func namesLF(r *syntax.Regexp) bool {
	switch r.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		for _, c := range r.Rune {
			if c == '\n' {
				return true
			}
		}
	case syntax.OpCharClass:
		// [^x] has LF too, but is meant for the characters of a line; \s begins with TAB.
		for i := 0; i+1 < len(r.Rune); i += 2 {
			if r.Rune[i] == '\n' && r.Rune[i+1] == '\n' {
				return true
			}
		}
	}
	for _, s := range r.Sub {
		if namesLF(s) {
			return true
		}
	}
	return false
}

// sight is how a wait looks at text.
type sight struct {
	// since: only what was printed or changed behind it counts; nil: everything does.
	since *uint64
	base  uint64 // stands for positions that nobody knows
	echo  *echo  // what is the echo of input; nil: echo counts too
}

// find looks for a place in lines that counts.
func (s *sight) find(p *pattern, lines []vt.TextLine) (Match, bool) {
	if p.together {
		lines = []vt.TextLine{together(lines, false), together(lines, true)}
	}
	for _, l := range lines {
		if m, ok := s.findIn(p, l); ok {
			return m, true
		}
	}
	return Match{}, false
}

// together makes one text of lines, as they were printed or without the blanks at
// their ends: `$` matches before those too.
func together(lines []vt.TextLine, trimmed bool) (all vt.TextLine) {
	for _, l := range lines {
		text := l.Text
		if trimmed {
			text = bytes.TrimRight(text, " ")
		}
		all.Text = append(append(all.Text, text...), '\n')
		all.Offsets = append(append(all.Offsets, l.Offsets[:len(text)]...), 0)
	}
	return all
}

// findIn is find in one line. Blanks at its end that were printed count, and `$`
// matches before them too.
func (s *sight) findIn(p *pattern, l vt.TextLine) (Match, bool) {
	text := s.echo.mask(l)
	if m, ok := s.findText(p, l, text); ok {
		return m, true
	}
	if p.re == nil || p.together || !bytes.HasSuffix(text, []byte(" ")) {
		return Match{}, false
	}
	return s.findText(p, l, bytes.TrimRight(text, " "))
}

func (s *sight) findText(p *pattern, l vt.TextLine, text []byte) (Match, bool) {
	for _, at := range p.places(text) {
		if s.counts(l, text, at[0], at[1]) {
			return s.match(l, at[0], at[1]), true
		}
	}
	return Match{}, false
}

// places are where the pattern is found, as pairs of indexes.
func (p *pattern) places(text []byte) (found [][]int) {
	if p.re != nil {
		if !p.re.Match(text) {
			return nil // the usual case, which allocates nothing
		}
		return p.re.FindAllIndex(text, maxMatches)
	}
	for from := 0; len(found) < maxMatches; {
		i := bytes.Index(text[from:], p.text)
		if i < 0 {
			break
		}
		found = append(found, []int{from + i, from + i + len(p.text)})
		from += i + 1
	}
	return found
}

// counts tells whether text[i:j] is what the wait is for: with a position, a part
// of it was printed or changed behind that, or what stood behind it was erased.
// Echo alone never is.
func (s *sight) counts(l vt.TextLine, text []byte, i, j int) bool {
	shown := i == j
	for k := i; k < j; k++ {
		if text[k] == masked {
			continue
		}
		if shown = true; s.since != nil && l.Offsets[k] > *s.since {
			return true
		}
	}
	if s.since == nil {
		return shown
	}
	return shown && j == len(text) && l.ErasedAt > *s.since
}

// match is what is told of text[i:j].
func (s *sight) match(l vt.TextLine, i, j int) Match {
	m := Match{Text: string(l.Text[i:min(j, i+maxMatchText)])}
	known := false
	for k := i; k < j; k++ {
		at := l.Offsets[k]
		if at == 0 {
			m.Start, known = s.base, true
			continue
		}
		if before := at - min(at, 1); !known || before < m.Start {
			m.Start, known = before, true
		}
		m.End = max(m.End, at)
	}
	if j == len(l.Text) && m.End == 0 {
		m.End = l.ErasedAt
	}
	m.End = max(m.End, s.base)
	if !known {
		m.Start = m.End
	}
	return m
}
