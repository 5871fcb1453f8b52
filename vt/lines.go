package vt

import (
	"iter"
	"slices"
)

// Lines is a sequence of lines, immutable and packed: a history of thousands
// costs a Frame no more than the blocks that it lies in, which it shares with
// the engine. The zero value has no lines. Copying one is cheap.
type Lines struct {
	parts  []part // oldest first
	n      int
	widest int // no line has more cells; 0 when that was not looked at
}

// part is a stretch of records as a block of a history holds them.
type part struct {
	block   *Block // nil: records has them
	from    int    // where they begin in the block
	records string
	lines   int
}

// text is the records of the part.
func (p *part) text() string {
	if p.block != nil {
		return p.block.records()[p.from:]
	}
	return p.records
}

// size is the number of bytes of the records.
func (p *part) size() int {
	if p.block != nil {
		return p.block.size - p.from
	}
	return len(p.records)
}

// drop forgets the oldest n lines.
func (p *part) drop(n int) {
	rest := p.text()
	for range n {
		_, rest = cutRecord(rest)
	}
	if p.lines -= n; p.block != nil {
		p.from = p.block.size - len(rest)
	} else {
		p.records = rest
	}
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
	return Lines{parts: []part{{records: string(b), lines: len(lines)}}, n: len(lines)}
}

// fit reports whether no line has more than cols cells.
func (s Lines) fit(cols int) bool {
	if s.widest > 0 && s.widest <= cols {
		return true
	}
	for l := range s.All() {
		if l.Cells() > cols {
			return false
		}
	}
	return true
}

// Len is the number of lines.
func (s Lines) Len() int { return s.n }

// Size is the number of bytes the lines take.
func (s Lines) Size() int {
	n := 0
	for _, p := range s.parts {
		n += p.size()
	}
	return n
}

// All yields the lines, oldest first.
func (s Lines) All() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for _, p := range s.parts {
			for rest := p.text(); rest != ""; {
				var l Line
				if l, rest = cutRecord(rest); !yield(l) {
					return
				}
			}
		}
	}
}

// Scan is All for readers that keep nothing of a line, which is valid until the next one: it takes
// no memory for lines that are compressed.
func (s Lines) Scan() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var scratch []byte
		for _, p := range s.parts {
			rest := p.records
			if p.block != nil {
				rest = p.block.recordsIn(&scratch)[p.from:]
			}
			for rest != "" {
				var l Line
				if l, rest = cutRecord(rest); !yield(l) {
					return
				}
			}
		}
	}
}

// Parts yields the lines in stretches, oldest first, each with the block that has exactly these
// lines; it is nil where there is none.
func (s Lines) Parts() iter.Seq2[Lines, *Block] {
	return func(yield func(Lines, *Block) bool) {
		for i, p := range s.parts {
			block := p.block
			if p.from > 0 {
				block = nil
			}
			if !yield(Lines{parts: s.parts[i : i+1], n: p.lines}, block) {
				return
			}
		}
	}
}

// Compact compresses the full blocks in which the lines lie, for all that share them, and returns
// how many bytes it frees. It takes some milliseconds for 5000 lines. A block that has lost lines
// stays as it is: it loses the others soon.
func (s Lines) Compact() (freed int) {
	var scratch []byte
	for _, block := range s.Parts() {
		if block != nil {
			var n int
			scratch, n = block.compact(scratch)
			freed += n
		}
	}
	return freed
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
	if drop > 0 {
		parts[0].drop(drop)
	}
	return Lines{parts: parts, n: min(n, s.n)}
}

// cutRecord reads the first record.
func cutRecord(records string) (l Line, rest string) {
	size, n := uvarint(records)
	end := n + int(size>>1)
	return Line{packed: records[n:end], wrapped: size&1 != 0}, records[end:]
}
