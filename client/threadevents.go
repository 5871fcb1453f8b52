package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/evertty/evertty/wire"
)

// eventsPath are the events of a thread.
const eventsPath = "/api/threads/:id/events"

// ThreadDeleted is the type of the last event of a thread.
const ThreadDeleted = "thread.deleted"

// threadError is the name of the event that says why the server ends the stream.
const threadError = "error"

// ThreadEvents returns the events of a thread after a number, the oldest first, at most limit
// (1..1000; 0 is 1000).
func (t threads) ThreadEvents(ctx context.Context, id string, since int64, limit int) ([]ThreadEvent, error) {
	list := route{http.MethodGet, false, []string{eventsPath}}
	reply, err := send[struct {
		Events []ThreadEvent `json:"events"`
	}](ctx, t.API(), list, wire.GetThreadEvents{ThreadRef: wire.ThreadRef{Thread: id},
		Since: strconv.FormatInt(since, 10), Format: "json", Limit: max(limit, 0)})
	return reply.Events, err
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
	target, err := t.target(wire.GetThreadEvents{ThreadRef: wire.ThreadRef{Thread: id},
		Since: strconv.FormatInt(since, 10), Format: "sse"}, eventsPath)
	if err != nil {
		return nil, err
	}
	e, _, err := t.events(ctx, http.MethodGet, target, nil)
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
	e, err = nextOf(s.events, func(name string, data []byte) (e ThreadEvent, known bool, err error) {
		if name != threadError {
			err = json.Unmarshal(data, &e)
			return e, true, err
		}
		var b problemBody
		if err = json.Unmarshal(data, &b); err == nil {
			err = b.refusal()
		}
		return e, false, err
	})
	s.over = e.Type == ThreadDeleted
	return e, err
}
