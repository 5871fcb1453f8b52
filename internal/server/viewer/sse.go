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
// last event is "expired". It closes sub.
func ServeSSE(w http.ResponseWriter, r *http.Request, sub *stream.Subscription) {
	defer sub.Close()
	out := httpapi.OpenEvents(w)
	for {
		ctx, cancel := context.WithTimeout(r.Context(), httpapi.Heartbeat)
		batch, err := sub.Next(ctx)
		cancel()
		switch {
		case r.Context().Err() != nil: // there may always be more output
			err = r.Context().Err()
		case err == nil:
			if err = sendEvents(r.Context(), out, batch); err == nil {
				sub.Sent()
			}
		case errors.Is(err, context.DeadlineExceeded):
			err = out.Beat()
		}
		if err != nil {
			if ended(r.Context()) { // the line feed ends what a large event may have begun
				_ = out.Send(httpapi.AppendEvent([]byte{'\n'}, "expired",
					wire.EventExpired{Error: httpapi.ErrEnded.Error()}))
			}
			return
		}
	}
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
