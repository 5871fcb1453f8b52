package vt

import (
	"encoding/binary"
	"unsafe"
)

// history keeps the lines that left the main screen at its top, the newest up to
// limit. They lie packed one behind the other in blocks, which hold no pointers:
// the garbage collector does not scan them, and a line costs its text and some
// two bytes.
type history struct {
	blocks []*block // oldest first
	count  int      // lines
	limit  int
	most   int    // bytes that the blocks may take
	bytes  int    // capacity of the blocks
	spare  *block // one that was emptied, for the next

	dropped int  // lines that went for want of memory since the last forgetDropped
	short   bool // viewers may have lines that went for want of memory
}

// block holds records: a uvarint, the size of the packed line times two plus one
// when it continues the line above, and the packed line. A byte that was written
// never changes as long as a Frame may share it.
type block struct {
	data   []byte // nil when it is full and frames share it
	full   *Block // nil when data is not
	room   int    // capacity in bytes
	start  int    // of the oldest record that counted when begin was called last
	gone   int    // records from there on that count no more
	lines  int    // records that count
	shared bool   // frames have strings in data
}

// records are all records of the block.
func (b *block) records() string {
	if b.full != nil {
		return b.full.records()
	}
	return asString(b.data)
}

// begin is where the oldest record that counts begins. Records that go are only counted until it is
// asked for: they are in no cache any more, and nobody may ask.
func (b *block) begin() int {
	if b.gone == 0 {
		return b.start
	}
	for records := b.records(); b.gone > 0; b.gone-- {
		b.start = nextRecord(records, b.start)
	}
	return b.start
}

// own makes the records the block's own again, in memory that frames do not share. It has its
// room as before.
func (b *block) own() {
	if b.shared || b.full != nil {
		b.data, b.full, b.shared = append(make([]byte, 0, b.room), b.records()...), nil, false
	}
}

// seal makes a Block of a block that is full.
func (b *block) seal() {
	if b.full == nil {
		b.full, b.data, b.shared = newBlock(b.data), nil, true
	}
}

// memory is what the records take in bytes.
func (b *block) memory() int {
	if b.full != nil && b.full.packedSize() > 0 {
		return b.full.packedSize()
	}
	return b.room
}

// Sizes of blocks in bytes. A short history shall take little, a long one few
// blocks; a line that is larger than a block gets one of its own.
const (
	minBlock = 2 << 10
	maxBlock = 32 << 10
)

// push adds a packed line, which is copied.
func (h *history) push(packed []byte, wrapped bool) {
	if h.limit == 0 {
		return
	}
	b := h.room(len(packed) + binary.MaxVarintLen32)
	if b == nil {
		h.dropped, h.short = h.dropped+1, true // itself
		return
	}
	b.data = appendRecord(b.data, packed, wrapped)
	b.lines++
	if h.count++; h.count > h.limit {
		h.dropOldest()
	}
}

// pushAll is push of all lines: as many at once as a block has room for.
func (h *history) pushAll(lines Lines) {
	if h.limit == 0 {
		return
	}
	for _, p := range lines.parts {
		for rest := p.text(); rest != ""; {
			rest = h.pushSome(rest)
		}
	}
}

// pushSome adds the first of the records, and the next ones that its block has room for. It returns the others.
func (h *history) pushSome(records string) (rest string) {
	end := nextRecord(records, 0)
	b := h.room(end)
	if b == nil {
		h.dropped, h.short = h.dropped+1, true
		return records[end:]
	}
	n := 1
	for end < len(records) {
		next := nextRecord(records, end)
		if next > b.room-len(b.data) {
			break
		}
		end = next
		n++
	}
	b.data = append(b.data, records[:end]...)
	b.lines += n
	for h.count += n; h.count > h.limit; {
		h.dropOldest()
	}
	return records[end:]
}

// appendRecord appends a record of a block.
func appendRecord[T string | []byte](b []byte, packed T, wrapped bool) []byte {
	size := uint64(len(packed)) << 1
	if wrapped {
		size |= 1
	}
	return append(binary.AppendUvarint(b, size), packed...)
}

// room returns the block to append n bytes to. The oldest lines go for it when there
// are too many bytes; nil when there are even without any.
func (h *history) room(n int) *block {
	if last := len(h.blocks) - 1; last >= 0 {
		if b := h.blocks[last]; b.full == nil && b.room-len(b.data) >= n {
			return b
		}
	}
	size := max(min(max(h.bytes, minBlock), maxBlock), n)
	h.shrink(size)
	if h.bytes+size > h.most {
		return nil
	}
	b := h.spare
	if h.spare = nil; b == nil || b.room < n {
		b = &block{data: make([]byte, 0, size), room: size}
	}
	h.bytes += b.room
	h.blocks = append(h.blocks, b)
	return b
}

// shrink drops the oldest lines until n more bytes fit, or none is left.
func (h *history) shrink(n int) {
	if h.bytes+n+h.spareMemory() <= h.most {
		return
	}
	h.spare = nil
	for h.bytes+n > h.most && h.count > 0 {
		h.dropOldest()
		h.spare = nil
		h.dropped++
		h.short = true
	}
}

// spareMemory is what the block takes that waits for the next.
func (h *history) spareMemory() int {
	if h.spare == nil {
		return 0
	}
	return h.spare.room
}

// dropOldest forgets the oldest line.
func (h *history) dropOldest() {
	b := h.blocks[0]
	b.gone++
	h.count--
	if b.lines--; b.lines > 0 {
		return
	}
	h.blocks[0] = nil
	h.blocks = h.blocks[1:]
	h.bytes -= b.room
	if !b.shared && b.room == maxBlock {
		*b = block{data: b.data[:0], room: b.room}
		h.spare = b
	}
}

// nextRecord is where the record behind the one at offset at begins.
func nextRecord(records string, at int) int {
	size, n := uvarint(records[at:])
	return at + n + int(size>>1)
}

// clear forgets every line.
func (h *history) clear() { *h = history{limit: h.limit, most: h.most} }

// freeze returns the lines. They share the memory of the blocks, whose bytes
// therefore stay as they are. All blocks but the newest are full.
func (h *history) freeze() Lines {
	if h.count == 0 {
		return Lines{}
	}
	parts := make([]part, len(h.blocks))
	for i, b := range h.blocks {
		if i < len(h.blocks)-1 {
			b.seal()
			parts[i] = part{block: b.full, from: b.begin(), lines: b.lines}
			continue
		}
		b.shared = true
		parts[i] = part{records: b.records()[b.begin():], lines: b.lines}
	}
	return Lines{parts: parts, n: h.count}
}

// asString is p as a string without a copy. The bytes never change again.
func asString(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }

// unwrap ends the wrapping of line i, counted from the oldest. The block is
// copied, for frames may share it.
func (h *history) unwrap(i int) {
	for _, b := range h.blocks {
		if i >= b.lines {
			i -= b.lines
			continue
		}
		at, records := b.begin(), b.records()
		for ; i > 0; i-- {
			at = nextRecord(records, at)
		}
		b.own()
		b.data[at] &^= 1 // the flag is in the first byte of the size
		return
	}
}

// replaceOldest makes each of the oldest n lines the packed one, which continues none.
// The blocks are copied, for frames may share them.
func (h *history) replaceOldest(n int, packed []byte) {
	for _, b := range h.blocks {
		k := min(n, b.lines)
		if k == 0 {
			break
		}
		rest := b.records()[b.begin():]
		for range k {
			_, rest = cutRecord(rest)
		}
		data := make([]byte, 0, k*(len(packed)+binary.MaxVarintLen32)+len(rest))
		for range k {
			data = appendRecord(data, packed, false)
		}
		h.bytes += cap(data) - b.room
		*b = block{data: append(data, rest...), room: cap(data), lines: b.lines}
		n -= k
	}
	h.shrink(0)
}

// blockSize is what a block takes besides its records, in bytes.
const blockSize = 160

// memory is what the history takes in bytes. The bound of the blocks, most, does not count what
// compressing saves: which lines stay depends on the output alone.
func (h *history) memory() int {
	n := h.spareMemory() + cap(h.blocks)*8 + len(h.blocks)*blockSize
	for _, b := range h.blocks {
		n += b.memory()
	}
	return n
}
