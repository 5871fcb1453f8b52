package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/r3labs/sse/v2"
)

const (
	// maxEvent bounds one event, in bytes, as the same snapshot is bounded in a
	// reply. Buffers grow to it only when an event needs it.
	maxEvent = maxReply
	// silence is how long a stream may bring nothing at all before it counts as
	// broken: three of the server's heartbeats.
	silence = 45 * time.Second
)

// errSilent is why a stream that brought nothing for too long was given up.
var errSilent = fmt.Errorf("%w: the server has been silent for %v", ErrClosed, silence)

// Stream is a viewer that only looks, by Server-Sent Events. Next has one caller
// at a time; Close may be called from any goroutine.
type Stream struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	events chan Event
	failed error         // why there are no more events; valid once done is closed
	done   chan struct{} // closed when the reader has ended
	exited bool          // the exit event was taken
}

// Stream follows a terminal. The first event is a snapshot. ctx governs the whole
// life of the stream, and the caller must Close it.
func (c *Client) Stream(ctx context.Context, id string) (*Stream, error) {
	return c.streamOf(ctx, id, nil, Inside{})
}

// StreamSince is Stream for who has shown everything up to position since, the
// Seq of the last event: if the server still has what followed, the first event
// is of KindResume, and else a snapshot.
func (c *Client) StreamSince(ctx context.Context, id string, since uint64) (*Stream, error) {
	return c.streamOf(ctx, id, &since, Inside{})
}

func (c *Client) streamOf(ctx context.Context, id string, since *uint64, in Inside) (*Stream, error) {
	q := url.Values{}
	if since != nil {
		q.Set("since", strconv.FormatUint(*since, 10))
	}
	in.query(q)
	return c.stream(ctx, c.at(q, "pty", id, "stream"))
}

func (c *Client) stream(ctx context.Context, target string) (*Stream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream{ctx: ctx, cancel: cancel, events: make(chan Event), done: make(chan struct{})}
	opened := make(chan struct{})
	go func() {
		defer close(s.done)
		s.failed = s.read(c, target, opened)
	}()
	select {
	case <-opened:
		return s, nil
	case <-s.done:
		cancel(nil)
		return nil, s.failed
	}
}

// Next returns the next event. After the exit event it returns io.EOF; when the
// connection ends before it, an error that matches ErrClosed or is ctx's.
func (s *Stream) Next() (Event, error) {
	if s.exited {
		return Event{}, io.EOF
	}
	select {
	case e := <-s.events:
		s.exited = e.Kind == KindExit
		return e, nil
	case <-s.done:
		return Event{}, s.failed
	}
}

// Close ends the stream and waits until nothing of it is left.
func (s *Stream) Close() error {
	s.cancel(ErrClosed)
	<-s.done
	return nil
}

// read runs the connection until it ends, and says why it did.
//
// r3labs' client needs guarding: it reconnects for ever by default, limits an
// event to 64 KiB, and reports heartbeats as events that have an id and nothing
// else. For the rest see eventBody.
func (s *Stream) read(c *Client, target string, opened chan<- struct{}) error {
	sc := sse.NewClient(target, sse.ClientMaxBufferSize(maxEvent))
	sc.ReconnectStrategy = never{}
	sc.Connection = &http.Client{Transport: watched{c.http.Transport, s}}
	for name := range c.header() {
		sc.Headers[name] = c.header().Get(name)
	}
	sc.Headers["Accept"] = "text/event-stream"
	sc.ResponseValidator = func(_ *sse.Client, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			defer resp.Body.Close()
			return problem(resp)
		}
		close(opened)
		return nil
	}
	var broken error // the first event that could not be read
	err := sc.SubscribeRawWithContext(s.ctx, func(m *sse.Event) {
		if broken == nil {
			broken = s.deliver(m)
		}
	})
	return s.reason(err, broken)
}

func (s *Stream) deliver(m *sse.Event) error {
	if len(m.Data) == 0 {
		return nil
	}
	e, known, err := decodeEvent(Kind(m.Event), m.Data)
	if err != nil {
		s.cancel(err)
		return err
	}
	if !known {
		return nil
	}
	select {
	case <-s.ctx.Done():
		return nil // the event before may not have been delivered; a gap must not follow
	default:
	}
	select {
	case s.events <- e:
	case <-s.ctx.Done():
	}
	return nil
}

// reason is why the stream ended, given what r3labs and the decoder say.
func (s *Stream) reason(err, broken error) error {
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case s.ctx.Err() != nil && broken == nil:
		return context.Cause(s.ctx)
	case broken != nil:
		return fmt.Errorf("%w: %w", ErrClosed, broken)
	case errors.Is(err, ErrNoServer):
		return reachable(err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return ErrClosed
}

// never is a backoff.BackOff that does not try again: who follows a terminal
// decides that itself.
type never struct{}

func (never) NextBackOff() time.Duration { return -1 } // backoff.Stop
func (never) Reset()                     {}

// watched reads a response as events, and gives it up when it brings nothing, not
// even a heartbeat.
type watched struct {
	http.RoundTripper
	s *Stream
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusOK {
		resp.Body = newEventBody(resp.Body, func() { w.s.cancel(errSilent) })
	}
	return resp, err
}
