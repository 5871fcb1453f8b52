package vt

import (
	"bytes"
	"iter"
	"regexp"
)

const (
	// maxMatches is the most that a search finds.
	maxMatches = 10_000
	// maxSearched bounds the text that is searched at once, in bytes: a line that is
	// longer is searched in parts, each of whole rows.
	maxSearched = 1 << 20
)

// Match is text that a search found.
type Match struct {
	Text string
	// From and To are the cells in which the first and the last character begin.
	From, To Position
}

// Find returns where text is in the screen shown and its history, oldest first, at
// most limit times. Rows that the right margin broke are one line; a match does
// not reach over the end of a line and does not overlap the one before. limit is at
// most 10,000. Empty text is nowhere.
func (f *Frame) Find(text string, limit int) []Match {
	want := []byte(text)
	return f.find(limit, func(line []byte, from int) (begin, end int) {
		i := bytes.Index(line[from:], want)
		if i < 0 || len(want) == 0 {
			return -1, -1
		}
		return from + i, from + i + len(want)
	})
}

// FindRegexp is Find for a regular expression, which sees a line at a time with
// blanks as spaces, and without blanks at the end that were not printed. Empty
// matches are left out.
func (f *Frame) FindRegexp(re *regexp.Regexp, limit int) []Match {
	var found [][]int
	return f.find(limit, func(line []byte, from int) (begin, end int) {
		if from == 0 {
			found = re.FindAllIndex(line, min(limit, maxMatches))
		}
		for ; len(found) > 0; found = found[1:] {
			if m := found[0]; m[0] >= from && m[0] < m[1] {
				return m[0], m[1]
			}
		}
		return -1, -1
	})
}

// find calls next for each line until it finds no more: with the line and where to
// go on in it, from 0.
func (f *Frame) find(limit int, next func(line []byte, from int) (begin, end int)) (matches []Match) {
	limit = min(limit, maxMatches)
	for l := range f.cellLines() {
		for from := 0; len(matches) < limit; {
			begin, end := next(l.Text, from)
			if begin < 0 {
				break
			}
			matches = append(matches, Match{
				Text: string(l.Text[begin:end]), From: f.position(l.Offsets[begin]), To: f.position(l.Offsets[end-1]),
			})
			from = end
		}
		if len(matches) >= limit {
			break
		}
	}
	return matches
}

// cellLines yields the lines of the history and the screen shown. The position of
// each character is the number of its cell plus one, from the oldest row on. A line is
// valid until the next one.
func (f *Frame) cellLines() iter.Seq[TextLine] {
	return func(yield func(TextLine) bool) {
		var b textLineBuilder
		numbers, oldest := make([]uint64, f.Cols), f.oldest()
		end := func() bool {
			line := b.end(nil)
			b.line.Text, b.line.Offsets, b.printed = line.Text[:0], line.Offsets[:0], 0
			return yield(line)
		}
		for y, row := range f.rowsFrom(oldest) {
			if goesOn := row.wrapped && len(b.line.Text) < maxSearched; y > oldest && goesOn {
				b.continueRow(f.Cols, beginsWide(row))
			} else if y > oldest && !end() {
				return
			}
			for x := range numbers {
				numbers[x] = uint64((y-oldest)*f.Cols + x + 1)
			}
			b.row(numbers)
			for s := range row.Spans() {
				b.span(s.Kind, s.Text, s.Cells)
			}
		}
		end()
	}
}

// position is the cell with a number of cellLines.
func (f *Frame) position(number uint64) Position {
	n := int(number) - 1
	return Position{X: n % f.Cols, Y: n/f.Cols + f.oldest()}
}
