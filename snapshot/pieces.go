package snapshot

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/vt"
)

// ErrLarge is returned by Options.Pieces for a text that is larger than its caller allows.
var ErrLarge = errors.New("the snapshot is large")

// Pieces is the text of ANSI in pieces. The pieces of full blocks of history are shared with every
// other text that begins these blocks in the same state, while one of them is in use: each is
// encoded once, and quoted once. Pieces are immutable and safe for concurrent use.
type Pieces struct {
	list []*piece
	size int
	room int // bytes that the text may still take while it is made
}

// piece is a part of a text.
type piece struct {
	text []byte

	// Of a full block of history: the state before and after it. memo keeps the piece in the
	// block's memory as long as the piece is in use.
	before, after blockState
	memo          *vt.Memo

	quoting sync.Once
	quoted  []byte // text as the inside of a JSON string
}

// blockState is the state in which a block of history begins or ends.
type blockState struct {
	penState
	rowState
}

// Pieces returns the text of ANSI(f, o) in pieces of at most limit bytes in all. Errors: ErrLarge.
func (o Options) Pieces(f *vt.Frame, limit int) (*Pieces, error) {
	pieces := &Pieces{room: limit}
	scratch := scratches.Get().(*[]byte)
	p := painter{linePainter{ansiWriter: ansiWriter{spills: ownPieces{pieces}, out: *scratch}, pieces: pieces}}
	p.frame(o, f)
	p.spill(0)
	giveScratch(scratch, p.out)
	if p.failed != nil {
		return nil, p.failed
	}
	return pieces, nil
}

// ownPieces is the writer of pieces that no other text shares. Errors: ErrLarge.
type ownPieces struct{ *Pieces }

func (t ownPieces) Write(text []byte) (int, error) {
	return len(text), t.add(&piece{text: bytes.Clone(text)})
}

func (t *Pieces) add(p *piece) error {
	if t.size += len(p.text); t.size > t.room {
		return ErrLarge
	}
	t.list = append(t.list, p)
	return nil
}

// Size is the number of bytes of the text.
func (t *Pieces) Size() int { return t.size }

// Append appends the text.
func (t *Pieces) Append(b []byte) []byte {
	b = slices.Grow(b, t.size)
	for _, p := range t.list {
		b = append(b, p.text...)
	}
	return b
}

// quotedMore is the part of its size that a short text grows by at most when it is quoted, about.
const quotedMore = 2

// AppendQuoted appends the text as the inside of a JSON string, and leaves room for spare bytes.
func (t *Pieces) AppendQuoted(b []byte, spare int) []byte {
	size := spare
	for _, p := range t.list {
		if p.memo == nil {
			size += len(p.text) + len(p.text)/quotedMore
			continue
		}
		p.quoting.Do(p.quote)
		size += len(p.quoted)
	}
	b = slices.Grow(b, size)
	for _, p := range t.list {
		if p.memo != nil {
			b = append(b, p.quoted...)
		} else {
			b, _ = jsonstring.Append(b, p.text)
		}
	}
	return b
}

// scratches are buffers that pieces are made in: one that grows would cost more than the encoding.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch is the size up to which a buffer is kept, in bytes: twice the text of usual blocks.
const maxScratch = 128 << 10

// giveScratch gives back a buffer of scratches.
func giveScratch(scratch *[]byte, b []byte) {
	if cap(b) <= maxScratch {
		*scratch = b[:0]
		scratches.Put(scratch)
	}
}

// quote makes the quoted form of a piece.
func (p *piece) quote() {
	scratch := scratches.Get().(*[]byte)
	b, _ := jsonstring.Append(*scratch, p.text)
	p.quoted = bytes.Clone(b)
	giveScratch(scratch, b)
}

// paintHistory paints the lines of the history, or uses the pieces that are there.
func (p *linePainter) paintHistory(history vt.Lines) {
	for lines, block := range history.Parts() {
		last := p.line + lines.Len()
		saves := p.above != nil && p.saveIn >= p.line && p.saveIn < last
		// joins reads the text before where widths count clusters.
		if p.pieces == nil || block == nil || saves || p.clusters {
			p.paintAll(lines)
		} else {
			p.paintBlock(lines, block)
		}
		if p.failed != nil {
			return
		}
	}
}

func (p *linePainter) paintAll(lines vt.Lines) {
	for l := range lines.All() {
		if p.paint(l); p.failed != nil {
			return
		}
	}
}

// paintBlock adds the piece of a full block, which it makes when there is none.
func (p *linePainter) paintBlock(lines vt.Lines, block *vt.Block) {
	if p.spill(0); p.failed != nil {
		return
	}
	before := p.blockState()
	if m := block.Memo(); m != nil {
		if shared := m.Value.(*piece); shared.before == before {
			p.penState, p.rowState = shared.after.penState, shared.after.rowState
			p.line += lines.Len()
			p.failed = p.pieces.add(shared)
			return
		}
	}
	spills := p.spills
	p.spills = nil
	p.paintAll(lines)
	made := &piece{text: bytes.Clone(p.out), before: before, after: p.blockState(), memo: &vt.Memo{}}
	p.spills, p.out = spills, p.out[:0]
	made.memo.Value = made
	block.SetMemo(made.memo)
	p.failed = p.pieces.add(made)
}

// blockState returns the state at the border of a block. Rows of the history count as one.
func (p *linePainter) blockState() blockState {
	s := blockState{p.penState, p.rowState}
	s.linkRow, s.textRow = max(s.linkRow, -1), max(s.textRow, -1)
	return s
}
