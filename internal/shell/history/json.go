package history

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// recordVersion is the version of record.json and shell.json. Readers refuse others.
const recordVersion = 1

// inlineText is the longest command in a record, in bytes. A record is written at the start and at
// the end of its command, a longer text only once.
const inlineText = 4 << 10

// castagnoli is the polynomial of the checksums, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumMark separates a line's JSON, which has no tab, from its checksum, eight hexadecimal digits.
const sumMark = "\tcrc32c "

// encodeRecord is a record as a line. text is the command's when that is too long for the record.
func encodeRecord(r Entry) (content []byte, text string, err error) {
	if r.Version = recordVersion; len(r.Info.Command) > inlineText {
		text, r.Info.Command, r.Info.InFile = r.Info.Command, "", true
	}
	content, err = summed(r)
	return content, text, err
}

// decodeRecord reads a line of record.json. Errors: ErrDamaged.
func decodeRecord(content []byte) (*Entry, error) {
	r := &Entry{}
	if err := checked(content, r, &r.Version); err != nil {
		return nil, err
	}
	if !slices.Contains([]Status{Queued, Running, Done, Cancelled, Failed}, r.Info.Status) {
		return nil, fmt.Errorf("%w: status %q", shelldir.ErrDamaged, r.Info.Status)
	}
	return r, nil
}

// summed is a value as a line of JSON with a checksum, by which a file that was cut, or whose
// blocks never came to the disk, is recognised.
func summed(value any) ([]byte, error) {
	content, err := shelldir.Marshal(value)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(content, "%s%08x\n", sumMark, sumOf(content)), nil
}

// sumOf is the checksum of a text.
func sumOf(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

// checked reads what summed wrote, whose version it finds in version. Errors: ErrDamaged.
func checked(content []byte, into any, version *int) error {
	at := bytes.LastIndex(content, []byte(sumMark))
	if at < 0 {
		return fmt.Errorf("%w: no sum", shelldir.ErrDamaged)
	}
	text, digits := content[:at], bytes.TrimSuffix(content[at+len(sumMark):], []byte("\n"))
	sum, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil || uint32(sum) != sumOf(text) {
		return fmt.Errorf("%w: wrong sum", shelldir.ErrDamaged)
	}
	if err := shelldir.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %w", shelldir.ErrDamaged, err)
	}
	if *version != recordVersion {
		return fmt.Errorf("%w: version %d", shelldir.ErrDamaged, *version)
	}
	*version = 0
	return nil
}
