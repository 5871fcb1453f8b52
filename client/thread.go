package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Policy says how long sessions of a thread may live. In requests a nil field leaves what was there.
type Policy struct {
	Idle   *float64 `json:"idle_seconds,omitempty"` // without activity
	Max    *float64 `json:"max_seconds,omitempty"`  // in all
	Budget *Budget  `json:"budget,omitempty"`       // as a whole
}

// Budget is what a session may use, or has used; 0 of something is as much as it likes, or none.
type Budget struct {
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
	Commands   int64   `json:"commands,omitempty"`
	Bytes      int64   `json:"bytes,omitempty"` // of output
}

// ThreadRequest says what thread to make. Zero fields are left to the server.
type ThreadRequest struct {
	ID      string  `json:"id,omitempty"`       // the session's name too
	Sandbox string  `json:"sandbox,omitempty"`  // a provider
	Lease   string  `json:"lease_id,omitempty"` // an existing one, to share its compute
	Policy  *Policy `json:"policy,omitempty"`
}

// Thread owns terminals, and outlives their processes.
type Thread struct {
	ID      string `json:"thread_id"`
	Sandbox struct {
		Type     string `json:"type"`   // the provider
		Status   string `json:"status"` // of the session: active, idle, paused, closed, failed, or "" when there never was one
		Session  string `json:"session_id"`
		Terminal string `json:"terminal_id"` // the active one
	} `json:"sandbox"`
	Lease     string    `json:"lease_id"`
	Policy    Policy    `json:"policy"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (t *Thread) UnmarshalJSON(p []byte) error {
	type plain Thread
	if err := json.Unmarshal(p, (*plain)(t)); err != nil {
		return err
	}
	t.Raw = append(t.Raw[:0], p...)
	return nil
}

// ThreadSession is a session of a thread: while it is live, processes of the thread may live.
type ThreadSession struct {
	Thread       string    `json:"thread_id"`
	ID           string    `json:"session_id"`
	Terminal     string    `json:"terminal_id"`
	Status       string    `json:"status"`
	CreatedAt    time.Time `json:"created_at"`
	LastActiveAt time.Time `json:"last_active_at"`
	ExpiresAt    time.Time `json:"expires_at"`
	IdleSeconds  float64   `json:"idle_seconds"`
	MaxSeconds   float64   `json:"max_seconds"`
	Budget       *Budget   `json:"budget"`
	Used         *Budget   `json:"used"`
	EndedAt      time.Time `json:"ended_at"`
	CloseReason  string    `json:"close_reason"`
}

// ThreadTerminal is what of a terminal outlives its processes.
type ThreadTerminal struct {
	Thread    string            `json:"thread_id"`
	ID        string            `json:"terminal_id"`
	Lease     string            `json:"lease_id"`
	Kind      string            `json:"kind"` // shell or pty
	Name      string            `json:"name"`
	Active    bool              `json:"active"`
	Cwd       string            `json:"cwd"`
	Env       map[string]string `json:"env_delta"`
	Unset     []string          `json:"env_unset"`
	Version   int64             `json:"version"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
	// Applied is of a rollback: now, queued or next, for when the running process is there.
	Applied string `json:"applied"`
}

// TerminalState is one version of a terminal's state.
type TerminalState struct {
	Version int64             `json:"version"`
	Cwd     string            `json:"cwd"`
	Env     map[string]string `json:"env_delta"`
	Unset   []string          `json:"env_unset"`
	At      time.Time         `json:"at"`
}

// Threads are all threads, by id.
func (c *Client) Threads(ctx context.Context) ([]Thread, error) {
	list := []Thread{}
	for after := ""; ; {
		var reply struct {
			Threads []Thread `json:"threads"`
			Next    string   `json:"next"`
		}
		if err := c.call(ctx, http.MethodGet, c.at(url.Values{"after": {after}, "limit": {"1000"}}, "api", "threads"), nil, &reply); err != nil {
			return list, err
		}
		list = append(list, reply.Threads...)
		if after = reply.Next; after == "" {
			return list, nil
		}
	}
}

// CreateThread makes a thread with its session, terminal and lease. One with that ID is an *Error with the code ALREADY_EXISTS.
func (c *Client) CreateThread(ctx context.Context, r ThreadRequest) (t Thread, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads"), r, &t)
	return t, err
}

// Thread is one thread.
func (c *Client) Thread(ctx context.Context, id string) (t Thread, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", id), nil, &t)
	return t, err
}

// DeleteThread ends everything of a thread and removes its records.
func (c *Client) DeleteThread(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, c.at(nil, "api", "threads", id), nil, nil)
}

// ThreadSession is the live session of a thread, or the newest.
func (c *Client) ThreadSession(ctx context.Context, id string) (s ThreadSession, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", id, "session"), nil, &s)
	return s, err
}

// ThreadTerminal is the active terminal of a thread.
func (c *Client) ThreadTerminal(ctx context.Context, id string) (t ThreadTerminal, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", id, "terminal"), nil, &t)
	return t, err
}

// ThreadTerminals are all terminals of a thread, the oldest first.
func (c *Client) ThreadTerminals(ctx context.Context, id string) ([]ThreadTerminal, error) {
	var reply struct {
		Terminals []ThreadTerminal `json:"terminals"`
	}
	err := c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", id, "terminals"), nil, &reply)
	return reply.Terminals, err
}

// TouchThread notes activity.
func (c *Client) TouchThread(ctx context.Context, id string) (s ThreadSession, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", id, "touch"), nil, &s)
	return s, err
}

// SetThreadPolicy changes the policy of a thread and of its live session.
func (c *Client) SetThreadPolicy(ctx context.Context, id string, p Policy) (t Thread, err error) {
	err = c.call(ctx, http.MethodPatch, c.at(nil, "api", "threads", id, "policy"), p, &t)
	return t, err
}

// PauseThread stops the processes of a thread where they are.
func (c *Client) PauseThread(ctx context.Context, id string) (t Thread, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", id, "pause"), nil, &t)
	return t, err
}

// ResumeThread lets them go on.
func (c *Client) ResumeThread(ctx context.Context, id string) (t Thread, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", id, "resume"), nil, &t)
	return t, err
}

// DestroySandbox ends the processes and the compute of a thread; its next use goes on in the same state.
func (c *Client) DestroySandbox(ctx context.Context, id string) (t Thread, err error) {
	err = c.call(ctx, http.MethodDelete, c.at(nil, "api", "threads", id, "sandbox"), nil, &t)
	return t, err
}

// ActivateTerminal makes a terminal the one that is meant when none is named.
func (c *Client) ActivateTerminal(ctx context.Context, thread, terminal string) (t ThreadTerminal, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "terminals", terminal, "activate"), nil, &t)
	return t, err
}

// TerminalHistory is the versions of a terminal's state, the newest first.
func (c *Client) TerminalHistory(ctx context.Context, thread, terminal string) ([]TerminalState, error) {
	var reply struct {
		States []TerminalState `json:"states"`
	}
	err := c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", thread, "terminals", terminal, "history"), nil, &reply)
	return reply.States, err
}

// RollbackTerminal makes a new version that equals an old one.
func (c *Client) RollbackTerminal(ctx context.Context, thread, terminal string, version int64) (t ThreadTerminal, err error) {
	body := struct {
		Version int64 `json:"version"`
	}{version}
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "terminals", terminal, "rollback"), body, &t)
	return t, err
}
