package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"github.com/evertty/evertty/internal/datadir"
)

// A journal's positions are told by the lengths of its data files, as long as these are there and everything
// can be written. For the rest there is a file beside them, which says up to where positions were given out:
//
//	DIR/terminals/ID/positions    2 KiB, made with the journal, so that writing to it needs no space
//
//	magic 89 65 76 54 54 70 6A 0A, then two slots, at 512 and 1024, little endian:
//	serial (8), position (8), kind (1), nothing (3), CRC-32C of the 20 bytes before (4)
//
// The slots are written in turn; the good one with the higher serial counts. Kind 1 is a bound: positions below
// it may have been given out; it is written ahead and only counts when data were lost. Kind 2 is exact: it is
// written before output is shown that the disk refused to keep, and when a journal is closed.
const (
	positionsFile  = "positions"
	positionsMagic = "\x89evTTpj\n"
	positionsSize  = 2 << 10 // bytes: all blocks of it are there from the beginning
	slotSize       = 24
	slotSpace      = 512 // bytes between slots: a sector, so that a torn write damages one

	// boundAhead is how far a bound is ahead, in bytes: one small write for so much output, and how far
	// positions may jump when the last data file is lost.
	boundAhead = 4 << 20
)

const (
	positionBound = 1
	positionExact = 2
)

// issued is the position up to which the journal has issued positions, as the file says. The zero value says nothing.
type issued struct {
	serial uint64
	pos    uint64
	exact  bool
}

// positions is what the file of one journal says; it is opened for each note, because a server has thousands of
// journals.
type positions struct {
	last  issued
	dirty bool // the disk was not asked to keep the last one
}

// readPositions reads the file in d; the zero value when there is none, or nothing good in it.
func readPositions(d *os.Root) issued {
	b, err := datadir.ReadFile(d, positionsFile, positionsSize)
	if err != nil {
		return issued{}
	}
	return parsePositions(b)
}

func parsePositions(b []byte) (best issued) {
	if len(b) < len(positionsMagic) || string(b[:len(positionsMagic)]) != positionsMagic {
		return best
	}
	for at := slotSpace; at <= 2*slotSpace && at+slotSize <= len(b); at += slotSpace {
		s := b[at : at+slotSize]
		g := issued{binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[8:]), s[16] == positionExact}
		good := crc32.Checksum(s[:slotSize-4], castagnoli) == binary.LittleEndian.Uint32(s[slotSize-4:])
		if good && g.serial > best.serial && g.pos < maxPosition {
			best = g
		}
	}
	return best
}

func (g issued) slot() (b []byte, at int64) {
	kind := byte(positionBound)
	if g.exact {
		kind = positionExact
	}
	b = binary.LittleEndian.AppendUint64(make([]byte, 0, slotSize), g.serial)
	b = binary.LittleEndian.AppendUint64(b, g.pos)
	b = append(b, kind, 0, 0, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), slotSpace * int64(1+g.serial%2)
}

// provide makes the file when there is none, with pos as the bound. Errors: the disk's.
func (p *positions) provide(d *os.Root, pos uint64) error {
	if info, err := d.Lstat(positionsFile); err == nil && info.Size() == positionsSize {
		return nil
	}
	return p.note(d, pos, false)
}

// note writes that positions up to pos were issued. Errors: the disk's.
func (p *positions) note(d *os.Root, pos uint64, exact bool) error {
	f, info, err := datadir.OpenFile(d, positionsFile, os.O_RDWR)
	if err != nil || info.Size() != positionsSize {
		if f != nil {
			_ = f.Close()
		}
		f, err = makePositions(d)
	}
	if err != nil {
		return err
	}
	g := issued{p.last.serial + 1, pos, exact}
	b, at := g.slot()
	if _, err = f.WriteAt(b, at); err == nil {
		p.last, p.dirty = g, true
	}
	return errors.Join(err, f.Close())
}

// makePositions makes the file, with all its blocks and nothing in it.
func makePositions(d *os.Root) (*os.File, error) {
	f, err := datadir.CreateFile(d, positionsFile)
	if err != nil {
		return nil, err
	}
	b := make([]byte, positionsSize)
	copy(b, positionsMagic)
	if _, err := f.WriteAt(b, 0); err != nil {
		return nil, errors.Join(err, f.Close(), d.RemoveAll(positionsFile))
	}
	return f, nil
}

// reserveAhead keeps the bound at or above the end.
func (j *Journal) reserveAhead() {
	if end := j.end.Load(); end > j.positions.last.pos {
		j.positions.last.pos = end + boundAhead // also when it cannot be written: trying costs as much as writing
		j.noteIssued(end+boundAhead, false)
	}
}

// noteExactEnd notes the end as it is, when something of the output before it is not kept, or nothing comes behind it
// for now.
func (j *Journal) noteExactEnd() { j.noteIssued(j.end.Load(), true) }

// noteIssued writes up to where positions are issued. A disk that refuses this refuses output too, which is reported.
func (j *Journal) noteIssued(pos uint64, exact bool) {
	d, err := j.directory()
	if err != nil {
		return
	}
	defer d.Close()
	_ = j.positions.note(d, pos, exact)
}

// syncPositions asks the disk to keep what was noted.
func (j *Journal) syncPositions() error {
	j.mu.Lock()
	dirty := j.positions.dirty
	j.positions.dirty = false
	j.mu.Unlock()
	if !dirty {
		return nil
	}
	return j.syncSealed(positionsFile)
}

// noData are the data of a segment that has lost its file.
type noData struct{}

func (noData) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (noData) Close() error                      { return nil }
