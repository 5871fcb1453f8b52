package vt

import (
	"slices"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/klauspost/compress/s2"
)

// Block is a stretch of history that is full: its lines never change. An engine and its Frames
// share it, and readers may keep with it what they made of its lines. Safe for concurrent use.
type Block struct {
	size int // of the records in bytes
	form atomic.Pointer[blockForm]
	memo atomic.Pointer[weak.Pointer[Memo]]
}

// blockForm is how a block keeps its records. It is immutable.
type blockForm struct {
	records string             // "" when they are compressed
	packed  []byte             // compressed by s2; nil when they are not
	recent  weak.Pointer[byte] // the records as they were read last, until they are garbage
	loose   bool               // compressing gains too little
}

// Memo is what a reader made of the lines of a block. The reader must not change it.
type Memo struct{ Value any }

// minGain is the part of its size that compressing must save: reading has its price.
const minGain = 8

func newBlock(data []byte) *Block {
	b := &Block{size: len(data)}
	b.form.Store(&blockForm{records: asString(data)})
	return b
}

// records are the records of the block. Readers at about the same time share the bytes.
func (b *Block) records() string {
	f := b.form.Load()
	if f.packed == nil {
		return f.records
	}
	if p := f.recent.Value(); p != nil {
		return unsafe.String(p, b.size)
	}
	data, _ := s2.Decode(make([]byte, b.size), f.packed) // cannot fail: s2 made it
	b.form.CompareAndSwap(f, &blockForm{packed: f.packed, recent: weak.Make(unsafe.SliceData(data))})
	return asString(data)
}

// recordsIn is records in the memory of scratch, which is grown to hold them: they are valid until
// it is used again.
func (b *Block) recordsIn(scratch *[]byte) string {
	f := b.form.Load()
	if f.packed == nil || f.recent.Value() != nil {
		return b.records()
	}
	*scratch = slices.Grow((*scratch)[:0], b.size)
	data, _ := s2.Decode((*scratch)[:b.size], f.packed) // cannot fail: s2 made it
	return asString(data)
}

// compact compresses the block with the memory of scratch, which it returns, and returns the
// bytes freed.
func (b *Block) compact(scratch []byte) (_ []byte, freed int) {
	f := b.form.Load()
	if f.packed != nil || f.loose || b.size < minBlock {
		return scratch, 0
	}
	first := unsafe.StringData(f.records)
	scratch = slices.Grow(scratch[:0], s2.MaxEncodedLen(b.size))
	scratch = s2.Encode(scratch[:cap(scratch)], unsafe.Slice(first, b.size))
	if len(scratch) > b.size-b.size/minGain {
		b.form.CompareAndSwap(f, &blockForm{records: f.records, loose: true})
		return scratch, 0
	}
	packed := append(make([]byte, 0, len(scratch)), scratch...)
	if !b.form.CompareAndSwap(f, &blockForm{packed: packed, recent: weak.Make(first)}) {
		return scratch, 0
	}
	return scratch, b.size - len(packed)
}

// packedSize is what the compressed records take in bytes, 0 when they are not compressed.
func (b *Block) packedSize() int { return len(b.form.Load().packed) }

// Memo returns what SetMemo was last given, nil once that is garbage.
func (b *Block) Memo() *Memo {
	if m := b.memo.Load(); m != nil {
		return m.Value()
	}
	return nil
}

// SetMemo notes what was made of the block's lines for others. The block does not keep it in memory.
func (b *Block) SetMemo(m *Memo) {
	w := weak.Make(m)
	b.memo.Store(&w)
}
