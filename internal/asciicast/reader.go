package asciicast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// CastReader reads a recording. It takes what asciinema takes: unknown members
// of the header, events of unknown codes, empty lines and, in version 3,
// comments. It keeps one line in memory and is not for concurrent use.
type CastReader struct {
	lines  *bufio.Scanner
	header Header
	number int // of the line that was read last, from 1
	at     time.Duration
}

// NewReader reads the header. Errors wrap ErrFormat and name the line, or are
// r's.
func NewReader(r io.Reader) (*CastReader, error) {
	c := &CastReader{lines: bufio.NewScanner(r)}
	c.lines.Buffer(nil, maxLine)
	line, err := c.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, c.wrong("the file is empty")
	case err != nil:
		return nil, err
	}
	if err := c.begin(line); err != nil {
		return nil, err
	}
	return c, nil
}

// Header is the first line's.
func (c *CastReader) Header() Header { return c.header }

// Next returns the next event; io.EOF behind the last. Errors wrap ErrFormat and
// name the line, or are the reader's; nothing can be read after one.
func (c *CastReader) Next() (Event, error) {
	for {
		line, err := c.next()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 || c.header.Version == V3 && line[0] == '#' {
			continue
		}
		return c.event(line)
	}
}

// wrong is ErrFormat with the line and the reason.
func (c *CastReader) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrFormat, c.number, fmt.Sprintf(format, args...))
}

// next returns the next line without its end, valid until the next call.
func (c *CastReader) next() ([]byte, error) {
	c.number++
	if c.lines.Scan() && c.lines.Err() == nil {
		return bytes.TrimSpace(c.lines.Bytes()), nil
	}
	switch err := c.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, c.wrong("longer than %d bytes", maxLine)
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}

func (c *CastReader) begin(line []byte) error {
	var h struct {
		castHeader
		// What asciinema writes as null or as a fraction is taken too.
		Timestamp float64        `json:"timestamp"`
		Env       map[string]any `json:"env"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return c.wrong("the header: %v", err)
	}
	c.header = Header{Version: h.Version, Command: h.Command, Title: h.Title, Env: stringsOf(h.Env)}
	switch {
	case h.Version == V2:
		c.header.Cols, c.header.Rows, c.header.Type = h.Width, h.Height, c.header.Env["TERM"]
	case h.Version == V3 && h.Term != nil:
		c.header.Cols, c.header.Rows, c.header.Type = h.Term.Cols, h.Term.Rows, h.Term.Type
	case h.Version == V3:
		return c.wrong("the header has no term")
	default:
		return c.wrong("version %d", h.Version)
	}
	if !castSize(c.header.Cols, c.header.Rows) {
		return c.wrong("a size of %d x %d", c.header.Cols, c.header.Rows)
	}
	if h.Timestamp > 0 && h.Timestamp < math.MaxInt32*maxEpochs {
		c.header.Time = time.Unix(int64(h.Timestamp), 0)
	}
	c.header.IdleLimit, _ = castTime(h.IdleLimit)
	return nil
}

// maxEpochs times the 68 years of 32 bits are as far as a timestamp may go.
const maxEpochs = 32

// stringsOf is the variables whose values are strings.
func stringsOf(env map[string]any) map[string]string {
	texts := map[string]string{}
	for k, v := range env {
		if s, ok := v.(string); ok {
			texts[k] = s
		}
	}
	return texts
}

func castSize(cols, rows int) bool {
	return min(cols, rows) >= 1 && max(cols, rows) <= maxSize
}

// castTime is a number of seconds, which the formats give to the microsecond.
func castTime(seconds float64) (time.Duration, bool) {
	// The comparison is false for NaN.
	if !(seconds >= 0 && seconds <= maxTime.Seconds()) {
		return 0, false
	}
	return time.Duration(math.Round(seconds*1e6)) * time.Microsecond, true
}

// event reads [time, code, data]. In version 2 the time counts from the
// beginning, in version 3 from the event before.
func (c *CastReader) event(line []byte) (Event, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return Event{}, c.wrong("%v", err)
	}
	if len(parts) != 3 {
		return Event{}, c.wrong("an event of %d parts: [time, code, data] is needed", len(parts))
	}
	var seconds float64
	var code string
	e := Event{}
	if err := errors.Join(json.Unmarshal(parts[0], &seconds), json.Unmarshal(parts[1], &code),
		json.Unmarshal(parts[2], &e.Data)); err != nil {
		return e, c.wrong("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	t, ok := castTime(seconds)
	if c.header.Version == V3 {
		t += c.at
	}
	if !ok || t > maxTime {
		return e, c.wrong("the time %.40s: a number of seconds from 0 is needed", parts[0])
	}
	c.at = max(c.at, t)
	e.At = c.at
	if code == "" {
		return e, c.wrong("an event without a code")
	}
	e.Code = []rune(code)[0]
	if e.Code == Resize && !e.size() {
		return e, c.wrong("the size %.40q: COLSxROWS is needed", e.Data)
	}
	return e, nil
}

// size reads COLSxROWS from e.Data.
func (e *Event) size() bool {
	cols, rows, ok := strings.Cut(e.Data, "x")
	var err, err2 error
	e.Cols, err = strconv.Atoi(cols)
	e.Rows, err2 = strconv.Atoi(rows)
	return ok && err == nil && err2 == nil && castSize(e.Cols, e.Rows)
}
