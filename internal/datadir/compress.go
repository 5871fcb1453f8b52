package datadir

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/evertty/evertty/snapshot"
)

// CompressSnapshots replaces the snapshot files of id, of an ended terminal, by
// compressed ones, and returns how many bytes that saved. Damaged ones stay as they are. Load
// reads both kinds.
func (s *Store) CompressSnapshots(id string) (saved int64, err error) {
	d, err := s.Open(id)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	kept, err := snapshots(d)
	for _, k := range kept {
		if err == nil && !k.packed {
			var n int64
			n, err = compressSnapshot(d, k)
			saved += n
		}
	}
	if err != nil {
		return saved, fmt.Errorf("datadir: compress the snapshots of %s: %w", id, err)
	}
	return saved, nil
}

func compressSnapshot(d *os.Root, k screenFile) (saved int64, err error) {
	b, err := ReadFile(d, k.name(), snapshot.MaxFile)
	if err == nil {
		_, _, err = snapshot.Decode(b)
	}
	if errors.Is(err, snapshot.ErrCorrupt) || errors.Is(err, snapshot.ErrVersion) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	packed, err := snapshot.Compress(b)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", k.name(), err)
	}
	if err = writeFile(d, screenFile{k.n, true}.name(), packed); err == nil {
		err = d.RemoveAll(k.name())
	}
	if err != nil {
		return 0, err
	}
	return int64(len(b) - len(packed)), SyncDir(d)
}

// DropOldSnapshot deletes the snapshot files of id that Load would only fall
// back to, and returns how many bytes that freed. While the newest is not good
// nothing is deleted.
func (s *Store) DropOldSnapshot(id string) (freed int64, err error) {
	d, err := s.Open(id)
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
	newest, err := load(d, kept[0].name())
	newest.Free()
	if err != nil {
		return 0, fmt.Errorf("datadir: the newest of %s is needed: %w", id, err)
	}
	for _, k := range slices.Backward(kept[1:]) {
		n, err := dropFile(d, k.name())
		if freed += n; err != nil {
			return freed, fmt.Errorf("datadir: drop an old one of %s: %w", id, err)
		}
	}
	return freed, SyncDir(d)
}
