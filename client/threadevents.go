package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ThreadEvent is one thing that happened to a thread. Numbers grow by one from 1; Seq 0 is thread.deleted, which is the last.
type ThreadEvent struct {
	Thread string          `json:"thread_id"`
	Seq    int64           `json:"seq"`
	Type   string          `json:"type"` // as session.expiring
	At     time.Time       `json:"at"`
	Data   json.RawMessage `json:"data"`
}

// ThreadDeleted is the type of the last event of a thread.
const ThreadDeleted = "thread.deleted"

// ThreadEvents are the events of a thread after a number, the oldest first, at most limit (1..1000; 0 is 1000).
func (c *Client) ThreadEvents(ctx context.Context, id string, since int64, limit int) ([]ThreadEvent, error) {
	query := url.Values{"format": {"json"}, "since": {strconv.FormatInt(since, 10)}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	var reply struct {
		Events []ThreadEvent `json:"events"`
	}
	err := c.call(ctx, http.MethodGet, c.at(query, "api", "threads", id, "events"), nil, &reply)
	return reply.Events, err
}

// ThreadStream is a thread that is watched. Next has one caller at a time; Close may be called from any goroutine.
type ThreadStream struct {
	cancel context.CancelCauseFunc
	ctx    context.Context
	body   io.ReadCloser
	lines  *bufio.Scanner
	over   bool // the last event was taken
}

// maxThreadEvent bounds one event, in bytes: many times what the server sends.
const maxThreadEvent = 1 << 20

// WatchThread follows what happens to a thread after a number: first what has happened already. ctx governs the whole life
// of the stream, and the caller must Close it.
func (c *Client) WatchThread(ctx context.Context, id string, since int64) (*ThreadStream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	target := c.at(url.Values{"since": {strconv.FormatInt(since, 10)}, "format": {"sse"}}, "api", "threads", id, "events")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("client: %w", err)
	}
	req.Header = c.header()
	req.Header.Set("Accept", "text/event-stream")
	resp, err := c.open(req) //nolint:bodyclose // Close of the stream does
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := &ThreadStream{cancel: cancel, ctx: ctx, body: resp.Body, lines: bufio.NewScanner(resp.Body)}
	s.lines.Buffer(nil, maxThreadEvent)
	return s, nil
}

// Close ends the stream.
func (s *ThreadStream) Close() {
	s.cancel(nil)
	_ = s.body.Close()
}

// Next waits for the next event. Errors: io.EOF after thread.deleted, *Error when the server leaves, ErrClosed when the
// connection broke or was silent for too long, the reason of the stream's ctx.
func (s *ThreadStream) Next() (e ThreadEvent, err error) {
	watch := time.AfterFunc(silence, func() { s.cancel(errSilent) })
	defer watch.Stop()
	kind := ""
	for s.lines.Scan() {
		watch.Reset(silence)
		name, value, _ := bytes.Cut(s.lines.Bytes(), []byte(": "))
		switch string(name) {
		case "event":
			kind = string(value)
		case "data":
			if err := decodeThreadEvent(kind, value, &e); err != nil {
				return e, err
			}
		case "":
			if e.Type != "" {
				s.over = e.Type == ThreadDeleted
				return e, nil
			}
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return e, context.Cause(s.ctx)
	case s.lines.Err() != nil:
		return e, fmt.Errorf("%w: %w", ErrClosed, s.lines.Err())
	}
	if !s.over {
		return e, ErrClosed
	}
	return e, io.EOF
}

// decodeThreadEvent reads the data of an event; that of error is the error that it tells.
func decodeThreadEvent(kind string, data []byte, e *ThreadEvent) error {
	var b problemBody
	into := any(e)
	if kind == "error" {
		into = &b
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: event %s: %w", ErrClosed, kind, err)
	}
	if kind == "error" {
		return b.refusal()
	}
	return nil
}
