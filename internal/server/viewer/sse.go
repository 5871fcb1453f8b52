// Package viewer serves terminals to viewers: Server-Sent Events and WebSocket of one
// terminal, and the WebSocket of a page that watches many.
package viewer

import (
	"context"
	"errors"
	"net/http"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// ServeSSE sends the subscription as Server-Sent Events until the exit, the
// viewer's leaving or a write that makes no progress. When the viewer's ticket or login ends, the
// last event is "expired", and "kicked" when somebody removes the viewer. It closes sub.
func ServeSSE(w http.ResponseWriter, r *http.Request, sub *stream.Subscription) {
	defer sub.Close()
	out := httpapi.OpenEvents(w)
	met := false
	for {
		ctx, cancel := context.WithTimeout(r.Context(), httpapi.Heartbeat)
		batch, err := sub.Next(ctx)
		cancel()
		switch {
		case r.Context().Err() != nil: // there may always be more output
			err = r.Context().Err()
		case err == nil:
			if !met && len(batch) > 0 {
				met = true
				err = sendFirst(r.Context(), out, batch[0], sub)
				batch = batch[1:]
			}
			if err == nil {
				err = sendEvents(r.Context(), out, batch)
			}
			if err == nil {
				sub.Sent()
			}
		case errors.Is(err, context.DeadlineExceeded):
			err = out.Beat()
		}
		if err != nil {
			sendLast(r.Context(), out, err)
			return
		}
	}
}

// sendLast says why a viewer's events end with err, where it is not by the viewer. The line feed ends what a large
// event may have begun.
func sendLast(ctx context.Context, out httpapi.EventWriter, err error) {
	switch {
	case errors.Is(err, stream.ErrKicked):
		_ = out.Send(httpapi.AppendEvent([]byte{'\n'}, "kicked", wire.EventKicked{Error: stream.ErrKicked.Error()}))
	case ended(ctx):
		_ = out.Send(httpapi.AppendEvent([]byte{'\n'}, "expired", wire.EventExpired{Error: httpapi.ErrEnded.Error()}))
	}
}

// sendFirst writes the first event of a viewer, with its id.
func sendFirst(ctx context.Context, out httpapi.EventWriter, m *stream.Message, sub *stream.Subscription) error {
	if m.IsLarge() {
		return m.WriteLargeSSE(ctx, &introducer{out, sub})
	}
	own, shared := sub.Introduce(m.SSE())
	if _, err := out.Write(own); err != nil {
		return err
	}
	_, err := out.Write(shared)
	return err
}

// sendEvents writes events and flushes them at once.
func sendEvents(ctx context.Context, out httpapi.EventWriter, batch []*stream.Message) error {
	for _, m := range batch {
		var err error
		if m.IsLarge() {
			err = m.WriteLargeSSE(ctx, out)
		} else {
			_, err = out.Write(m.SSE())
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}
