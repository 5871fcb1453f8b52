package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// CreateRequest says what to start. Zero fields are left to the server.
type CreateRequest struct {
	Cmd        []string          `json:"cmd,omitempty"` // nil: bash -l
	Cols       int               `json:"cols,omitempty"`
	Rows       int               `json:"rows,omitempty"`
	Cwd        string            `json:"cwd,omitempty"`
	Env        map[string]string `json:"env,omitempty"` // added to the server's clean environment
	Name       string            `json:"name,omitempty"`
	Scrollback *int              `json:"scrollback,omitempty"` // lines of history; nil: the server's default
	SizePolicy string            `json:"size_policy,omitempty"`
}

// Info is what the server knows of a terminal besides its screen.
type Info struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Session      string            `json:"session"`
	Cmd          []string          `json:"cmd"`
	Cwd          string            `json:"cwd"`
	CwdFallback  string            `json:"cwd_fallback"` // where it should have started but could not, else ""
	Env          map[string]string `json:"env"`
	Cols         int               `json:"cols"`
	Rows         int               `json:"rows"`
	Title        string            `json:"title"`
	State        string            `json:"state"` // running, exited, lost or restored
	Exit         *Exit             `json:"exit"`  // nil while it runs
	PID          int               `json:"pid"`
	Generation   int               `json:"generation"`
	Viewers      int               `json:"viewers"`
	SizePolicy   string            `json:"size_policy"`
	CreatedAt    time.Time         `json:"created_at"`
	LastActivity time.Time         `json:"last_activity_at"`
	LastOutput   time.Time         `json:"last_output_at"`
	Seq          uint64            `json:"seq"` // bytes of output so far
	AltScreen    bool              `json:"alt_screen"`
	BellCount    uint64            `json:"bell_count"`
	JournalBytes int64             `json:"journal_bytes"`
	MemoryBytes  int64             `json:"memory_bytes"`
	// Raw is all that the server said, also fields this package does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (i *Info) UnmarshalJSON(p []byte) error {
	type plain Info
	if err := json.Unmarshal(p, (*plain)(i)); err != nil {
		return err
	}
	i.Raw = append(i.Raw[:0], p...)
	return nil
}

// Create starts a program on a new terminal of a session, which comes into
// being when first used.
func (c *Client) Create(ctx context.Context, session string, r CreateRequest) (Info, error) {
	var i Info
	err := c.call(ctx, http.MethodPost, c.at(nil, "session", session, "pty"), r, &i)
	return i, err
}

// List returns the terminals of a session, of all sessions when it is "".
func (c *Client) List(ctx context.Context, session string) ([]Info, error) {
	target := c.at(nil, "pty")
	if session != "" {
		target = c.at(nil, "session", session, "pty")
	}
	var reply struct {
		Items []Info `json:"items"`
	}
	err := c.call(ctx, http.MethodGet, target, nil, &reply)
	return reply.Items, err
}

// Get returns one terminal, by id or name.
func (c *Client) Get(ctx context.Context, id string) (Info, error) {
	var i Info
	err := c.call(ctx, http.MethodGet, c.at(nil, "pty", id), nil, &i)
	return i, err
}

// Delete ends the terminal's whole process tree: SIGHUP, and SIGKILL to what is
// left after three seconds. Its last screen stays readable unless purge is set.
func (c *Client) Delete(ctx context.Context, id string, purge bool) error {
	q := url.Values{}
	if purge {
		q.Set("purge", "1")
	}
	return c.call(ctx, http.MethodDelete, c.at(q, "pty", id), nil, nil)
}
