package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Stream is a viewer that only looks, by Server-Sent Events. Next has one caller at a time; Close
// may be called from any goroutine.
type Stream struct {
	events *events
	exited bool // the exit event was taken
}

// Stream follows a terminal. The first event is a snapshot. ctx governs the whole life of the
// stream, and the caller must Close it.
func (t terminals) Stream(ctx context.Context, id string) (*Stream, error) {
	return t.stream(ctx, id, nil, Inside{})
}

// StreamSince is Stream for a viewer that has shown everything up to position since, the Seq of its
// last event: if the server still has what followed, the first event is of KindResume, and else a
// snapshot.
func (t terminals) StreamSince(ctx context.Context, id string, since uint64) (*Stream, error) {
	return t.stream(ctx, id, &since, Inside{})
}

func (t terminals) stream(ctx context.Context, id string, since *uint64, in Inside) (*Stream, error) {
	q := url.Values{}
	if since != nil {
		q.Set("since", strconv.FormatUint(*since, 10))
	}
	in.query(q)
	e, _, err := t.events(ctx, http.MethodGet, t.at(q, "pty", id, "stream"), nil)
	if err != nil {
		return nil, err
	}
	return &Stream{events: e}, nil
}

// Next returns the next event. After the exit event it returns io.EOF; when the connection ends
// before it, an error that matches ErrClosed or is ctx's.
func (s *Stream) Next() (Event, error) {
	if s.exited {
		return Event{}, io.EOF
	}
	e, err := nextOf(s.events, func(name string, data []byte) (Event, bool, error) {
		switch name {
		case "expired":
			return Event{}, false, errExpired()
		case "kicked":
			return Event{}, false, errKicked()
		}
		return decodeEvent(Kind(name), data)
	})
	s.exited = e.Kind == KindExit
	return e, err
}

// Close ends the stream. A pending Next returns.
func (s *Stream) Close() error { return s.events.close() }
