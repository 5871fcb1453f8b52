package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// ThreadDeleted is the type of the last event of a thread.
const ThreadDeleted = "thread.deleted"

// threadError is the name of the event that says why the server ends the stream.
const threadError = "error"

// ThreadEvents returns the events of a thread after a number, the oldest first, at most limit
// (1..1000; 0 is 1000).
func (t threads) ThreadEvents(ctx context.Context, id string, since int64, limit int) ([]ThreadEvent, error) {
	query := url.Values{"format": {"json"}, "since": {strconv.FormatInt(since, 10)}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return list[ThreadEvent](ctx, t.connection, "events", t.at(query, "api", "threads", id, "events"))
}

// ThreadStream follows a thread. Next has one caller at a time; Close may be called from any
// goroutine.
type ThreadStream struct {
	events *events
	over   bool // the last event was taken
}

// WatchThread follows the events of a thread after a number: first those that have happened already.
// ctx governs the whole life of the stream, and the caller must Close it.
func (t threads) WatchThread(ctx context.Context, id string, since int64) (*ThreadStream, error) {
	query := url.Values{"since": {strconv.FormatInt(since, 10)}, "format": {"sse"}}
	e, _, err := t.events(ctx, http.MethodGet, t.at(query, "api", "threads", id, "events"), nil)
	if err != nil {
		return nil, err
	}
	return &ThreadStream{events: e}, nil
}

// Close ends the stream. A pending Next returns.
func (s *ThreadStream) Close() error { return s.events.close() }

// Next waits for the next event. Errors: io.EOF after ThreadDeleted; *Error when the server shuts
// down; ErrClosed when the connection broke or was silent for too long; the cause of the stream's
// ctx.
func (s *ThreadStream) Next() (e ThreadEvent, err error) {
	if s.over {
		return e, io.EOF
	}
	name, data, err := s.events.next()
	if err != nil {
		return e, err
	}
	var b problemBody
	into := any(&e)
	if name == threadError {
		into = &b
	}
	if err := json.Unmarshal(data, into); err != nil {
		return e, s.events.fail(name, err)
	}
	if name == threadError {
		return e, b.refusal()
	}
	s.over = e.Type == ThreadDeleted
	return e, nil
}
