package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"github.com/evertty/evertty/internal/datadir"
)

// The lengths of its data files give a journal's positions, as long as no file is lost and the disk accepts all
// output. For the other cases a file beside them says up to where positions were issued:
//
//	DIR/terminals/ID/positions    2 KiB, made with the journal, so that writing to it needs no space
//
//	magic 89 65 76 54 54 70 6A 0A, then two slots, at 512 and 1024, little endian:
//	serial (8), position (8), kind (1), nothing (3), CRC-32C of the 20 bytes before (4)
//
// The slots are written in turn; the good one with the higher serial counts. Kind 1 is a bound: positions below
// it may have been issued; it is written ahead and only counts when data were lost. Kind 2 is exact: it is
// written before output is shown that the disk refused to keep, and when a journal is closed.
const (
	positionsFile  = "positions"
	positionsMagic = "\x89evTTpj\n"
	positionsSize  = 2 << 10 // bytes: all blocks of it are there from the beginning
	slotSize       = 24
	slotSpace      = 512 // bytes between slots: a sector, so that a torn write damages one

	// boundAhead is how far a bound is ahead of the end, in bytes. It costs one small write per so
	// much output; positions may jump so far when the last data file is lost.
	boundAhead = 4 << 20
)

const (
	positionBound = 1
	positionExact = 2
)

// issued is up to where the journal has issued positions, as the file says. The zero value says nothing.
type issued struct {
	serial uint64
	pos    uint64
	exact  bool
}

// positions is the last good slot in the file of one journal. The file is opened for each write, because a server
// has thousands of journals.
type positions struct {
	last  issued
	dirty bool // the last one was not synced
}

// readPositions reads the file in d. It returns the zero value when it is missing or has no good slot.
func readPositions(d *os.Root) issued {
	b, _ := datadir.ReadFile(d, positionsFile, positionsSize)
	return parsePositions(b)
}

func parsePositions(b []byte) (best issued) {
	if !bytes.HasPrefix(b, []byte(positionsMagic)) {
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

// provide makes the file with pos as the bound, unless it exists. Errors: of the disk.
func (p *positions) provide(d *os.Root, pos uint64) error {
	if info, err := d.Lstat(positionsFile); err == nil && info.Size() == positionsSize {
		return nil
	}
	return p.note(d, pos, false)
}

// note writes that positions up to pos were issued. Errors: of the disk.
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
func (w *writer) reserveAhead() {
	if end := w.segments.end.Load(); end > w.positions.last.pos {
		w.positions.last.pos = end + boundAhead // also when the write fails: trying costs as much as writing
		w.noteIssued(end+boundAhead, false)
	}
}

// noteExactEnd writes the exact end, when output before it is lost or no more comes for now.
func (w *writer) noteExactEnd() { w.noteIssued(w.segments.end.Load(), true) }

// noteIssued writes up to where positions are issued. It drops errors: a disk that refuses this
// refuses output too, which is reported.
func (w *writer) noteIssued(pos uint64, exact bool) {
	_ = w.dir.do(func(d *os.Root) error { return w.positions.note(d, pos, exact) })
}

// noData is the data of a segment that has lost its file.
type noData struct{}

func (noData) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (noData) Close() error                      { return nil }
