package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/evertty/evertty/snapshot"
)

const (
	// dataWindow is how far back compressed data refer, in bytes: the memory that
	// reading them takes. Terminal output repeats itself sooner.
	dataWindow = 1 << 20
	// minSized is from how many bytes on a frame has its size in any case; below it
	// takes the form without a window (RFC 8878 3.1.1.1.1).
	minSized = 256
	// maxDataWindow and maxDataMemory bound what a compressed file may ask for, in bytes.
	maxDataWindow = 64 << 20
	maxDataMemory = 256 << 20
)

// pack writes the size bytes of r to w as one zstd frame (RFC 8878) that says
// how many they are and has a checksum.
func pack(w io.Writer, r io.Reader, size int64) error {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(dataWindow),
		zstd.WithLowerEncoderMem(true),
		zstd.WithSingleSegment(size < minSized))
	if err != nil {
		return err
	}
	e.ResetContentSize(w, size)
	n, err := io.Copy(e, io.LimitReader(r, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, e.Close())
}

// newUnpacker reads what pack wrote, in the caller's goroutine.
func newUnpacker(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxDataWindow), zstd.WithDecoderMaxMemory(maxDataMemory))
}

// packedLength is how many bytes pack was given, as its result says.
func packedLength(r io.ReaderAt) (int64, error) {
	b := make([]byte, zstd.HeaderMaxSize)
	n, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	var h zstd.Header
	if err := h.Decode(b[:n]); err != nil {
		return 0, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	if !h.HasFCS || h.FrameContentSize >= maxPosition {
		return 0, fmt.Errorf("%w: does not say its size", snapshot.ErrCorrupt)
	}
	return int64(h.FrameContentSize), nil
}

// packedData reads a compressed data file by offset. Going forward decodes the skipped
// bytes, going back starts again.
type packedData struct {
	f   *os.File
	d   *zstd.Decoder
	pos int64
	err error // the file is damaged from pos on
}

// newPackedData takes over f.
func newPackedData(f *os.File) (*packedData, error) {
	d, err := newUnpacker(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &packedData{f: f, d: d}, nil
}

// ReadAt implements io.ReaderAt, for one caller at a time.
func (p *packedData) ReadAt(b []byte, off int64) (int, error) {
	if off < p.pos {
		if err := p.rewind(); err != nil {
			return 0, err
		}
	}
	if p.err != nil {
		return 0, p.err
	}
	if off > p.pos {
		n, err := io.CopyN(io.Discard, p.d, off-p.pos)
		if p.pos += n; err != nil {
			p.err = err
			return 0, err
		}
	}
	n, err := io.ReadFull(p.d, b)
	p.pos += int64(n)
	p.err = err
	return n, err
}

func (p *packedData) rewind() error {
	if _, err := p.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	p.pos, p.err = 0, nil
	return p.d.Reset(p.f)
}

// Close releases file and memory.
func (p *packedData) Close() error {
	p.d.Close()
	return p.f.Close()
}
