package snapshot

import (
	"errors"
	"hash/crc32"
	"strings"
	"time"

	"github.com/evertty/evertty/vt"
)

// The snapshot file, version 1. Numbers are little endian; uv is an unsigned
// LEB128 number of at most five bytes. The first 16 bytes and the last 4 are
// the same in every version, so that any evertty can tell a newer file from a
// damaged one.
//
//	offset  size  what
//	0       8     magic, 89 65 76 54 54 59 0D 0A: broken by anything that
//	              takes the file for text
//	8       2     version
//	10      2     reserved, 0
//	12      4     length of the file in bytes, checksum included
//	16      2     columns, 1..1000
//	18      2     rows, 1..1000
//	20      8     seq: output bytes that are part of the frame
//	28      8     time in nanoseconds since 1970 UTC, signed; 0 is none
//	36      …     records
//	end-4   4     CRC-32C (Castagnoli) of everything before it
//
// A record is a tag (1 byte), the size of its content (4 bytes) and the
// content. Records come in any order; unknown tags are skipped, so a field can
// be added without a new version. Terminal and main are required.
//
//	tag  name      content
//	1    terminal  modes (4, bit by bit as in modeBits), mouse (1), mouse
//	               encoding (1), kitty flags (1), cursor style (1), last
//	               character (4), character sets (5: G0..G3, GL), pen (style)
//	2    unicode   name of the width table
//	3    title     4    icon      5    cwd      UTF-8
//	6    colours   foreground, background, cursor (4 each), then any number of
//	               palette entries: index (1), colour (4); present when the
//	               palette was ever changed
//	7    history   count (4), lines, oldest first
//	8    main      screen
//	9    alt       screen, when the alternate screen is shown
//	10   pending   the unfinished sequence
//	11   hidden    screen, the alternate one while it is not shown: only its
//	               saved cursor and keyboard stack count
//	12   other     colours that no viewer shows, as in Frame.OtherColors: any
//	               number of index (1), colour (4)
//	13   saved     private modes that XTSAVE keeps: any number of mode (2), on (1)
//
//	17   linings   of the saved pens of the main and of the other screen (1 each),
//	               as in SavedCursor.FlagsDiffer, when one is not 0
//	18   dropped   empty, present when Frame.LastDropped
//	19   open      as in Frame.Open: 0, and the row (2) when it is known
//	20   cwd host  UTF-8, the host of the cwd, when it named one
//
//	screen  x, y (2 each), flags (1: pending wrap, saved, saved pending wrap,
//	        saved origin, own tab stops, beyond, saved beyond), top, bottom, saved x, saved y (2
//	        each), saved character sets (5), saved pen (style), uv number of tab
//	        stops and each (2), uv size of the keyboard stack and each (1), lines
//	        of all rows
//	line    uv: size of the packed line * 2, plus 1 when it continues the one
//	        above; the packed line (see vt.Line)
//	style   uv size and a packed line of one character in that style
//	colour  kind << 24 | value: 0, palette 1, red-green-blue 2

const (
	magic   = "\x89evTTY\r\n"
	version = 1

	headSize  = 36
	crcSize   = 4
	minFile   = headSize + crcSize
	recordTop = 5 // bytes of tag and size
)

// MaxFile is the size of the largest snapshot file in bytes, for Encode and Decode. A plain
// history of vt.MaxScrollback lines takes about 20 MB.
const MaxFile = 64 << 20

const (
	tagTerminal = 1 + iota
	tagUnicode
	tagTitle
	tagIcon
	tagCwd
	tagColours
	tagHistory
	tagMain
	tagAlt
	tagPending
	tagHidden
	tagOtherColours
	tagSavedModes
	tagInvoked
	tagAside
	tagSavedRows
	tagLinings
	tagDropped
	tagOpen
	tagCwdHost
)

const (
	flagPendingWrap = 1 << iota
	flagSaved
	flagSavedWrap
	flagSavedOrigin
	flagTabs
	flagBeyond
	flagSavedBeyond
)

var (
	// ErrCorrupt is returned for bytes that are no snapshot or were damaged: cut
	// short, or changed since they were written.
	ErrCorrupt = errors.New("damaged snapshot")
	// ErrVersion is returned for a whole snapshot that a newer evertty wrote.
	ErrVersion = errors.New("snapshot of an unknown version")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is the part of a snapshot file beside the frame.
type Header struct {
	Seq  uint64    // output bytes of the program that are part of the frame
	Time time.Time // when the frame was taken; the zero value when not known
}

// IsSnapshot reports whether b begins like a snapshot file of any version, plain or compressed.
// Terminal output never does: the first byte of a plain file begins no UTF-8 character, and a
// compressed file begins with the magic of zstd.
func IsSnapshot(b []byte) bool { return isPlain(b) || isPacked(b) }

func isPlain(b []byte) bool {
	return len(b) >= len(magic) && strings.HasPrefix(string(b[:len(magic)]), magic)
}

// modeBits are the switches in the order of their bits in a file. The order
// never changes; new ones are added at the end.
func modeBits(m *vt.Modes) []*bool {
	return []*bool{
		&m.AppCursor, &m.Origin, &m.Autowrap, &m.ReverseWrap, &m.ReverseVideo, &m.CursorHidden, &m.AppKeypad,
		&m.Insert, &m.Linefeed, &m.BracketedPaste, &m.FocusEvents, &m.SyncOutput, &m.ColorReports,
		&m.SmoothScroll, &m.PrintFormFeed, &m.PrintExtent, &m.NationalCharsets, &m.CursorCoupling,
	}
}
