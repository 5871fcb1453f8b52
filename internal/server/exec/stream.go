package exec

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/terminal"
)

// Events encode the events of a command, for these routes and for the compatible ones. Each method appends events of
// an event stream.
type Events interface {
	Started(b []byte, i shell.Info) []byte
	Output(b []byte, o shell.Stream, p []byte) []byte // up to a page, possibly in several events
	Completed(b []byte, i shell.Info) []byte          // of a command with a Result
	Failed(b []byte, e *httpapi.Error) []byte
}

// follower streams one command's output to one client. It reads the log at the client's speed: nobody waits for a
// slow one, and nothing is queued for it.
type follower struct {
	exec    *shell.Exec
	events  Events
	cursors [2]logCursor
	late    bool // goes on after the result, until no more can come
	closing <-chan struct{}
	ended   bool // no more can come
	buffers *logBuffers
	wire    httpapi.EventWriter
}

// commandHeader is the header with the command's id, which comes before the first event of a command that waits in
// the queue.
const commandHeader = "X-Command-Id"

// Following is the part of a command's output to follow.
type Following struct {
	from [2]int64 // the positions to begin at
	End  int64    // how much of each output is sent at most, -1 is all
	late bool     // goes on after the result, until nothing can come any more
}

// Follow sends the events of a command until its result. After it the reply is complete, also after an error.
func (s *Service) Follow(c echo.Context, e *shell.Exec, events Events, what Following) {
	buffers := logPool.Get().(*logBuffers)
	defer buffers.release()
	c.Response().Header().Set(commandHeader, e.ID())
	f := &follower{exec: e, events: events, late: what.late, closing: s.Closing, buffers: buffers,
		wire: httpapi.OpenEvents(c.Response())}
	for i, o := range []shell.Stream{shell.Stdout, shell.Stderr} {
		f.cursors[i] = logCursor{exec: e, output: o, at: what.from[i], seen: what.from[i], end: what.End}
	}
	err := f.run(c.Request().Context())
	if _, lost := errors.AsType[*httpapi.SendError](err); err == nil || lost || c.Request().Context().Err() != nil &&
		!httpapi.Closed(s.Closing) {
		return
	}
	_ = f.wire.Send(events.Failed(nil, commandError(c, e, err))) // else the client has gone too
}

// run returns nil after the last event.
func (f *follower) run(ctx context.Context) error {
	if err := f.wait(ctx, f.exec.Started()); err != nil {
		return err
	}
	if err := f.send(f.events.Started(f.buffers.out, f.exec.Info())); err != nil {
		return err
	}
	for {
		over := httpapi.Closed(f.exec.Done()) && (f.ended || !f.late) // before the look: then all of it is there
		if over {
			f.cursors[0].stopHere() // what a job still prints is not this reply's
			f.cursors[1].stopHere()
		}
		sent, err := f.pages()
		if err != nil {
			return err
		}
		if over && !sent {
			break
		}
		if !over && !sent {
			if err := f.more(ctx); err != nil {
				return err
			}
		}
	}
	if _, err := f.exec.Wait(ctx); err != nil {
		return err
	}
	return f.send(f.events.Completed(f.buffers.out, f.exec.Info()))
}

// send sends events that were appended to the buffer.
func (f *follower) send(b []byte) error {
	f.buffers.out = b[:0]
	return f.wire.Send(b)
}

// pages sends a page of each output that has one.
func (f *follower) pages() (sent bool, err error) {
	b := f.buffers.out
	for i := range f.cursors {
		page, err := f.cursors[i].next(f.buffers.page)
		if err != nil {
			return sent, err
		}
		if len(page) > 0 {
			b, sent = f.events.Output(b, f.cursors[i].output, page), true
		}
	}
	return sent, f.send(b)
}

// more waits for more output or the end of the command.
func (f *follower) more(ctx context.Context) error {
	if f.ended {
		return f.wait(ctx, f.exec.Done())
	}
	look, cancel := context.WithTimeout(ctx, httpapi.Heartbeat)
	defer cancel()
	done := f.exec.Done()
	if f.late {
		done = nil
	}
	go func() {
		select {
		case <-done:
		case <-f.closing:
		case <-look.Done():
		}
		cancel()
	}()
	more, err := f.exec.Follow(look, f.cursors[0].awaited(), f.cursors[1].awaited())
	switch {
	case err == nil:
		f.ended = !more
		return nil
	case httpapi.Closed(f.closing):
		return terminal.ErrClosing
	case ctx.Err() != nil:
		return ctx.Err()
	case look.Err() == nil:
		return err
	case done != nil && httpapi.Closed(done):
		return nil
	}
	return f.wire.Beat()
}

// wait waits until fact is closed, and sends heartbeats meanwhile.
func (f *follower) wait(ctx context.Context, fact <-chan struct{}) error {
	beat := time.NewTicker(httpapi.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-fact:
			return nil
		case <-f.closing:
			return terminal.ErrClosing
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
			if err := f.wire.Beat(); err != nil {
				return err
			}
		}
	}
}
