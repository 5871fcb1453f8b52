package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// packedWindow is the zstd window in bytes: the memory that reading takes.
	packedWindow = 1 << 20
	// maxPackedMemory bounds what a compressed file may ask for, in bytes.
	maxPackedMemory = 256 << 20
)

// packedHead is what a compressed snapshot file begins with: a frame that every
// zstd reader skips (RFC 8878 3.1.2), which has the magic of a snapshot file.
const packedHead = "\x50\x2a\x4d\x18\x08\x00\x00\x00" + magic

// isPacked reports whether b begins like a compressed snapshot file.
func isPacked(b []byte) bool {
	return len(b) >= len(packedHead) && strings.HasPrefix(string(b[:len(packedHead)]), packedHead)
}

// unpackSnapshot decompresses b. It stops behind the largest size of a snapshot file.
func unpackSnapshot(b []byte) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(b[len(packedHead):]), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxFile), zstd.WithDecoderMaxMemory(maxPackedMemory))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	plain, err := io.ReadAll(io.LimitReader(d, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return plain, nil
}

// Compress returns the compressed form of a snapshot file, which Decode reads too. The form is
// one zstd frame (RFC 8878) with its size and a checksum, behind a frame that readers skip.
// Compress decompresses the result and compares it with file; errors wrap ErrCorrupt when they
// differ.
func Compress(file []byte) ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packedWindow),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	packed := e.EncodeAll(file, []byte(packedHead))
	if err := e.Close(); err != nil {
		return nil, err
	}
	if back, err := unpackSnapshot(packed); err != nil || !bytes.Equal(back, file) {
		return nil, errors.Join(err, fmt.Errorf("%w: the compressed form does not read back", ErrCorrupt))
	}
	return packed, nil
}
