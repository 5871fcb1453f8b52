package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/evertty/evertty/wire"
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

// commandHeader is the field of the reply that names the command, also while it waits for its turn.
const commandHeader = "X-Command-Id"

// ExecEvent is one event of a command.
type ExecEvent struct {
	Kind      ExecKind
	CommandID string      // of start
	PID       int         // of start
	PTY       string      // of start: the terminal of a command with TTY, which is its CommandID too
	Data      []byte      // of stdout and stderr: exact, and the receiver's to keep
	Reply     *ExecResult // of complete, without the output
}

// ExecStream is a command that is followed while it runs. Next has one caller at a time; Close may be
// called from any goroutine. Closing does not end the command.
type ExecStream struct {
	events *events
	id     string
	ended  bool // the complete event was taken
}

// ExecStream is Exec with the output as it comes. The first event is of ExecStart. ctx governs the
// whole life of the stream, and the caller must Close it.
func (s shells) ExecStream(ctx context.Context, session, shell string, r ExecRequest) (*ExecStream, error) {
	in := r.body(session, shell)
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("client: exec: %w", err)
	}
	target, err := s.target(in, execPaths("/stream")...)
	if err != nil {
		return nil, err
	}
	return s.execStream(ctx, http.MethodPost, target, body)
}

// FollowCommand returns the output of a command from these positions in its stdout and stderr, in
// bytes, until the command has ended; also of one that ended before. With late it goes on as long as
// a process that the command left behind may print. ctx governs the whole life of the stream, and
// the caller must Close it.
func (s shells) FollowCommand(
	ctx context.Context, session, id string, stdout, stderr int64, late bool,
) (*ExecStream, error) {
	q := url.Values{
		"follow": {"1"}, "stdout_from": {strconv.FormatInt(stdout, 10)}, "stderr_from": {strconv.FormatInt(stderr, 10)},
	}
	if !late {
		q.Set("late", "0")
	}
	return s.execStream(ctx, http.MethodGet, s.at(q, "session", session, "commands", id, "logs"), nil)
}

func (s shells) execStream(ctx context.Context, method, target string, body []byte) (*ExecStream, error) {
	e, header, err := s.events(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	return &ExecStream{events: e, id: header.Get(commandHeader)}, nil
}

// CommandID is the command's id, known before it starts; "" for one on a terminal of its own.
func (s *ExecStream) CommandID() string { return s.id }

// Next returns the next event. After ExecComplete it returns io.EOF. When the connection ends before
// it, the error matches ErrClosed or is ctx's; what the server refused, or could not finish, is an
// *Error.
func (s *ExecStream) Next() (ExecEvent, error) {
	if s.ended {
		return ExecEvent{}, io.EOF
	}
	e, err := nextOf(s.events, decodeExec)
	s.ended = e.Kind == ExecComplete
	return e, err
}

// Close ends the connection. A pending Next returns.
func (s *ExecStream) Close() error { return s.events.close() }

// decodeExec reads an event. known is false for kinds this package does not know.
func decodeExec(name string, p []byte) (e ExecEvent, known bool, err error) {
	e.Kind = ExecKind(name)
	switch e.Kind {
	case ExecStdout, ExecStderr:
		e.Data, err = decodeOutput(p)
	case ExecStart:
		var s wire.EventStart
		err = json.Unmarshal(p, &s)
		e.CommandID, e.PID, e.PTY = s.CommandID, s.PID, s.PTY
	case ExecComplete:
		e.Reply = &ExecResult{}
		err = json.Unmarshal(p, e.Reply)
	case execError:
		var b problemBody
		if err = json.Unmarshal(p, &b); err == nil {
			err = b.refusal()
		}
	default:
		return e, false, nil
	}
	return e, true, err
}
