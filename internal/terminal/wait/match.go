package wait

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

const (
	// maxMatches is how many places of a line are looked at for one that counts.
	maxMatches = 1000
	// maxMatchText bounds the text of a match, in bytes.
	maxMatchText = 32 << 10
	// maxInstructions bounds the regular expressions of a wait in all, in instructions of their programs: each
	// character may need all of them, some 10 ns each.
	maxInstructions = 10_000
	// maxUnwatched is how many instructions are executed without a look at the clock, and before others go first, at
	// most: some 1 ms.
	maxUnwatched = 1 << 17
	// watchEvery is the number of characters between two looks at the clock.
	watchEvery = 16
)

// pattern finds text or a regular expression in lines.
type pattern struct {
	text []byte         // of text
	re   *regexp.Regexp // of regex
	next *regexp.Regexp // of regex: its group 1 is the first match behind a character at the start
	size int            // of regex: instructions, about
	// multiline: it may match across the end of a line, so lines are looked at as one
	// text, each ended by LF.
	multiline bool
}

// newPattern compiles what to look for. Errors: terminal.ErrInvalid.
func newPattern(p string, regex bool) (*pattern, error) {
	if err := checkPattern(p); err != nil {
		return nil, err
	}
	if !regex {
		return &pattern{text: []byte(p), multiline: strings.Contains(p, "\n")}, nil
	}
	tree, err := syntax.Parse("(?m)"+p, syntax.Perl)
	if err != nil {
		return nil, invalid("pattern: %v", err)
	}
	found := &pattern{size: instructions(tree), multiline: namesLF(tree)}
	if found.size > maxInstructions { // compiling it would take long
		return found, nil
	}
	if found.re, err = regexp.Compile("(?m)" + p); err == nil {
		found.next, err = regexp.Compile(`\A(?s:.+?)(` + tree.String() + ")")
	}
	if err != nil {
		return nil, invalid("pattern: %v", err)
	}
	return found, nil
}

// instructions is about how many instructions a regular expression needs, a few more rather than fewer.
func instructions(r *syntax.Regexp) int {
	n := 1
	if r.Op == syntax.OpLiteral {
		n = len(r.Rune)
	}
	for _, sub := range r.Sub {
		n += instructions(sub)
	}
	if r.Op == syntax.OpRepeat {
		n *= max(r.Min, r.Max, 1)
	}
	return n
}

// namesLF reports whether the author of a regular expression means it to match across the
// end of a line: it names LF, or has a dot or class that matches everything.
func namesLF(r *syntax.Regexp) bool {
	switch r.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		if slices.Contains(r.Rune, '\n') {
			return true
		}
	case syntax.OpCharClass:
		// [^x] has LF too, but is meant for the characters of a line; \s begins with TAB.
		for limits := range slices.Chunk(r.Rune, 2) {
			if limits[0] == '\n' && limits[1] == '\n' {
				return true
			}
		}
	}
	return slices.ContainsFunc(r.Sub, namesLF)
}

// finder finds patterns in lines, with the rules of one wait for what counts.
type finder struct {
	since *uint64         // only text printed or changed after it counts; nil: all text
	base  uint64          // stands for unknown positions: where the wait began
	echo  *echo.Filter    // its echo does not count; nil: echo counts
	until time.Time       // then it looks no further: a line can take seconds; zero: never
	gone  <-chan struct{} // closed when nobody waits any more, which ends it too
	yield func()          // lets others go first during long work; nil: there are none
	work  int             // instructions since yield, of lines that were looked at as a whole
}

// over reports whether the finder has to look no further.
func (f *finder) over() bool {
	select {
	case <-f.gone:
		return true
	default:
		return !f.until.IsZero() && time.Now().After(f.until)
	}
}

// find looks for a match in lines that counts.
func (f *finder) find(p *pattern, lines []vt.TextLine) (wire.Match, bool) {
	if p.multiline {
		lines = []vt.TextLine{joinLines(lines, false), joinLines(lines, true)}
	}
	for _, l := range lines {
		if m, ok := f.findIn(p, l); ok {
			return m, true
		}
	}
	return wire.Match{}, false
}

// joinLines makes one text of lines, as they were printed or without the blanks at their
// ends: `$` matches before those too. LF has no position; where no line has one the text has none.
func joinLines(lines []vt.TextLine, trimmed bool) (all vt.TextLine) {
	for _, l := range lines {
		text := l.Text
		if trimmed {
			text = bytes.TrimRight(text, " ")
		}
		if l.Offsets != nil {
			unknown := len(all.Text) - len(all.Offsets) // of the lines before that have none
			all.Offsets = append(append(all.Offsets, make([]uint64, unknown)...), l.Offsets[:len(text)]...)
		}
		all.Text = append(append(all.Text, text...), '\n')
	}
	return all
}

// offset is the position behind the character at index k, 0 when it has none.
func offset(l vt.TextLine, k int) uint64 {
	if k < len(l.Offsets) {
		return l.Offsets[k]
	}
	return 0
}

// findIn is find in one line. Blanks at its end that were printed count, and `$`
// matches before them too.
func (f *finder) findIn(p *pattern, l vt.TextLine) (wire.Match, bool) {
	if f.over() {
		return wire.Match{}, false
	}
	text := f.echo.Mask(l)
	if m, ok := f.findText(p, l, text); ok {
		return m, true
	}
	if p.re == nil || p.multiline || !bytes.HasSuffix(text, []byte(" ")) {
		return wire.Match{}, false
	}
	return f.findText(p, l, bytes.TrimRight(text, " "))
}

func (f *finder) findText(p *pattern, l vt.TextLine, text []byte) (wire.Match, bool) {
	for _, at := range f.places(p, text) {
		if f.counts(l, text, at[0], at[1]) {
			return f.match(l, at[0], at[1]), true
		}
	}
	return wire.Match{}, false
}

// places returns where the pattern matches, as pairs of indexes. Matches of text may
// overlap: of two, the later one may be the one that counts.
func (f *finder) places(p *pattern, text []byte) (found [][]int) {
	if p.re != nil {
		return f.matches(p, text)
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

// matches is places of a regular expression. Each match may read all that is left.
func (f *finder) matches(p *pattern, text []byte) (found [][]int) {
	work := len(text) * p.size
	if f.work += min(work, maxUnwatched); f.work > maxUnwatched && f.yield != nil {
		f.work = 0
		f.yield()
	}
	switch {
	case work <= maxUnwatched && !p.re.Match(text):
		return nil // the usual case, which allocates nothing
	case work*len(text) <= maxUnwatched:
		return p.re.FindAllIndex(text, maxMatches)
	}
	return f.searchAll(p, text)
}

// searchAll is p.re.FindAllIndex of maxMatches that ends when the time is over.
func (f *finder) searchAll(p *pattern, text []byte) (found [][]int) {
	for from, end := 0, -1; from <= len(text) && len(found) < maxMatches; {
		at := f.search(p, text, from)
		if at == nil {
			break
		}
		if at[0] < at[1] || at[0] != end { // an empty match behind another one is none
			found = append(found, at)
		}
		if from, end = at[1], at[1]; at[0] == at[1] {
			_, size := utf8.DecodeRune(text[from:])
			from += max(size, 1)
		}
	}
	return found
}

// search returns the first match at index from or behind it, nil when there is none or the time is over first.
func (f *finder) search(p *pattern, text []byte, from int) (at []int) {
	r := runes{finder: f, text: text}
	if from == 0 {
		at = p.re.FindReaderIndex(&r)
	} else {
		_, before := utf8.DecodeLastRune(text[:from]) // which ^ and \b look at
		r.at = from - before
		begin := r.at
		if group := p.next.FindReaderSubmatchIndex(&r); group != nil {
			at = []int{begin + group[2], begin + group[3]}
		}
	}
	if r.over {
		return nil // $ may have matched where the reading ended
	}
	return at
}

// runes reads text for a finder, at most until its time is over.
type runes struct {
	finder *finder
	text   []byte
	at     int
	read   int // characters
	over   bool
}

// ReadRune implements io.RuneReader.
func (r *runes) ReadRune() (c rune, size int, err error) {
	if r.read++; r.read%watchEvery == 0 {
		if r.over = r.over || r.finder.over(); r.finder.yield != nil {
			r.finder.yield()
		}
	}
	if r.over || r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text[r.at:])
	r.at += size
	return c, size, nil
}

// counts reports whether text[i:j] is more than echo, and with since, whether a part of it was
// printed or changed after that, or what followed it on the line was erased after that.
func (f *finder) counts(l vt.TextLine, text []byte, i, j int) bool {
	shown := i == j
	for k := i; k < j; k++ {
		if text[k] == echo.Masked {
			continue
		}
		if shown = true; f.since != nil && offset(l, k) > *f.since {
			return true
		}
	}
	if f.since == nil {
		return shown
	}
	return shown && j == len(text) && l.ErasedAt > *f.since
}

// match is the text l.Text[i:j] and where it was printed. Where that is too long ago to know, both
// positions are the base.
func (f *finder) match(l vt.TextLine, i, j int) wire.Match {
	m := wire.Match{Text: string(l.Text[i:min(j, i+maxMatchText)]), StartSeq: math.MaxUint64}
	for k := i; k < j; k++ {
		if l.Text[k] == '\n' {
			continue // of joinLines
		}
		at, before := f.base, f.base
		if known := offset(l, k); known > 0 {
			at, before = known, known-1
		}
		m.StartSeq, m.EndSeq = min(m.StartSeq, before), max(m.EndSeq, at)
	}
	if f.since != nil && m.EndSeq <= *f.since {
		m.EndSeq = l.ErasedAt // what followed the text was erased after since
	}
	if m.StartSeq == math.MaxUint64 { // nothing of it was printed
		m.EndSeq = max(m.EndSeq, f.base)
	}
	m.StartSeq = min(m.StartSeq, m.EndSeq)
	return m
}
