package server

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/asciicast"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// followPause is how long a recording that goes on waits for more output
// after the first: a flood comes in few large pieces.
const followPause = 100 * time.Millisecond

// recordingFormat is a form of the reply.
type recordingFormat struct {
	version   int // of asciicast, 0 for raw bytes
	media     string
	extension string
}

// recordingFormats are the values of format=, with the extension of the file.
var recordingFormats = map[string]recordingFormat{
	"asciicast-v3": {asciicast.V3, asciicast.ContentType, ".cast"},
	"asciicast-v2": {asciicast.V2, asciicast.ContentType, ".cast"},
	"raw":          {0, echo.MIMEOctetStream, ".raw"},
}

// flusher holds bytes back.
type flusher interface{ Flush() error }

// recording is one reply to GET …/recording while it is sent.
type recording struct {
	terminal *terminal.Terminal
	reader   *journal.Reader
	cast     *asciicast.Writer  // nil for raw bytes
	out      io.Writer          // coded, else wire
	coded    httpapi.Compressor // nil when the reply is not compressed
	wire     *bufio.Writer
	client   *httpapi.DeadlineWriter
	layers   []flusher // of the way to the client, in its order
	ended    bool      // the last entry was the exit
}

func (ts *terminals) getRecording(c echo.Context, in wire.GetRecording) error {
	t, err := ts.terminalOf(c.Request().Context(), in.TerminalRef)
	if err != nil {
		return err
	}
	reader, from, err := journalAt(c, t, in.From)
	if err != nil {
		return err
	}
	defer reader.Close()
	c.Response().Header().Set(recordingFrom, strconv.FormatUint(from, 10))
	rec := &recording{terminal: t, reader: reader}
	if err := rec.begin(c, recordingFormats[in.Format]); err != nil {
		return err
	}
	if httpapi.IsHead(c) {
		return nil
	}
	if err := rec.send(c.Request().Context(), in.Follow, ts.Closing); err != nil {
		return aborted(c, t, err)
	}
	return nil
}

// aborted breaks the connection of a reply that has begun, so that nobody takes
// what is there for the whole. What went wrong on our side is logged; that the quota took what was
// not sent yet is no failure.
func aborted(c echo.Context, t *terminal.Terminal, err error) error {
	if _, lost := errors.AsType[*httpapi.SendError](err); !lost && c.Request().Context().Err() == nil {
		level := slog.LevelError
		if errors.Is(err, journal.ErrNotKept) {
			level = slog.LevelInfo
		}
		slog.Log(c.Request().Context(), level, "recording broken off", "id", t.ID, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// recordingFrom is the header that says at which position a recording begins, for who
// has to ask for the same one again.
const recordingFrom = "Evertty-From"

// journalAt reads the terminal's journal from a position, or from the first that is kept.
func journalAt(c echo.Context, t *terminal.Terminal, at *uint64) (reader *journal.Reader, from uint64, err error) {
	j, err := t.Journal()
	if err != nil {
		return nil, 0, err
	}
	from = j.Start()
	if at != nil {
		from = *at
	}
	reader, err = j.Read(from)
	if errors.Is(err, journal.ErrNotKept) {
		return nil, 0, notKept(c, "from", from, j)
	}
	return reader, from, err
}

// notKept says what the journal has instead of a position that was asked for as name.
func notKept(c echo.Context, name string, at uint64, j *journal.Journal) error {
	start, end := j.Start(), j.End()
	e := httpapi.ErrorFor(fmt.Errorf("%s %d: %w, which has %d to %d", name, at, journal.ErrNotKept, start, end), c)
	e.Details.Start, e.Details.End = &start, &end
	return e
}

// fileOf is the name under which a browser keeps the recording.
func fileOf(t *terminal.Terminal, extension string) string {
	return cmp.Or(t.Spec().Name, t.ID) + extension
}

// begin sends the head of the reply and sets up what its body goes through.
func (r *recording) begin(c echo.Context, f recordingFormat) error {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, f.media)
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", fileOf(r.terminal, f.extension)))
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold a recording back that goes on
	h.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
	r.client = httpapi.NewDeadlineWriter(c.Response())
	r.wire = bufio.NewWriterSize(r.client, httpapi.WritePiece)
	r.out, r.layers = r.wire, append(r.layers, r.wire, r.client)
	if coding := httpapi.AcceptedCoding(c.Request().Header.Get(echo.HeaderAcceptEncoding)); coding != "" {
		var err error
		if r.coded, err = httpapi.NewCompressor(r.wire, coding); err != nil {
			return fmt.Errorf("server: %s: %w", coding, err)
		}
		h.Set(echo.HeaderContentEncoding, coding)
		r.out, r.layers = r.coded, slices.Insert(r.layers, 0, flusher(r.coded))
	}
	if f.version != 0 {
		r.cast = asciicast.NewWriter(r.out, castHeaderOf(r.terminal.Wire(), r.reader, f.version))
		r.layers = slices.Insert(r.layers, 0, flusher(r.cast))
	}
	c.Response().WriteHeader(http.StatusOK)
	return nil
}

// castHeaderOf tells of the terminal what asciinema tells of its own: of the
// environment TERM and SHELL alone, since recordings are passed on.
func castHeaderOf(i wire.Terminal, r *journal.Reader, version int) asciicast.Header {
	h := asciicast.Header{Version: version, Title: cmp.Or(i.Title, i.Name), Command: commandLine(i.Cmd),
		Type: cmp.Or(i.Env["TERM"], "xterm-256color")} // what every program gets that was not given another
	if h.Cols, h.Rows = r.Size(); h.Cols == 0 { // its record is lost
		h.Cols, h.Rows = i.Cols, i.Rows
	}
	if shell := i.Env["SHELL"]; shell != "" {
		h.Env = map[string]string{"SHELL": shell}
	} else if len(i.Cmd) > 0 && strings.HasSuffix(filepath.Base(i.Cmd[0]), "sh") {
		h.Env = map[string]string{"SHELL": i.Cmd[0]}
	}
	return h
}

// commandLine is argv as one would type it into a shell (POSIX XCU 2.2.2).
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`!*?[]{}()<>|&;~#=%") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// errUnfinished breaks off a recording that goes on under the next server. Nothing is
// written to it after what was flushed: an unfinished character may be finished there.
var errUnfinished = &httpapi.SendError{Err: errors.New("the server is shutting down")}

// send writes what the journal has and, with follow, what comes until the
// program ends, the client leaves or the server closes.
func (r *recording) send(ctx context.Context, follow bool, closing <-chan struct{}) error {
	if !follow || !r.terminal.Running() {
		return errors.Join(r.copy(), r.close())
	}
	changed, stop := r.terminal.Hub().Watch()
	defer stop()
	for {
		finished := r.terminal.Hub().Stats().Finished // before the look: then all of it is there
		if err := r.copy(); err != nil {
			return err
		}
		if r.ended || finished {
			return r.close()
		}
		if err := r.flush(); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-closing:
			return errUnfinished
		case <-ctx.Done():
			return ctx.Err()
		}
		if !rested(ctx, closing) {
			return errUnfinished
		}
	}
}

// rested waits for followPause; false when there is no time for that.
func rested(ctx context.Context, closing <-chan struct{}) bool {
	pause := time.NewTimer(followPause)
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-closing:
	case <-ctx.Done():
	}
	return false
}

// copy writes all entries up to the journal's end as of now.
func (r *recording) copy() error {
	for {
		e, err := r.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r.ended = e.Kind == journal.EntryExit
		if r.cast != nil {
			err = r.cast.Add(e)
		} else if e.Kind == journal.EntryOutput {
			_, err = r.out.Write(e.Data)
		}
		if err != nil {
			return err
		}
	}
}

// flush has everything on its way to the client.
func (r *recording) flush() error {
	for _, l := range r.layers {
		if err := l.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// close writes the end of the recording and of its compression.
func (r *recording) close() error {
	var err error
	if r.cast != nil {
		err = r.cast.Close()
	}
	if r.coded != nil {
		err = errors.Join(err, r.coded.Close())
	}
	return errors.Join(err, r.wire.Flush())
}
