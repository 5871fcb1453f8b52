package datadir

import (
	"os"
	"strconv"
	"strings"
)

// Names of a segment's files: before its offset, and behind it when the data are compressed.
const (
	DataFile  = "data."
	IndexFile = "index."
	PackedEnd = ".zst"
)

// maxOffset bounds the offset in the name of a file, so that sums with a length cannot overflow.
const maxOffset = 1 << 62

// SegmentFile is the name of the file of kind whose first byte is at offset.
func SegmentFile(kind string, offset uint64) string { return kind + strconv.FormatUint(offset, 10) }

// SegmentOffset takes a name of kind apart; ok is false for any other name, also
// for one that only looks like it (data.007).
func SegmentOffset(kind, name string) (offset uint64, packed, ok bool) {
	digits, ok := strings.CutPrefix(name, kind)
	if kind == DataFile {
		digits, packed = strings.CutSuffix(digits, PackedEnd)
	}
	offset, err := strconv.ParseUint(digits, 10, 64)
	return offset, packed, ok && err == nil && offset < maxOffset && digits == strconv.FormatUint(offset, 10)
}

// sweepDropped ends an interrupted removal of a segment: its data have the name of a leftover.
func sweepDropped(d *os.Root, leftover string) {
	name, ok := strings.CutPrefix(leftover, GoneDir)
	if offset, _, data := SegmentOffset(DataFile, name); ok && data {
		_ = d.RemoveAll(SegmentFile(IndexFile, offset))
	}
}
