package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// packedHead is what a compressed snapshot file begins with: a frame that every
// zstd reader skips (RFC 8878 3.1.2), which has the magic of a snapshot file.
const packedHead = "\x50\x2a\x4d\x18\x08\x00\x00\x00" + magic

// isPacked tells whether b begins like a compressed snapshot file.
func isPacked(b []byte) bool {
	return len(b) >= len(packedHead) && strings.HasPrefix(string(b[:len(packedHead)]), packedHead)
}

// unpackSnapshot is the snapshot file that b is the compressed form of. Not more
// than a snapshot file may have is unpacked.
func unpackSnapshot(b []byte) ([]byte, error) {
	d, err := newUnpacker(bytes.NewReader(b[len(packedHead):]))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	plain, err := io.ReadAll(io.LimitReader(d, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return plain, nil
}

// CompressSnapshots replaces the snapshot files of id, of an ended terminal, by
// compressed ones, and returns how many bytes that saved. Damaged ones stay as they are. Load
// reads both kinds.
func (s *Store) CompressSnapshots(id string) (saved int64, err error) {
	d, err := s.open(id)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	kept, err := snapshots(d)
	for _, k := range kept {
		if err != nil {
			break
		}
		if k.packed {
			continue
		}
		var n int64
		n, err = compressSnapshot(d, k)
		saved += n
	}
	if err != nil {
		return saved, fmt.Errorf("snapshot: compress those of %s: %w", id, err)
	}
	return saved, nil
}

func compressSnapshot(d *os.Root, k screenFile) (saved int64, err error) {
	b, err := readFile(d, k.name(), maxFile)
	if err == nil {
		_, _, err = Decode(b)
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrVersion) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	out := bytes.NewBufferString(packedHead)
	if err := pack(out, bytes.NewReader(b), int64(len(b))); err != nil {
		return 0, err
	}
	if back, err := unpackSnapshot(out.Bytes()); err != nil || !bytes.Equal(back, b) {
		return 0, errors.Join(err, fmt.Errorf("%w: %s does not come back", ErrCorrupt, k.name()))
	}
	if err := writeFile(d, screenFile{k.n, true}.name(), out.Bytes()); err != nil {
		return 0, err
	}
	if err := d.RemoveAll(k.name()); err != nil {
		return 0, err
	}
	return int64(len(b) - out.Len()), syncDir(d)
}

// DropOldSnapshot deletes the snapshot files of id that Load would only fall
// back to, and returns how many bytes that freed. While the newest is not good
// nothing is deleted.
func (s *Store) DropOldSnapshot(id string) (freed int64, err error) {
	d, err := s.open(id)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer d.Close()
	kept, err := snapshots(d)
	if err != nil || len(kept) < 2 {
		return 0, err
	}
	if _, _, err := load(d, kept[0].name()); err != nil {
		return 0, fmt.Errorf("snapshot: the newest of %s is needed: %w", id, err)
	}
	for _, k := range slices.Backward(kept[1:]) {
		n, err := dropFile(d, k.name())
		if freed += n; err != nil {
			return freed, fmt.Errorf("snapshot: drop an old one of %s: %w", id, err)
		}
	}
	return freed, syncDir(d)
}
