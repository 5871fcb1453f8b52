package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/evertty/evertty/snapshot"
)

// The index of a journal's segment, version 1. It stands beside the data file
// of the same offset, which has nothing but the terminal's output; the index
// says when the output came, that it is undamaged, and what happened between.
// Numbers of fixed size are little endian; uv is an unsigned LEB128 number, sv a
// signed one (zigzag), both of at most ten bytes.
//
//	file    magic 89 65 76 54 54 59 6A 0A, frames
//	frame   length of the payload (2), type (1), payload, CRC-32C of all three (4)
//
// The first frame is the start; every other payload begins with where and when:
// the position as bytes since the segment's offset (uv), and the time as
// microseconds since the start's (sv), which a clock that was set back makes
// negative. What follows is
//
//	type  name      payload
//	1     start     version (uv), offset (uv), time in microseconds since 1970
//	                UTC (sv), columns, rows, generation (uv each; columns and
//	                rows are 0 when not known), last answered position (uv)
//	2     mark      CRC-32C of the data since the mark before, or since the
//	                offset (4); at most 64 KiB lie between two marks
//	3     unsure    nothing; takes a mark's place where it is not known whether
//	                the data are what the program wrote
//	4     resize    columns, rows (uv)
//	5     answered  position up to which queries were answered (uv)
//	6     input     what was typed, at most 4 KiB
//	7     exit      End as JSON
//	8     restart   generation, columns, rows (uv)
//	9     seal      nothing; its position is the length of the data file, and
//	                nothing follows
//	10    rest      nothing: no sequence is unfinished there, so that what follows, behind
//	                the character it may cut, is understood without what comes before
//
// Marks and unsures ascend. A resize may stand behind a mark of a later
// position, because it is noted when the emulator is there, and the journal is
// ahead of that. Unknown types are skipped, so one can be added without a new
// version.
//
// write(2) is not atomic under SIGKILL and the disk may do worse, so a reader
// takes frames up to the first one that is not whole and good. Data behind the
// last mark are good data: only their times are missing.
const (
	indexMagic   = "\x89evTTYj\n"
	indexVersion = 1

	frameTop  = 3            // bytes of length and type
	frameOver = frameTop + 4 // what a frame has besides its payload

	// maxRange is how many bytes of data a mark speaks for, and the most that
	// an Entry has.
	maxRange = 64 << 10
	// maxInputPayload bounds the text of one record of input, in bytes.
	maxInputPayload = 4 << 10
	// maxPayload bounds a payload: text and two numbers before it.
	maxPayload = maxInputPayload + 64
	// maxPlain bounds the payload of a record without text: six numbers.
	maxPlain = 64
	// maxPosition bounds offsets, so that sums with a length cannot overflow.
	maxPosition = 1 << 62
)

// recordKind is the type of a frame.
type recordKind uint8

const (
	recordStart recordKind = 1 + iota
	recordMark
	recordUnsure
	recordResize
	recordAnswered
	recordInput
	recordExit
	recordRestart
	recordSeal
	recordRest

	lastRecord = recordRest // the last type that is known here
)

// record is the content of one frame.
type record struct {
	kind recordKind
	pos  uint64 // in the terminal's output; of a start the segment's offset
	time int64  // microseconds since 1970 UTC

	crc        uint32 // of a mark
	cols, rows int
	generation int
	answered   uint64
	text       []byte // of input and exit; shares the memory of what was decoded
}

// indexBase is what positions and times in an index count from.
type indexBase struct {
	offset uint64
	time   int64
}

// Why a scan of an index ended before its end.
var (
	// errTorn: the end of the file is inside a frame that looks good so far, as
	// a kill in the middle of write(2) leaves it.
	errTorn = errors.New("incomplete record at its end")
	// errBadFrame: bytes that were never written like this.
	errBadFrame = errors.New("damaged record")
)

// appendFrame appends r as a frame, an index's magic before its start.
func appendFrame(b []byte, base indexBase, r *record) []byte {
	if r.kind == recordStart {
		b = append(b, indexMagic...)
	}
	at := len(b)
	b = append(b, 0, 0, byte(r.kind))
	if r.kind == recordStart {
		b = binary.AppendUvarint(b, indexVersion)
		b = binary.AppendUvarint(b, r.pos)
		b = binary.AppendVarint(b, r.time)
	} else {
		b = binary.AppendUvarint(b, max(r.pos, base.offset)-base.offset)
		b = binary.AppendVarint(b, r.time-base.time)
	}
	b = r.appendRest(b)
	binary.LittleEndian.PutUint16(b[at:], uint16(len(b)-at-frameTop))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
}

// appendRest appends what follows position and time.
func (r *record) appendRest(b []byte) []byte {
	switch r.kind {
	case recordStart:
		b = appendInts(b, r.cols, r.rows, r.generation)
		return binary.AppendUvarint(b, r.answered)
	case recordMark:
		return binary.LittleEndian.AppendUint32(b, r.crc)
	case recordResize:
		return appendInts(b, r.cols, r.rows)
	case recordAnswered:
		return binary.AppendUvarint(b, r.answered)
	case recordRestart:
		return appendInts(b, r.generation, r.cols, r.rows)
	case recordInput, recordExit:
		return append(b, r.text...)
	}
	return b
}

func appendInts(b []byte, values ...int) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, uint64(min(max(v, 0), maxCount)))
	}
	return b
}

// maxCount bounds sizes and generations in a record.
const maxCount = 1<<31 - 1

// indexScan decodes an index piece by piece and remembers what the next record
// depends on. The zero value is at the beginning of a file of any offset.
type indexScan struct {
	base    indexBase
	started bool
	marked  uint64 // position of the last mark, the offset when there is none
	sealed  bool
}

// next decodes the record at the beginning of b and says how many bytes it has.
// Errors wrap errTorn when b ends too early, which an empty b does not, errBadFrame, or
// ErrVersion; then n is 0. A record of an unknown type has no more than its kind.
func (s *indexScan) next(b []byte) (r record, n int, err error) {
	if !s.started {
		if n, err = checkIndexMagic(b); err != nil {
			return record{}, 0, err
		}
	}
	frame, size, err := cutFrame(b[n:])
	if err != nil {
		return record{}, 0, err
	}
	r.kind = recordKind(frame[2])
	if s.sealed || s.started == (r.kind == recordStart) {
		return record{}, 0, fmt.Errorf("%w: type %d out of place", errBadFrame, r.kind)
	}
	p := payload{rest: frame[frameTop : len(frame)-4]}
	if err := p.record(&r, s.base); err != nil {
		return record{}, 0, err
	}
	if err := s.accept(&r); err != nil {
		return record{}, 0, err
	}
	return r, n + size, nil
}

func checkIndexMagic(b []byte) (n int, err error) {
	begin := string(b[:min(len(b), len(indexMagic))])
	switch {
	case begin == indexMagic:
		return len(indexMagic), nil
	case strings.HasPrefix(indexMagic, begin):
		return 0, errTorn
	}
	return 0, fmt.Errorf("%w: not an index", errBadFrame)
}

// cutFrame returns the frame at the beginning of b, checksum checked.
func cutFrame(b []byte) (frame []byte, size int, err error) {
	if len(b) < frameTop {
		return nil, 0, errTorn
	}
	length, kind := int(binary.LittleEndian.Uint16(b)), recordKind(b[2])
	limit := maxPayload
	if kind >= recordStart && kind <= lastRecord && kind != recordInput && kind != recordExit {
		limit = maxPlain
	}
	size = frameOver + length
	if kind == 0 || length > limit {
		return nil, 0, fmt.Errorf("%w: %d bytes of type %d", errBadFrame, length, kind)
	}
	if len(b) < size {
		return nil, 0, errTorn
	}
	if crc32.Checksum(b[:size-4], castagnoli) != binary.LittleEndian.Uint32(b[size-4:]) {
		return nil, 0, fmt.Errorf("%w: wrong checksum", errBadFrame)
	}
	return b[:size], size, nil
}

// accept checks r against what came before and takes it into account.
func (s *indexScan) accept(r *record) error {
	switch r.kind {
	case recordStart:
		s.base, s.started, s.marked = indexBase{r.pos, r.time}, true, r.pos
	case recordMark, recordUnsure:
		if r.pos <= s.marked || r.kind == recordMark && r.pos-s.marked > maxRange {
			return fmt.Errorf("%w: a mark at %d after %d", errBadFrame, r.pos, s.marked)
		}
		s.marked = r.pos
	case recordSeal:
		if r.pos < s.marked {
			return fmt.Errorf("%w: sealed at %d before %d", errBadFrame, r.pos, s.marked)
		}
		s.sealed = true
	}
	return nil
}

// payload takes a payload apart.
type payload struct {
	rest []byte
	bad  bool
}

// record decodes the payload of a record whose kind is known.
func (p *payload) record(r *record, base indexBase) error {
	switch {
	case r.kind > lastRecord:
		return nil
	case r.kind == recordStart:
		if v := p.uv(); v != indexVersion && !p.bad {
			return fmt.Errorf("%w: index of version %d", snapshot.ErrVersion, v)
		}
		r.pos, r.time = p.uv(), p.sv()
	default:
		r.pos, r.time = p.uv(), p.sv()+base.time
		if r.pos <= maxPosition {
			r.pos += base.offset
		}
	}
	p.kindOf(r)
	if p.bad || len(p.rest) > 0 || r.pos > maxPosition || r.answered > maxPosition {
		return fmt.Errorf("%w: content of type %d", errBadFrame, r.kind)
	}
	return nil
}

// kindOf decodes what follows position and time.
func (p *payload) kindOf(r *record) {
	switch r.kind {
	case recordStart:
		r.cols, r.rows, r.generation, r.answered = p.int(), p.int(), p.int(), p.uv()
	case recordMark:
		r.crc = p.u32()
	case recordResize:
		r.cols, r.rows = p.int(), p.int()
	case recordAnswered:
		r.answered = p.uv()
	case recordRestart:
		r.generation, r.cols, r.rows = p.int(), p.int(), p.int()
	case recordInput, recordExit:
		r.text, p.rest = p.rest, nil
		p.bad = p.bad || r.kind == recordExit && !json.Valid(r.text)
	}
}

func (p *payload) uv() uint64 {
	v, n := binary.Uvarint(p.rest)
	return taken(p, v, n)
}

func (p *payload) sv() int64 {
	v, n := binary.Varint(p.rest)
	return taken(p, v, n)
}

func taken[T int64 | uint64 | uint32](p *payload, v T, n int) T {
	if n <= 0 {
		p.bad, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

func (p *payload) int() int {
	v := p.uv()
	p.bad = p.bad || v > maxCount
	return int(min(v, maxCount))
}

func (p *payload) u32() uint32 {
	if len(p.rest) < 4 {
		return taken(p, uint32(0), 0)
	}
	return taken(p, binary.LittleEndian.Uint32(p.rest), 4)
}

// micros is t as an index keeps it.
func micros(t time.Time) int64 { return t.UnixMicro() }

// castagnoli is of CRC-32C (Castagnoli).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)
