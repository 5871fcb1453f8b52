//go:build linux

package asciicast

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/journal"
)

// Writer turns the entries of a journal into a recording. It writes whole
// lines, keeps no more than one entry's text, and is not for concurrent use.
//
// Time begins with the first event. Output is decoded on the way: a character
// that two entries share goes into the later event, and a byte that is not
// UTF-8 becomes one U+FFFD, as the emulator sees it. A restart and lost or
// damaged bytes are markers. The exit is the event x of version 3 when nothing
// follows it, else a marker, since x ends a recording.
type Writer struct {
	w       io.Writer
	err     error // the first of w
	header  Header
	begun   bool          // the header is written
	start   time.Time     // of the recording; zero until an entry has a time
	now     time.Duration // of the last entry
	last    time.Duration // of the last event, in the precision of the version
	output  decoder
	input   decoder
	damaged bool         // the last output was
	exit    *journal.End // it was the last entry
	data    []byte       // of an event, as a JSON string
	line    []byte
}

// NewWriter makes a writer of h.Version. h.Cols and h.Rows are the size in
// force at the first entry; h.Time is taken from the entries. Nothing is written
// before the first event or Close.
func NewWriter(w io.Writer, h Header) *Writer {
	h.Time = time.Time{}
	return &Writer{w: w, header: h}
}

// Add writes the event of an entry, which may be none. Errors are the writer's; after the first one
// nothing is written.
func (c *Writer) Add(e journal.Entry) error {
	c.writeExit(true)
	c.setTime(e.Time)
	switch e.Kind {
	case journal.EntryOutput:
		if e.Damaged && !c.damaged {
			c.marker("damaged from here")
		}
		c.damaged = e.Damaged
		c.event(Output, c.output.quote(c.data[:0], e.Data, false))
	case journal.EntryInput:
		c.event(Input, c.input.quote(c.data[:0], e.Data, false))
	case journal.EntryResize:
		c.resize(e.Cols, e.Rows)
	case journal.EntryGap:
		c.flushText()
		c.marker(fmt.Sprintf("%d bytes lost", e.Bytes))
	case journal.EntryRestart:
		c.flushText()
		c.resize(e.Cols, e.Rows)
		c.marker(fmt.Sprintf("generation %d", e.Generation))
	case journal.EntryExit:
		c.exit = e.End
		c.flushText()
	}
	return c.err
}

// Flush writes the header if it was not yet. For a recording that goes on: the bytes of an
// incomplete character and an exit wait for the next entries.
func (c *Writer) Flush() error {
	c.begin()
	return c.err
}

// Close writes the rest: an incomplete character, and the exit.
func (c *Writer) Close() error {
	c.begin()
	c.flushText()
	c.writeExit(false)
	return c.err
}

// setTime sets the time of the next events. It never goes backwards.
func (c *Writer) setTime(t time.Time) {
	switch {
	case t.IsZero():
	case c.start.IsZero():
		c.start = t
	default:
		c.now = max(c.now, t.Sub(c.start))
	}
}

// flushText writes the incomplete characters, which nothing completes any more.
func (c *Writer) flushText() {
	c.event(Output, c.output.quote(c.data[:0], nil, true))
	c.event(Input, c.input.quote(c.data[:0], nil, true))
}

// resize before the first event is where the recording begins.
func (c *Writer) resize(cols, rows int) {
	if cols == c.header.Cols && rows == c.header.Rows {
		return
	}
	c.header.Cols, c.header.Rows = cols, rows
	if c.begun {
		c.event(Resize, appendQuoted(c.data[:0], fmt.Sprintf("%dx%d", cols, rows)))
	}
}

// writeExit writes the exit that was the last entry: as a marker when another entry follows or the
// status, which x needs, is unknown.
func (c *Writer) writeExit(follows bool) {
	e := c.exit
	if e == nil {
		return
	}
	c.exit = nil
	status, known := status(e)
	switch {
	case !known:
		c.marker("exit " + e.Reason)
	case follows || c.header.Version == V2:
		c.marker("exit " + strconv.Itoa(status))
	default:
		c.event(Exit, appendQuoted(c.data[:0], strconv.Itoa(status)))
	}
}

// status is the exit status as shells count it: 128 and the number for a signal
// (POSIX XCU 2.8.2).
func status(e *journal.End) (status int, known bool) {
	if e.Code != nil {
		return *e.Code, true
	}
	for _, name := range []string{e.Signal, "SIG" + e.Signal} {
		if n := unix.SignalNum(name); n != 0 {
			return 128 + int(n), true
		}
	}
	return 0, false
}

func (c *Writer) marker(label string) { c.event(Marker, appendQuoted(c.data[:0], label)) }

// event writes an event with a JSON string. Output and input without text are no event.
func (c *Writer) event(code rune, data []byte) {
	c.data = data
	if len(data) == len(`""`) && code != Marker {
		return
	}
	c.begin()
	line := append(c.appendTime(append(c.line[:0], '[')), `, "`...)
	line = append(append(line, byte(code)), `", `...)
	c.line = append(append(line, data...), "]\n"...)
	c.write(c.line)
}

func (c *Writer) write(p []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(p)
	}
}

// appendTime appends the time of the event that is written now: since the
// beginning with six digits in version 2, since the last event with three in
// version 3, as asciinema does. What rounding cuts off is part of the next.
func (c *Writer) appendTime(b []byte) []byte {
	if c.header.Version == V2 {
		us := c.now.Microseconds()
		return fmt.Appendf(b, "%d.%06d", us/1e6, us%1e6)
	}
	at := c.now.Truncate(time.Millisecond)
	ms := (at - c.last).Milliseconds()
	c.last = at
	return fmt.Appendf(b, "%d.%03d", ms/1e3, ms%1e3)
}

// begin writes the header once.
func (c *Writer) begin() {
	if c.begun {
		return
	}
	c.begun = true
	// What came before the first event is no part of the recording.
	if !c.start.IsZero() {
		c.start, c.now = c.start.Add(c.now), 0
	}
	c.header.Time = c.start
	c.write(c.header.append(nil))
}

// append appends the header's line.
func (h Header) append(b []byte) []byte {
	out := castHeader{Version: h.Version, IdleLimit: h.IdleLimit.Seconds(), Command: h.Command, Title: h.Title,
		Env: h.Env}
	if !h.Time.IsZero() {
		out.Timestamp = h.Time.Unix()
	}
	if h.Version == V2 {
		out.Width, out.Height = h.Cols, h.Rows
		if h.Type != "" { // version 2 has no other place for it
			out.Env = maps.Clone(h.Env)
			if out.Env == nil {
				out.Env = map[string]string{}
			}
			out.Env["TERM"] = h.Type
		}
	} else {
		out.Term = &castTerm{h.Cols, h.Rows, h.Type}
	}
	p, _ := json.Marshal(out) // numbers and strings always can be
	return append(append(b, p...), '\n')
}
