package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"
)

// RecordHead is a thread's record without what it consists of.
type RecordHead struct {
	ID          string    `json:"session_id"`
	Thread      string    `json:"thread_id"`
	Current     bool      `json:"current"`
	Messages    int64     `json:"messages"` // archived ones too
	Archived    int64     `json:"archived"` // messages up to this number are behind a summary
	Turns       int64     `json:"turns"`
	Waiting     int64     `json:"waiting"` // in the mailbox
	Compactions int64     `json:"compactions"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Standing is where a record stands for who goes on with it.
type Standing struct {
	ID        string  `json:"session_id"`
	Thread    string  `json:"thread_id"`
	Task      *string `json:"current_task"`
	Mode      string  `json:"workflow_mode"`
	Allowed   string  `json:"permission_mode"`
	OwnerPath *string `json:"runtime_owner_path"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (s *Standing) UnmarshalJSON(p []byte) error {
	type plain Standing
	if err := json.Unmarshal(p, (*plain)(s)); err != nil {
		return err
	}
	s.Raw = append(s.Raw[:0], p...)
	return nil
}

// CompactOptions say when and how. Zero fields are left to the server.
type CompactOptions struct {
	Keep      int     `json:"keep_last,omitempty"` // messages that stay as they are
	Threshold int64   `json:"threshold,omitempty"` // estimated tokens from which on it is worth it
	Summary   *string `json:"summary,omitempty"`   // instead of one that the server makes
}

// Compaction is what became of it. Without one only Compacted is set.
type Compaction struct {
	Compacted bool   `json:"compacted"`
	Count     int64  `json:"count"`
	Removed   int64  `json:"removed_message_count"`
	Before    int64  `json:"original_input_tokens"`
	After     int64  `json:"compressed_input_tokens"`
	Summary   string `json:"summary"`
}

// LatestRecord is the record that was changed last. Errors: ErrNotFound when there is none.
func (c *Client) LatestRecord(ctx context.Context) (h RecordHead, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", "latest"), nil, &h)
	return h, err
}

// Records are the records of a thread, the newest first.
func (c *Client) Records(ctx context.Context, thread string) ([]RecordHead, error) {
	var reply struct {
		Records []RecordHead `json:"records"`
	}
	err := c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", thread, "records"), nil, &reply)
	return reply.Records, err
}

// ExportRecord is a record file as it comes; record "" is the current one. The caller closes it.
func (c *Client) ExportRecord(ctx context.Context, thread, record string) (io.ReadCloser, error) {
	query := url.Values{"format": {"loader"}}
	if record != "" {
		query.Set("record", record)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(query, "api", "threads", thread, "record"), nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header()
	resp, err := c.open(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ImportRecord makes a record file the current record of a thread; the thread is made when it is not there, the record before is kept.
func (c *Client) ImportRecord(ctx context.Context, thread string, file json.RawMessage) (h RecordHead, err error) {
	err = c.call(ctx, http.MethodPut, c.at(nil, "api", "threads", thread, "record"), file, &h)
	return h, err
}

// CompactThread puts older messages of a thread behind a summary if it is worth it. They can still be read.
func (c *Client) CompactThread(ctx context.Context, thread string, o CompactOptions) (done Compaction, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "compact"), o, &done)
	return done, err
}

// AttachThread says who drives a thread from now on, and tells where it stands.
func (c *Client) AttachThread(ctx context.Context, thread, owner string) (s Standing, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "attach"), map[string]string{"owner_type": owner}, &s)
	return s, err
}
