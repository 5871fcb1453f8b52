package exec

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/output"
)

// MaxReplyOutput bounds each output in the reply of an exec, in bytes; the command's logs have all.
const MaxReplyOutput = 10 << 20

// execOutcome is the reply of an exec without the outputs, and the data of the event complete.
type execOutcome struct {
	Success     bool      `json:"success"`
	ExitCode    int       `json:"exit_code"`
	ExitCodeToo int       `json:"exitCode"`
	Truncated   bool      `json:"truncated"`
	Reason      string    `json:"truncated_reason,omitempty"`
	TimedOut    bool      `json:"timed_out"`
	Cancelled   bool      `json:"cancelled"`
	EndReason   string    `json:"reason,omitempty"` // why the end of its session ended it
	DurationMS  int64     `json:"duration_ms"`
	Timestamp   time.Time `json:"timestamp"`
	Command     string    `json:"command"`
	CommandID   string    `json:"command_id"`
	Session     string    `json:"session"`
	Shell       string    `json:"shell"`
	PTY         string    `json:"pty,omitempty"`
	Cwd         string    `json:"cwd"`
	CwdFallback string    `json:"cwd_fallback,omitempty"`
	Background  bool      `json:"background"`
	Recreated   bool      `json:"recreated"`
	Lost        []string  `json:"lost"`
	ShellEnded  bool      `json:"shell_ended"`
	StdoutBytes int64     `json:"stdout_bytes"`
	StderrBytes int64     `json:"stderr_bytes"`
	Note        string    `json:"note,omitempty"`
}

// ttyNote is the note in the result of a command on a terminal.
const ttyNote = "cd, export and other changes of a tty command are not kept: it ran in a process of its own, not in " +
	"the shell"

// outcomeOf is the outcome of a command that has ended.
func outcomeOf(session string, i shell.Info, r shell.Result) execOutcome {
	lost := r.Lost
	if lost == nil {
		lost = []string{}
	}
	note := ""
	if i.PTY != "" {
		note = ttyNote
	}
	return execOutcome{Note: note, PTY: i.PTY, Success: r.ExitCode == 0, ExitCode: r.ExitCode, ExitCodeToo: r.ExitCode,
		Truncated: r.Truncated, Reason: r.TruncatedReason, TimedOut: r.TimedOut,
		Cancelled: r.Cancelled, EndReason: r.Reason, DurationMS: DurationOf(i), Timestamp: i.FinishedAt.UTC(),
		Command: shownCommand(i), CommandID: i.ID,
		Session: session, Shell: i.Shell, Cwd: r.Cwd, CwdFallback: r.CwdFallback, Background: r.Background,
		Recreated: r.Recreated, Lost: lost,
		ShellEnded: r.ShellEnded, StdoutBytes: i.StdoutBytes, StderrBytes: i.StderrBytes}
}

// DurationOf is the run time of a command up to now, in milliseconds.
func DurationOf(i shell.Info) int64 {
	switch {
	case i.StartedAt.IsZero():
		return 0
	case i.FinishedAt.IsZero():
		return time.Since(i.StartedAt).Milliseconds()
	}
	return i.FinishedAt.Sub(i.StartedAt).Milliseconds()
}

// execReply sends the outcome and the beginning of each output, page by page from the log: the reply is never in
// memory as a whole.
func execReply(c echo.Context, e *shell.Exec, outcome execOutcome) error {
	sizes, limit := [2]int64{e.Size(shell.Stdout), e.Size(shell.Stderr)}, ReplyLimit(e)
	if max(sizes[0], sizes[1]) > limit && !outcome.Truncated {
		outcome.Truncated, outcome.Reason = true, output.CutReply
		if limit == MaxReplyOutput {
			outcome.Reason = cutHere
		}
	}
	return SendLogs(c, e, outcome, WholeEnd(e, shell.Stdout, limit), WholeEnd(e, shell.Stderr, limit))
}

// cutHere is the truncated_reason of a reply with MaxReplyOutput.
const cutHere = "reply_limit"

// ReplyLimit bounds each output in the reply of a command, in bytes.
func ReplyLimit(e *shell.Exec) int64 {
	return min(cmp.Or(e.MaxReply(), MaxReplyOutput), MaxReplyOutput)
}

// StreamLimit bounds each output in the stream of a command, in bytes; -1 is no bound.
func StreamLimit(e *shell.Exec) int64 { return cmp.Or(e.MaxReply(), -1) }

// SendLogs replies with the fields of head, an object, and the first bytes of both
// outputs: as stdout and stderr, and as stdout_b64 and stderr_b64 when they are not UTF-8.
func SendLogs(c echo.Context, e *shell.Exec, head any, stdout, stderr int64) error {
	first, err := httpapi.Encode(head)
	if err != nil {
		return err
	}
	buffers := logPool.Get().(*logBuffers)
	defer buffers.release()
	r := logReply{c: c, exec: e, buffers: buffers, out: buffers.out}
	r.out = append(r.out, first[:len(first)-1]...)
	for _, o := range []struct {
		name   string
		output shell.Stream
		end    int64
	}{{"stdout", shell.Stdout, stdout}, {"stderr", shell.Stderr, stderr}} {
		if err := r.output(o.name, o.output, o.end); err != nil {
			return r.abort(err)
		}
	}
	r.out = append(r.out, '}', '\n')
	return r.finish()
}

// logReply is a reply with outputs.
type logReply struct {
	c       echo.Context
	exec    *shell.Exec
	buffers *logBuffers
	out     []byte // not sent yet
	wire    *httpapi.DeadlineWriter
}

// output adds the field name, and name_b64 when the output is not UTF-8.
func (r *logReply) output(name string, o shell.Stream, end int64) error {
	valid := true
	r.out = fmt.Appendf(r.out, `,"%s":"`, name)
	err := r.text(o, end, func(page []byte) {
		var text bool
		r.out, text = jsonstring.Append(r.out, page)
		valid = valid && text
	})
	if r.out = append(r.out, '"'); err != nil || valid {
		return err
	}
	r.out = fmt.Appendf(r.out, `,"%s_b64":"`, name)
	err = r.base64(o, end)
	r.out = append(r.out, '"')
	return err
}

// text calls add for each page of the output up to end, and flushes what add appends to out.
func (r *logReply) text(o shell.Stream, end int64, add func(page []byte)) error {
	cursor := logCursor{exec: r.exec, output: o, end: end, over: true}
	for {
		page, err := cursor.next(r.buffers.page)
		if err != nil || len(page) == 0 {
			return err
		}
		add(page)
		if err := r.flush(logPage); err != nil {
			return err
		}
	}
}

// base64 adds the bytes up to end; pages of a multiple of three bytes join without padding.
func (r *logReply) base64(o shell.Stream, end int64) error {
	for at := int64(0); at < end; {
		page := r.buffers.page[:min(logPage/3*3, end-at)]
		n, err := r.exec.ReadAt(o, page, at)
		if n < len(page) {
			return fmt.Errorf("server: the log ends at %d, not %d: %w", at+int64(n), end, err)
		}
		r.out = httpapi.AppendBase64(r.out, page)
		at += int64(n)
		if err := r.flush(logPage); err != nil {
			return err
		}
	}
	return nil
}

// flush sends the buffer when it has at least so many bytes.
func (r *logReply) flush(from int) error {
	if len(r.out) < from || len(r.out) == 0 {
		return nil
	}
	if r.wire == nil {
		r.begin()
	}
	_, err := r.wire.Write(r.out)
	r.buffers.out, r.out = r.out[:0], r.out[:0]
	return err
}

func (r *logReply) begin() {
	w := r.c.Response()
	r.wire = httpapi.NewDeadlineWriter(w)
	w.Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	w.WriteHeader(http.StatusOK)
}

// finish sends the rest; a reply in one piece has its length in the header.
func (r *logReply) finish() error {
	if r.wire == nil {
		r.c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(r.out)))
	}
	if err := r.flush(0); err != nil {
		return r.abort(err)
	}
	return nil
}

// abort returns the error of a reply that has not begun, and breaks the connection of one that has, so that nobody
// takes it for complete.
func (r *logReply) abort(err error) error {
	if r.wire == nil {
		return err
	}
	if _, lost := errors.AsType[*httpapi.SendError](err); !lost && r.c.Request().Context().Err() == nil {
		slog.Error("reply broken off", "command", r.exec.ID(), "error", err)
	}
	panic(http.ErrAbortHandler)
}
