package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/evertty/evertty/wire"
)

// Commands returns commands of a session's shells, the newest last: the newest limit (0: the
// server's number) before the command with the id before ("": all).
func (s shells) Commands(ctx context.Context, session string, limit int, before string) ([]Command, error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if before != "" {
		q.Set("before", before)
	}
	return list[Command](ctx, s.connection, "commands", s.at(q, "session", session, "commands"))
}

// Command returns one command.
func (s shells) Command(ctx context.Context, session, id string) (Command, error) {
	return call[Command](ctx, s.connection, http.MethodGet, s.at(nil, "session", session, "commands", id), nil)
}

// CommandLogs returns the output of a command so far. More than one reply may have (256 MiB) is an
// error; FollowCommand returns output of any size.
func (s shells) CommandLogs(ctx context.Context, session, id string) (
	stdout, stderr []byte, truncated bool, err error,
) {
	target := s.at(nil, "session", session, "commands", id, "logs")
	r, err := call[wire.CommandLogs](ctx, s.connection, http.MethodGet, target, nil)
	return exact(r.Stdout, r.StdoutB64), exact(r.Stderr, r.StderrB64), r.Truncated, err
}

// CommandInput writes to the standard input of a command with StdinOpen. With eof it then closes
// the input. It returns when the command's input has taken all.
func (s shells) CommandInput(ctx context.Context, session, id string, data []byte, eof bool) error {
	for {
		piece := data[:min(len(data), inputPiece)]
		data = data[len(piece):]
		body := wire.ExecInput{DataB64: new(append([]byte{}, piece...)), EOF: eof && len(data) == 0}
		err := s.call(ctx, http.MethodPost, s.at(nil, "session", session, "commands", id, "input"), body, nil)
		if err != nil || len(data) == 0 {
			return err
		}
	}
}

// CancelCommand ends a command as Ctrl-C does, after a second by force. It returns without waiting
// for the end.
func (s shells) CancelCommand(ctx context.Context, session, id string) error {
	return s.call(ctx, http.MethodDelete, s.at(nil, "session", session, "commands", id), nil, nil)
}
