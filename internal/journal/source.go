package journal

import (
	"io"
	"os"
)

// Source is where Journal.Append takes output from: a pipe, or bytes in memory.
type Source interface {
	// MoveTo moves exactly n bytes into f at off. On an error moved bytes are
	// in the file and the rest is still in the source.
	MoveTo(f *os.File, off int64, n int) (moved int, err error)
	// Read takes bytes out into memory.
	Read(b []byte) (int, error)
}

// Bytes is a Source of bytes in memory. It is not for concurrent use.
type Bytes struct{ rest []byte }

// BytesSource returns a Source of p, which must not change until it is used up.
func BytesSource(p []byte) *Bytes { return &Bytes{rest: p} }

// Len is the number of bytes that were not taken yet.
func (b *Bytes) Len() int { return len(b.rest) }

// MoveTo implements Source; io.ErrUnexpectedEOF when there are fewer than n. When
// writing fails, none count as moved.
func (b *Bytes) MoveTo(f *os.File, off int64, n int) (moved int, err error) {
	moved, err = f.WriteAt(b.rest[:min(n, len(b.rest))], off)
	if err != nil {
		return 0, err
	}
	b.rest = b.rest[moved:]
	if moved < n {
		return moved, io.ErrUnexpectedEOF
	}
	return moved, nil
}

// Read implements Source and io.Reader.
func (b *Bytes) Read(p []byte) (int, error) {
	if len(b.rest) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}
