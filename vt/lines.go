package vt

import (
	"iter"
	"slices"
)

// Lines is a sequence of lines, immutable and packed: a history of thousands
// costs a Frame no more than the blocks that it lies in, which it shares with
// the engine. The zero value has no lines. Copying one is cheap.
type Lines struct {
	parts []part // oldest first
	n     int
}

// part is a stretch of records as a block of a history holds them.
type part struct {
	records string
	lines   int
}

// LinesOf returns the given lines as one sequence.
func LinesOf(lines ...Line) Lines {
	if len(lines) == 0 {
		return Lines{}
	}
	var b []byte
	for _, l := range lines {
		b = appendRecord(b, l.packed, l.wrapped)
	}
	return Lines{parts: []part{{string(b), len(lines)}}, n: len(lines)}
}

// Len is the number of lines.
func (s Lines) Len() int { return s.n }

// Size is the number of bytes the lines take.
func (s Lines) Size() int {
	n := 0
	for _, p := range s.parts {
		n += len(p.records)
	}
	return n
}

// All yields the lines, oldest first.
func (s Lines) All() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for _, p := range s.parts {
			for rest := p.records; rest != ""; {
				var l Line
				if l, rest = cutRecord(rest); !yield(l) {
					return
				}
			}
		}
	}
}

// At returns line i, counted from the oldest; i is less than Len. It reads the lines
// before i in one block of some 32 KiB.
func (s Lines) At(i int) Line {
	for l := range s.Last(s.n - i).All() {
		return l
	}
	return Line{}
}

// Slice returns the lines in a slice of the caller's own.
func (s Lines) Slice() []Line {
	if s.n == 0 {
		return nil
	}
	return slices.AppendSeq(make([]Line, 0, s.n), s.All())
}

// Last returns the newest n lines, all when there are no more.
func (s Lines) Last(n int) Lines {
	drop := s.n - max(n, 0)
	if drop <= 0 {
		return s
	}
	parts := s.parts
	for len(parts) > 0 && parts[0].lines <= drop {
		drop -= parts[0].lines
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return Lines{}
	}
	parts = append([]part(nil), parts...)
	for first := &parts[0]; drop > 0; drop-- {
		_, first.records = cutRecord(first.records)
		first.lines--
	}
	return Lines{parts: parts, n: min(n, s.n)}
}

// cutRecord reads the first record.
func cutRecord(records string) (l Line, rest string) {
	size, n := uvarint(records)
	end := n + int(size>>1)
	return Line{packed: records[n:end], wrapped: size&1 != 0}, records[end:]
}
