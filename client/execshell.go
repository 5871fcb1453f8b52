package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// ShellRequest says what shell to start. Zero fields are left to the server.
type ShellRequest struct {
	ID        string            // 1..64 of A-Z a-z 0-9 . _ -
	Cwd       string            // absolute
	Env       map[string]string // added to the server's clean environment
	Login     bool              // read the profile files
	Timeout   time.Duration     // of commands that give none; 0 is none
	MaxOutput int64             // of commands that give none, in bytes
}

// MarshalJSON writes the body of the request.
func (r ShellRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID        string            `json:"id,omitempty"`
		Cwd       string            `json:"cwd,omitempty"`
		Env       map[string]string `json:"env,omitempty"`
		Login     bool              `json:"login,omitempty"`
		Timeout   int64             `json:"command_timeout_ms,omitempty"`
		MaxOutput int64             `json:"max_output_bytes,omitempty"`
	}{r.ID, r.Cwd, r.Env, r.Login, r.Timeout.Milliseconds(), r.MaxOutput})
}

// ShellInfo is a shell as lists tell it.
type ShellInfo struct {
	ID        string    `json:"id"`
	Session   string    `json:"session"`
	Default   bool      `json:"default"` // the one that commands without a shell go to
	PID       int       `json:"pid"`     // 0 while none runs
	Cwd       string    `json:"cwd"`
	State     string    `json:"state"` // running, or ended: the next command starts it again
	Busy      bool      `json:"busy"`
	Queued    int       `json:"queued"` // commands that wait
	CreatedAt time.Time `json:"created_at"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (i *ShellInfo) UnmarshalJSON(p []byte) error {
	type plain ShellInfo
	if err := json.Unmarshal(p, (*plain)(i)); err != nil {
		return err
	}
	i.Raw = append(i.Raw[:0], p...)
	return nil
}

// CreateShell starts a shell in a session. One with that ID is an *Error with the
// code SESSION_ALREADY_EXISTS.
func (c *Client) CreateShell(ctx context.Context, session string, r ShellRequest) (ShellInfo, error) {
	var i ShellInfo
	err := c.call(ctx, http.MethodPost, c.at(nil, "session", session, "shell"), r, &i)
	return i, err
}

// Shells are the shells of a session, of all sessions when it is "".
func (c *Client) Shells(ctx context.Context, session string) ([]ShellInfo, error) {
	target := c.at(nil, "shell")
	if session != "" {
		target = c.at(nil, "session", session, "shell")
	}
	var reply struct {
		Shells []ShellInfo `json:"shells"`
	}
	err := c.call(ctx, http.MethodGet, target, nil, &reply)
	return reply.Shells, err
}

// Shell is one shell of a session.
func (c *Client) Shell(ctx context.Context, session, id string) (ShellInfo, error) {
	var i ShellInfo
	err := c.call(ctx, http.MethodGet, c.at(nil, "session", session, "shell", id), nil, &i)
	return i, err
}

// DeleteShell ends a shell and everything that was ever started in it.
func (c *Client) DeleteShell(ctx context.Context, session, id string) error {
	return c.call(ctx, http.MethodDelete, c.at(nil, "session", session, "shell", id), nil, nil)
}

// DeleteShells ends all shells of a session, several at a time.
func (c *Client) DeleteShells(ctx context.Context, session string) error {
	return c.call(ctx, http.MethodDelete, c.at(nil, "session", session, "shell"), nil, nil)
}

// SetEnv exports variables in a shell, the session's default one for "", and
// unsets others.
func (c *Client) SetEnv(ctx context.Context, session, shell string, set map[string]string, unset ...string) error {
	body := struct {
		Env   map[string]string `json:"env,omitempty"`
		Unset []string          `json:"unset,omitempty"`
	}{set, unset}
	return c.call(ctx, http.MethodPost, c.at(nil, shellPath(session, shell, "env")...), body, nil)
}
