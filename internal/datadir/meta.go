package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/evertty/evertty/snapshot"
)

// maxMeta bounds the metadata of one terminal.
const maxMeta = 4 << 20 // bytes; a command, its environment and some names

// The metadata of a terminal is kept twice: as it is and as it was before.
const (
	metaFile    = "meta"
	metaOldFile = "meta.1"
)

// metaSeal is the last line of the file, which has the CRC-32C of everything
// before it: a flipped bit in a text would otherwise go unnoticed.
const metaSeal = "\ncrc32c %08x\n"

// SaveMeta keeps p, at most 4 MiB, as the metadata of id and syncs it to disk.
// What was kept before stays beside it.
func (s *Store) SaveMeta(id string, p []byte) error {
	if err := s.ReplaceMeta(id, p); err != nil {
		return err
	}
	return s.SyncMeta(id)
}

// SyncMeta completes ReplaceMeta: what was kept last is found after a crash of the machine too.
func (s *Store) SyncMeta(id string) error {
	d, err := s.Open(id)
	if err != nil {
		return err
	}
	defer d.Close()
	if err = SyncDir(d); err == nil {
		err = s.syncName(id)
	}
	if err != nil {
		return fmt.Errorf("datadir: sync metadata of %s: %w", id, NoSpace(err))
	}
	return nil
}

// ReplaceMeta is SaveMeta for the next process: a crash of the machine before SyncMeta may bring back what was kept
// before, or nothing.
func (s *Store) ReplaceMeta(id string, p []byte) error {
	if len(p) > maxMeta {
		return fmt.Errorf("datadir: metadata of %s: %d bytes are more than %d", id, len(p), maxMeta)
	}
	d, err := s.Make(id)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := replaceMeta(d, sealMeta(p)); err != nil {
		return fmt.Errorf("datadir: save metadata of %s: %w", id, NoSpace(err))
	}
	return nil
}

// sealMeta is p with its checksum. p stays as it is.
func sealMeta(p []byte) []byte {
	return fmt.Appendf(bytes.Clone(p), metaSeal, crc32.Checksum(p, castagnoli))
}

// replaceMeta writes the new file beside, then moves both: a full disk changes
// nothing, a crash at any instant leaves at least one good file.
func replaceMeta(d *os.Root, p []byte) error {
	tmp := tmpFile + metaFile
	if err := writeNew(d, tmp, bytesTo(p)); err != nil {
		return errors.Join(err, d.RemoveAll(tmp))
	}
	if _, err := loadMeta(d, metaFile); err == nil { // a damaged one must not replace a good one
		if err := d.Rename(metaFile, metaOldFile); err != nil {
			return err
		}
	}
	return d.Rename(tmp, metaFile)
}

// LoadMeta returns the metadata of id; when the newest is damaged the one before,
// and the damage. Errors wrap ErrNotFound when none is kept and ErrCorrupt when
// none is good. The caller owns the result.
func (s *Store) LoadMeta(id string) (p []byte, damage, err error) {
	d, err := s.Open(id)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	p, first := loadMeta(d, metaFile)
	if first == nil {
		return p, nil, nil
	}
	p, second := loadMeta(d, metaOldFile)
	switch {
	case second == nil && errors.Is(first, fs.ErrNotExist):
		return p, nil, nil // a crash in the middle of SaveMeta
	case second == nil:
		return p, fmt.Errorf("datadir: metadata of %s: %w; what was kept before it is used", id, first), nil
	case errors.Is(first, fs.ErrNotExist) && errors.Is(second, fs.ErrNotExist):
		err = ErrNotFound
	default:
		err = errors.Join(first, second)
	}
	return nil, nil, fmt.Errorf("datadir: load metadata of %s: %w", id, err)
}

// loadMeta reads one of the two files.
func loadMeta(d *os.Root, name string) ([]byte, error) {
	b, err := ReadFile(d, name, maxMeta+64)
	if err != nil {
		return nil, err
	}
	i := max(0, len(b)-len(fmt.Sprintf(metaSeal, 0)))
	if p := b[:i]; string(b[i:]) == fmt.Sprintf(metaSeal, crc32.Checksum(p, castagnoli)) {
		return p, nil
	}
	return nil, fmt.Errorf("%w: %s does not have the checksum it names", snapshot.ErrCorrupt, name)
}

// castagnoli is of CRC-32C (Castagnoli).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)
