package datadir

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// generations is how many snapshots of a terminal are kept: the newest and one
// to fall back to.
const generations = 2

// Loaded is what Load found.
type Loaded struct {
	Header snapshot.Header
	Frame  *vt.Frame
	// Damage says what was wrong with newer snapshots that had to be passed
	// over; nil when the newest was good.
	Damage error

	file *[]byte // the history of the frame lies in it
}

// Save keeps f as the newest snapshot of id, synced to disk, and of the older
// ones the newest. When it fails, what was kept stays; errors wrap ErrNoSpace
// when the disk is full.
func (s *Store) Save(id string, h snapshot.Header, f *vt.Frame) error {
	d, err := s.Make(id)
	if err != nil {
		return err
	}
	defer d.Close()
	kept, err := snapshots(d)
	if err != nil {
		return fmt.Errorf("datadir: save %s: %w", id, err)
	}
	next := uint64(1)
	if len(kept) > 0 {
		next = kept[0].n + 1
	}
	err = writeFile(d, screenFile{n: next}.name(), snapshot.Encode(h, f))
	if err == nil {
		err = s.syncName(id)
	}
	if err != nil {
		return fmt.Errorf("datadir: save %s: %w", id, err)
	}
	for _, k := range kept[min(len(kept), generations-1):] {
		if err := d.RemoveAll(k.name()); err != nil {
			return fmt.Errorf("datadir: drop an old one of %s: %w", id, err)
		}
	}
	return nil
}

// Load returns the newest good snapshot of id. Errors wrap ErrNotFound when
// there is none at all, and ErrCorrupt or ErrVersion when none is good.
func (s *Store) Load(id string) (Loaded, error) { return s.LoadAt(id, math.MaxUint64) }

// LoadAt is Load of the newest good snapshot that is not behind position seq.
// Errors wrap ErrNotFound when all are behind it.
func (s *Store) LoadAt(id string, seq uint64) (Loaded, error) {
	d, err := s.Open(id)
	if err != nil {
		return Loaded{}, err
	}
	defer d.Close()
	kept, err := snapshots(d)
	if err != nil {
		return Loaded{}, fmt.Errorf("datadir: load %s: %w", id, err)
	}
	var damage []error
	for _, k := range kept {
		l, err := load(d, k.name())
		if err == nil && l.Header.Seq <= seq {
			l.Damage = errors.Join(damage...)
			return l, nil
		}
		l.Free()
		if err != nil {
			damage = append(damage, fmt.Errorf("%s/%s: %w", id, k.name(), err))
		}
	}
	if len(damage) == 0 {
		damage = append(damage, ErrNotFound)
	}
	return Loaded{}, fmt.Errorf("datadir: load %s: %w", id, errors.Join(damage...))
}

// maxFileBuffer is the size of the largest file whose memory is used again, in bytes: 5000 lines take half of it.
const maxFileBuffer = 1 << 20

var fileBuffers sync.Pool // of *[]byte

// Free lets the memory of the file be used again. Nothing of the frame may be read after it. Who does not call it
// leaves the memory to the garbage collector.
func (l Loaded) Free() {
	if l.file != nil && cap(*l.file) <= maxFileBuffer {
		fileBuffers.Put(l.file)
	}
}

// load reads one file. With an error too, Free gives its memory back.
func load(d *os.Root, name string) (l Loaded, err error) {
	var ok bool
	if l.file, ok = fileBuffers.Get().(*[]byte); !ok {
		l.file = new([]byte)
	}
	b, err := readFileIn(*l.file, d, name, snapshot.MaxFile)
	if err == nil {
		*l.file = b
		l.Header, l.Frame, err = snapshot.Decode(b)
	}
	return l, err
}

// screenPrefix is what the names of snapshot files begin with.
const screenPrefix = "screen."

// screenFile is a snapshot file: screen.N, or screen.N.zst when compressed.
type screenFile struct {
	n      uint64
	packed bool
}

func (s screenFile) name() string {
	name := screenPrefix + strconv.FormatUint(s.n, 10)
	if s.packed {
		name += PackedEnd
	}
	return name
}

// maxGeneration bounds the number in a file's name, so that a planted file
// cannot make the next number overflow. Ten snapshots a second reach it in 300
// million years.
const maxGeneration = 1e17

// snapshots returns the snapshot files in d, newest first. When a crash left the
// plain and the compressed file of one number, both count, the plain one first:
// they say the same.
func snapshots(d *os.Root) ([]screenFile, error) {
	entries, err := ReadDir(d)
	if err != nil {
		return nil, err
	}
	var out []screenFile
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), screenPrefix)
		digits, packed := strings.CutSuffix(digits, PackedEnd)
		n, err := strconv.ParseUint(digits, 10, 64)
		if k := (screenFile{n, packed}); ok && err == nil && n < maxGeneration && e.Name() == k.name() {
			out = append(out, k)
		}
	}
	// By name the plain file of a number comes first, which a stable sort keeps.
	slices.SortStableFunc(out, func(a, b screenFile) int { return cmp.Compare(b.n, a.n) })
	return out, nil
}
