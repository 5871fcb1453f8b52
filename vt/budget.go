package vt

import "unicode/utf8"

// Bounds of what the state of one engine may take, in bytes.
const (
	// DefaultMemory is enough for 5000 lines of nearly anything.
	DefaultMemory = 32 << 20
	// MinMemory is enough for a plain screen of 200 columns and 60 rows, twice, and
	// some history.
	MinMemory = 1 << 20
	// MaxMemory is more than the longest history of long lines takes.
	MaxMemory = 4 << 30
)

const (
	// freePart is the part of the bound that stays free for output between two
	// checks of the memory.
	freePart = 8
	// checksPerLimit is how many checks there are for as much output as the bound: one
	// byte of output makes no more than some twenty bytes of state.
	checksPerLimit = 256
)

// budget keeps the state of an engine below a bound.
type budget struct {
	limit int // bytes
	since int // bytes of output since the last check
	// styles is what they took in bytes when unused ones were forgotten last.
	styles int
}

// Piece is how much output may come between two checks of the memory.
func (b *budget) Piece() int { return b.limit / (checksPerLimit / 2) }

// newBudget is one of limit bytes.
func newBudget(limit int) budget { return budget{limit: limit} }

// Written counts n bytes of output and reports whether a check of the memory is due.
func (b *budget) Written(n int) (due bool) {
	if b.since += n; b.since < b.limit/checksPerLimit {
		return false
	}
	b.since = 0
	return true
}

// Target is the size that a check reduces the state to.
func (b *budget) Target() int { return b.limit - b.limit/freePart }

// History is the memory for the history when the rest of the state takes rest bytes.
func (b *budget) History(rest int) int { return max(b.Target()-rest, 0) }

// limitMemory gives the history the memory that the rest of the state leaves. When the rest alone
// is too large, it loses in this order: styles that no cell has, the targets of
// links, marks, colours and attributes. The cells of the screens always stay; 1000 by
// 1000 of them, twice, take 16 MB.
func (b *bufferSet) limitMemory() {
	b.stream.meter.Add(len(b.screens()) * len(b.main.rows) * costRow)
	if n := b.styles.memory(); n > max(b.budget.limit/checksPerLimit, 2*b.budget.styles) {
		b.dropFromScreens(loseNothing) // else styles of lines that are gone would cost lines
		b.budget.styles = b.styles.memory()
	}
	rest := b.otherMemory()
	for loss := loseNothing; rest > b.budget.Target() && loss <= loseStyles; loss++ {
		b.dropFromScreens(loss)
		rest = b.otherMemory()
	}
	// A row in text form may need cells before the next check.
	b.hist.most = b.budget.History(rest + b.missingCells()*cellSize)
	b.hist.shrink(0)
	b.forgetDropped()
}

// What a screen loses when memory is short.
const (
	loseNothing = iota // but styles and texts that no cell has any more
	loseLinks
	loseMarks
	loseStyles
)

// dropFromScreens takes from the screens what loss says.
func (b *bufferSet) dropFromScreens(loss int) {
	screens := b.screens()
	for _, s := range screens {
		s.meter.Add(s.Cols * len(s.rows))
		s.spare = nil
		for _, r := range s.rows {
			r.drop(loss)
		}
	}
	b.styles.sweep(loss, screens...)
	b.styles.spare = nil
	b.packer.buf, b.packer.text, b.expansion = nil, nil, nil
	b.penChanged()
}

// screens are the screens that there are.
func (b *bufferSet) screens() []*screen {
	if b.alt == nil {
		return []*screen{b.main}
	}
	return []*screen{b.main, b.alt}
}

// otherMemory is the memory of the state without the history, in bytes.
func (b *bufferSet) otherMemory() int {
	n := b.styles.memory() + b.stream.Memory() + b.labels.Memory() + b.pen.link.memory() +
		cap(b.packer.buf) + cap(b.packer.text) + cap(b.expansion)
	for _, s := range b.screens() {
		n += s.memory()
	}
	return n
}

// missingCells is the number of cells that rows in text form lack.
func (b *bufferSet) missingCells() (n int) {
	for _, s := range b.screens() {
		for _, r := range s.rows {
			if r.cells == nil {
				n += s.Cols
			}
		}
	}
	return n
}

// inPieces is Write of p by write, which takes the beginning of it.
func inPieces(p []byte, write func(p []byte, work int) (text []byte, n int)) []byte {
	text, n := write(p, 0)
	if n == len(p) {
		return text
	}
	whole := append([]byte(nil), text...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		text, n = write(p, 0)
		whole = append(whole, text...)
	}
	return whole
}

// keep makes a row that leaves the main screen the newest line of the history,
// without links and colours when it would fill all of it. It returns the row packed,
// until the next one is.
func (b *bufferSet) keep(r *row) (packed []byte) {
	packed = b.packer.row(r, &b.styles)
	b.stream.meter.Add(len(packed) + costHistory)
	if len(packed) > b.hist.most/2 {
		b.packer.bare = true
		packed = b.packer.row(r, &b.styles)
		b.packer.bare = false
	}
	b.hist.push(packed, r.wrapped)
	if b.hist.dropped > 0 {
		b.forgetDropped()
	}
	return packed
}

// drop frees unused memory of the row, and takes the marks from its cells when loss
// says so.
func (r *row) drop(loss int) {
	if loss > loseNothing {
		r.version++
	}
	if loss < loseMarks {
		if r.hidden() == nil {
			r.tidyClusters()
		}
		return
	}
	if r.cells == nil {
		r.unmark()
		return
	}
	for _, cells := range [...][]cell{r.cells, r.hidden()} {
		for x, c := range cells {
			if c&cellCluster != 0 {
				base, _ := utf8.DecodeRuneInString(r.rare.clusters[c&cellChar])
				cells[x] = c&^(cellChar|cellCluster) | cell(base)
			}
		}
	}
	r.text, r.runs = nil, nil
	if r.rare != nil {
		r.rare.clusters = nil
	}
}

// unmark takes the marks from a row in text form.
func (r *row) unmark() {
	text, runs := make([]byte, 0, r.used), make([]run, 0, len(r.runs))
	at := 0
	for _, part := range r.runs {
		chars := r.text[at:part.end]
		at = part.end
		if part.kind == ClusterOne || part.kind == ClusterWide {
			base, size := utf8.DecodeRune(chars)
			chars = chars[:size]
			part.kind = kindOf(base, int(part.cells))
		}
		text = append(text, chars...)
		part.end = len(text)
		runs = append(runs, part)
	}
	r.text, r.runs = text, runs
}
