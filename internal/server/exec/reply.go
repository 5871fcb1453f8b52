package exec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/wire"
)

// MaxReplyOutput bounds each output in the reply of an exec, in bytes; the command's logs have all.
const MaxReplyOutput = 10 << 20

// execReply sends the result and the beginning of each output, page by page from the log: the reply is never in
// memory as a whole.
func execReply(c echo.Context, e *shell.Exec, session string) error {
	i, limit := e.Info(), ReplyLimit(e)
	reply := wire.ExecResult{EventComplete: i.WireEnd(session)}
	if max(e.Size(shell.Stdout), e.Size(shell.Stderr)) > limit && !reply.Truncated {
		reply.Truncated, reply.TruncatedReason = true, output.CutReply
		if limit == MaxReplyOutput {
			reply.TruncatedReason = cutHere
		}
	}
	return SendLogs(c, e, reply, WholeEnd(e, shell.Stdout, limit), WholeEnd(e, shell.Stderr, limit))
}

// cutHere is the truncated_reason of a reply with MaxReplyOutput.
const cutHere = "reply_limit"

// ReplyLimit bounds each output in the reply of a command, in bytes.
func ReplyLimit(e *shell.Exec) int64 {
	return min(cmp.Or(e.MaxReply(), MaxReplyOutput), MaxReplyOutput)
}

// StreamLimit bounds each output in the stream of a command, in bytes; -1 is no bound.
func StreamLimit(e *shell.Exec) int64 { return cmp.Or(e.MaxReply(), -1) }

// noOutputs ends the JSON of a wire type whose last fields are outputs that are empty.
const noOutputs = `,"stdout":"","stderr":""}`

// SendLogs replies with reply, a wire type whose last fields are the outputs. In their place it sends the first bytes
// of both logs: as stdout and stderr, and as stdout_b64 and stderr_b64 when they are not UTF-8.
func SendLogs(c echo.Context, e *shell.Exec, reply any, stdout, stderr int64) error {
	first, err := httpapi.Encode(httpapi.Shown(c, reply))
	if err != nil {
		return err
	}
	first, ok := bytes.CutSuffix(first, []byte(noOutputs))
	if !ok {
		panic(fmt.Sprintf("invariant violation: %T does not end with its outputs", reply))
	}
	buffers := logPool.Get().(*logBuffers)
	defer buffers.release()
	r := logReply{c: c, exec: e, buffers: buffers, out: buffers.out}
	r.out = append(r.out, first...)
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
