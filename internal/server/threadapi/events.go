package threadapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/wire"
)

func (t *threads) getThreadEvents(c echo.Context, in wire.GetThreadEvents) error {
	since, err := t.eventsSince(c, in)
	if err != nil {
		return err
	}
	if httpapi.WantsEvents(c, in.Format) {
		return t.streamEvents(c, in.Thread, since)
	}
	list, err := t.Threads.ListEvents(in.Thread, since, in.Limit)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.ThreadEvents{ThreadID: in.Thread, Events: httpapi.OrNone(list)})
}

// fromNow is the since of a client that reads how things are and wants to be told what changes.
const fromNow = "latest"

// eventsSince is the number of the last event that the client has. An EventSource that reconnects
// by itself asks with its first URL and says in a header how far it has come. A number that the
// thread has not reached is of another thread that had its id before: all of this one's events are
// new.
func (t *threads) eventsSince(c echo.Context, in wire.GetThreadEvents) (since int64, err error) {
	last, e := strconv.ParseInt(c.Request().Header.Get("Last-Event-ID"), 10, 64)
	told, latest := e == nil, in.Since == fromNow
	if !latest && in.Since != "" {
		if since, err = strconv.ParseInt(in.Since, 10, 64); err != nil || since < 0 || since > httpapi.MaxNumber {
			return 0, httpapi.BadRequest("since %q: 0 to %d are allowed, or latest", httpapi.Clip(in.Since),
				int64(httpapi.MaxNumber))
		}
	}
	if told {
		since = max(since, last)
	}
	if since == 0 && !latest {
		return 0, nil
	}
	l, err := t.Threads.Thread(c.Request().Context(), in.Thread)
	switch newest := l.Thread.Events; {
	case err != nil:
		return 0, err
	case latest && !told:
		return newest, nil
	case since > newest:
		return 0, nil
	}
	return since, nil
}

// streamEvents sends the events after since, then those that happen. It reads the records at the
// client's own speed: nothing is kept for a slow one.
func (t *threads) streamEvents(c echo.Context, thread string, since int64) error {
	events, err := t.Threads.ThreadEvents(thread, since)
	if err != nil {
		return err
	}
	defer events.Close()
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	ctx, cancel := t.WhileOpen(c.Request().Context(), terminal.ErrClosing)
	defer cancel()
	w := httpapi.OpenEvents(c.Response())
	var buffer []byte
	for {
		if buffer, err = nextEvents(ctx, events, buffer[:0]); err == nil {
			err = w.Send(buffer)
		}
		if err != nil {
			sayGoodbye(c, w, err)
			return nil
		}
	}
}

// nextEvents waits for events, but not so long that the connection looks dead.
func nextEvents(ctx context.Context, events *service.ThreadEvents, b []byte) ([]byte, error) {
	wait, cancel := context.WithTimeout(ctx, httpapi.Heartbeat)
	defer cancel()
	list, err := events.Next(wait)
	switch {
	case err == nil:
		for _, e := range list {
			b = appendThreadEvent(b, httpapi.Shown(httpapi.EchoOf(ctx), e))
		}
		return b, nil
	case ctx.Err() != nil:
		return b, context.Cause(ctx)
	case wait.Err() != nil:
		return append(b, httpapi.HeartbeatComment...), nil
	}
	return b, err
}

// sayGoodbye tells the client why there is no more, unless it has left or was told: the thread is
// deleted.
func sayGoodbye(c echo.Context, w httpapi.EventWriter, cause error) {
	_, lost := errors.AsType[*httpapi.SendError](cause)
	if lost || errors.Is(cause, io.EOF) || errors.Is(cause, context.Canceled) {
		return
	}
	// else the client has gone too
	_ = w.Send(httpapi.AppendEvent(nil, "error", httpapi.BodyOf(httpapi.ErrorFor(cause, c))))
}

// appendThreadEvent appends an event of an event stream. One without a number has no id, which
// leaves the client's as it is.
func appendThreadEvent(b []byte, e thread.Event) []byte {
	if e.Seq > 0 {
		b = fmt.Appendf(b, "id: %d\n", e.Seq)
	}
	return httpapi.AppendEvent(b, e.Type, e)
}
