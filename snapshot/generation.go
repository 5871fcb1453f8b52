package snapshot

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/vt"
)

// generations is how many snapshots of a terminal are kept: the newest and one
// to fall back to.
const generations = 2

// Loaded is what Load found.
type Loaded struct {
	Header Header
	Frame  *vt.Frame
	// Damage says what was wrong with newer snapshots that had to be passed
	// over; nil when the newest was good.
	Damage error
}

// Save keeps f as the newest snapshot of id, synced to disk, and of the older
// ones the newest. When it fails, what was kept stays; errors wrap ErrNoSpace
// when the disk is full.
func (s *Store) Save(id string, h Header, f *vt.Frame) error {
	d, err := s.make(id)
	if err != nil {
		return err
	}
	defer d.Close()
	kept, err := snapshots(d)
	if err != nil {
		return fmt.Errorf("snapshot: save %s: %w", id, err)
	}
	next := uint64(1)
	if len(kept) > 0 {
		next = kept[0] + 1
	}
	if err := writeFile(d, screenFile(next), Encode(h, f)); err != nil {
		return fmt.Errorf("snapshot: save %s: %w", id, err)
	}
	for _, n := range kept[min(len(kept), generations-1):] {
		if err := d.RemoveAll(screenFile(n)); err != nil {
			return fmt.Errorf("snapshot: drop an old one of %s: %w", id, err)
		}
	}
	return nil
}

// Load returns the newest good snapshot of id. Errors wrap ErrNotFound when
// there is none at all, and ErrCorrupt or ErrVersion when none is good.
func (s *Store) Load(id string) (Loaded, error) {
	d, err := s.open(id)
	if err != nil {
		return Loaded{}, err
	}
	defer d.Close()
	kept, err := snapshots(d)
	if err != nil {
		return Loaded{}, fmt.Errorf("snapshot: load %s: %w", id, err)
	}
	if len(kept) == 0 {
		return Loaded{}, fmt.Errorf("snapshot: load %s: %w", id, ErrNotFound)
	}
	var damage []error
	for _, n := range kept {
		h, f, err := load(d, screenFile(n))
		if err == nil {
			return Loaded{Header: h, Frame: f, Damage: errors.Join(damage...)}, nil
		}
		damage = append(damage, fmt.Errorf("%s/%s: %w", id, screenFile(n), err))
	}
	return Loaded{}, fmt.Errorf("snapshot: load %s: %w", id, errors.Join(damage...))
}

func load(d *os.Root, name string) (Header, *vt.Frame, error) {
	b, err := readFile(d, name, maxFile)
	if err != nil {
		return Header{}, nil, err
	}
	return Decode(b)
}

func screenFile(n uint64) string { return "screen." + strconv.FormatUint(n, 10) }

// maxGeneration bounds the number in a file's name, so that a planted file
// cannot make the next number overflow. Ten snapshots a second reach it in 300
// million years.
const maxGeneration = 1e17

// snapshots returns the numbers of the snapshot files in d, newest first.
func snapshots(d *os.Root) ([]uint64, error) {
	entries, err := readDir(d)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), "screen.")
		n, err := strconv.ParseUint(digits, 10, 64)
		if ok && err == nil && n < maxGeneration && e.Name() == screenFile(n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out, nil
}
