package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// CommandInfo is a command of a shell as the history tells it.
type CommandInfo struct {
	ID         string     `json:"command_id"`
	Shell      string     `json:"shell"`
	Command    string     `json:"command"`
	Cwd        string     `json:"cwd"`            // where it began
	Status     string     `json:"status"`         // queued, running, done, cancelled or failed
	Position   int        `json:"queue_position"` // in its shell's queue, 1 is the next one; 0 of one that does not wait
	Error      string     `json:"error"`          // why it failed
	ExitCode   *int       `json:"exit_code"`      // nil until it has one
	Background bool       `json:"background"`
	PTY        string     `json:"pty"` // the terminal of a command with TTY while it runs; "" of others
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Duration   int64      `json:"duration_ms"`
	Stdout     int64      `json:"stdout_bytes"`
	Stderr     int64      `json:"stderr_bytes"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (i *CommandInfo) UnmarshalJSON(p []byte) error {
	type plain CommandInfo
	if err := json.Unmarshal(p, (*plain)(i)); err != nil {
		return err
	}
	i.Raw = append(i.Raw[:0], p...)
	return nil
}

// Commands are commands of a session's shells, the newest last: the newest limit
// (0: the server's number) of those before the one with the id before ("": all).
func (c *Client) Commands(ctx context.Context, session string, limit int, before string) ([]CommandInfo, error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if before != "" {
		q.Set("before", before)
	}
	var reply struct {
		Commands []CommandInfo `json:"commands"`
	}
	err := c.call(ctx, http.MethodGet, c.at(q, "session", session, "commands"), nil, &reply)
	return reply.Commands, err
}

// Command is one command.
func (c *Client) Command(ctx context.Context, session, id string) (CommandInfo, error) {
	var i CommandInfo
	err := c.call(ctx, http.MethodGet, c.at(nil, "session", session, "commands", id), nil, &i)
	return i, err
}

// CommandLogs is what a command has printed so far, an error when that is more than
// one reply may have (some 256 MiB). FollowCommand is the same as it comes, of any size.
func (c *Client) CommandLogs(ctx context.Context, session, id string) (stdout, stderr []byte, truncated bool, err error) {
	var r ExecReply
	err = c.call(ctx, http.MethodGet, c.at(nil, "session", session, "commands", id, "logs"), nil, &r)
	stdout, stderr = r.Output()
	return stdout, stderr, r.Truncated, err
}

// CommandInput writes to the standard input of a command with StdinOpen, and ends
// it after data with eof. It returns when the command's input has taken all.
func (c *Client) CommandInput(ctx context.Context, session, id string, data []byte, eof bool) error {
	for {
		piece := data[:min(len(data), inputPiece)]
		data = data[len(piece):]
		body := struct {
			Data []byte `json:"data_b64"`
			EOF  bool   `json:"eof,omitempty"`
		}{append([]byte{}, piece...), eof && len(data) == 0}
		err := c.call(ctx, http.MethodPost, c.at(nil, "session", session, "commands", id, "input"), body, nil)
		if err != nil || len(data) == 0 {
			return err
		}
	}
}

// CancelCommand ends a command as Ctrl-C does, after a second by force. It returns
// without waiting for the end.
func (c *Client) CancelCommand(ctx context.Context, session, id string) error {
	return c.call(ctx, http.MethodDelete, c.at(nil, "session", session, "commands", id), nil, nil)
}
