package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// heartbeat is how often an idle stream shows that it lives: below the 30 s
	// to 60 s after which proxies drop a silent connection.
	heartbeat = 15 * time.Second
	// writeTimeout is how long one piece of writePiece bytes may take. A viewer
	// that stops reading for longer loses its connection; until then it only
	// holds its own bounded queue.
	writeTimeout = 60 * time.Second
	writePiece   = 64 << 10
)

// ServeSSE sends the subscription as Server-Sent Events until the exit, the
// viewer's leaving or a write that makes no progress. It closes sub.
func ServeSSE(w http.ResponseWriter, r *http.Request, sub *Subscription) {
	defer sub.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{ctx: r.Context(), w: w, control: http.NewResponseController(w)}
	for {
		ctx, cancel := context.WithTimeout(r.Context(), heartbeat)
		batch, err := sub.Next(ctx)
		cancel()
		if err == nil {
			err = out.events(batch)
		} else if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
			err = out.heartbeat()
		}
		if err != nil {
			return
		}
	}
}

// eventWriter writes events and flushes each batch once.
type eventWriter struct {
	ctx     context.Context
	w       http.ResponseWriter
	control *http.ResponseController
}

func (e *eventWriter) events(batch []*Message) error {
	for _, m := range batch {
		if m.isLarge() {
			head := fmt.Sprintf("event: %s\nid: %d\ndata: %s", m.Kind, m.Seq, m.jsonHead(""))
			if err := m.pour(e.ctx, e, head, "\"}\n\n", false); err != nil {
				return err
			}
			continue
		}
		if err := e.write(m.SSE()); err != nil {
			return err
		}
	}
	return e.control.Flush()
}

// Write implements io.Writer for a snapshot that comes in pieces.
func (e *eventWriter) Write(p []byte) (int, error) { return len(p), e.write(p) }

// heartbeat is a comment, which every reader of events skips.
func (e *eventWriter) heartbeat() error {
	if err := e.write([]byte(": heartbeat\n\n")); err != nil {
		return err
	}
	return e.control.Flush()
}

// write sends p in pieces, each with its own deadline, so that a slow line may
// take as long as it needs for a large snapshot while a stopped one may not.
func (e *eventWriter) write(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), writePiece)
		if err := e.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if _, err := e.w.Write(p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}
