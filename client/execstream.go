package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// ExecKind names an event of a command.
type ExecKind string

// The kinds of events of a command.
const (
	ExecStart    ExecKind = "start"    // it has an id; first, and not in what FollowCommand returns
	ExecStdout   ExecKind = "stdout"   // output
	ExecStderr   ExecKind = "stderr"   // output
	ExecComplete ExecKind = "complete" // the last one
	execError    ExecKind = "error"    // the command has no end, or the server leaves
)

// execBuffer is the size of the buffer in front of the events, in bytes: several
// pieces of output of a command that prints much.
const execBuffer = 256 << 10

// commandHeader is the field of the reply that names the command while it may still
// have to wait for its turn.
const commandHeader = "X-Command-Id"

// ExecEvent is one event of a command.
type ExecEvent struct {
	Kind      ExecKind
	CommandID string     // of start
	PID       int        // of start
	PTY       string     // of start: the terminal of a command with TTY, which is its CommandID too
	Data      []byte     // of stdout and stderr: exact, and the receiver's to keep
	Reply     *ExecReply // of complete, without the output
}

// ExecStream is a command that is looked at while it runs. Next has one caller at
// a time; Close may be called from any goroutine. Closing does not end the command.
//
// It reads the Server-Sent Events itself: r3labs' reader hands them out far slower
// than a command may print.
type ExecStream struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	lines  *bufio.Reader
	long   []byte // a line that is longer than the buffer
	id     string
	ended  bool // the complete event was taken
}

// ExecStream is Exec with the output as it comes. The first event is of ExecStart.
// ctx governs the whole life of the stream, and the caller must Close it.
func (c *Client) ExecStream(ctx context.Context, session, shell string, r ExecRequest) (*ExecStream, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("client: exec: %w", err)
	}
	return c.execStream(ctx, http.MethodPost, c.at(nil, shellPath(session, shell, "exec", "stream")...), body)
}

// FollowCommand is the output of a command from these positions in its stdout and
// stderr, in bytes, until the command has ended; also of one that ended before.
// With late it goes on as long as anything the command left behind may print. ctx
// governs the whole life of the stream, and the caller must Close it.
func (c *Client) FollowCommand(ctx context.Context, session, id string, stdout, stderr int64, late bool) (*ExecStream, error) {
	q := url.Values{"follow": {"1"}, "stdout_from": {strconv.FormatInt(stdout, 10)}, "stderr_from": {strconv.FormatInt(stderr, 10)}}
	if !late {
		q.Set("late", "0")
	}
	return c.execStream(ctx, http.MethodGet, c.at(q, "session", session, "commands", id, "logs"), nil)
}

func (c *Client) execStream(ctx context.Context, method, target string, body []byte) (*ExecStream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("client: %w", err)
	}
	req.Header = c.header()
	req.Header.Set("Accept", "text/event-stream")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Local() {
		req.Header.Set("Accept-Encoding", "identity") // it would only cost time
	}
	resp, err := c.open(req) //nolint:bodyclose // Close of the stream does
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := newExecStream(ctx, cancel, newEventBody(resp.Body, func() { cancel(errSilent) }))
	s.id = resp.Header.Get(commandHeader)
	return s, nil
}

func newExecStream(ctx context.Context, cancel context.CancelCauseFunc, events io.ReadCloser) *ExecStream {
	return &ExecStream{ctx: ctx, cancel: cancel, body: events, lines: bufio.NewReaderSize(events, execBuffer)}
}

// CommandID is the command's, known before it starts; "" for one on a terminal of
// its own.
func (s *ExecStream) CommandID() string { return s.id }

// Next returns the next event. After ExecComplete it returns io.EOF. When the
// connection ends before it, the error matches ErrClosed or is ctx's; what the
// server refused, or could not finish, is an *Error.
func (s *ExecStream) Next() (ExecEvent, error) {
	kind := ExecKind("")
	for !s.ended {
		line, err := s.line()
		if err != nil {
			return ExecEvent{}, s.lost(err)
		}
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			kind = ExecKind(name)
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue // empty, an id or a comment
		}
		e, known, err := decodeExec(kind, data)
		kind = ""
		if known || err != nil {
			s.ended = e.Kind == ExecComplete
			return e, err
		}
	}
	return ExecEvent{}, io.EOF
}

// line is the next line without its end, valid until the next call.
func (s *ExecStream) line() ([]byte, error) {
	s.long = s.long[:0]
	for {
		part, err := s.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			s.long = append(s.long, part...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(s.long) > 0 {
			s.long = append(s.long, part...)
			part = s.long
		}
		return bytes.TrimRight(part, "\r\n"), nil
	}
}

func (s *ExecStream) lost(err error) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if errors.Is(err, io.EOF) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}

// Close ends the connection. A pending Next returns.
func (s *ExecStream) Close() error {
	s.cancel(ErrClosed)
	return s.body.Close()
}

// decodeExec reads an event. known is false for kinds this package does not know.
func decodeExec(kind ExecKind, p []byte) (e ExecEvent, known bool, err error) {
	e.Kind = kind
	switch kind {
	case ExecStdout, ExecStderr:
		e.Data, err = decodeOutput(p)
	case ExecStart:
		var s struct {
			ID  string `json:"command_id"`
			PID int    `json:"pid"`
			PTY string `json:"pty"`
		}
		err = json.Unmarshal(p, &s)
		e.CommandID, e.PID, e.PTY = s.ID, s.PID, s.PTY
	case ExecComplete:
		e.Reply = &ExecReply{}
		err = json.Unmarshal(p, e.Reply)
	case execError:
		var b problemBody
		if err = json.Unmarshal(p, &b); err == nil {
			return ExecEvent{}, true, b.refusal()
		}
	default:
		return e, false, nil
	}
	if err != nil {
		return ExecEvent{}, true, fmt.Errorf("%w: event %s: %w", ErrClosed, kind, err)
	}
	return e, true, nil
}
