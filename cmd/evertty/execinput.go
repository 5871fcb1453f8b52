package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/evertty/evertty/client"
)

// feedPiece is how much standard input goes into one request at most, in bytes.
const feedPiece = 256 << 10

// errNoReader is the end of input that the command does not read.
var errNoReader = errors.New("the command reads no more")

// feed gives standard input to the command until its end, or until the command's.
func (e *execution) feed(ctx context.Context) {
	in, err := newStoppable(e.stdin)
	if err == nil {
		stop := context.AfterFunc(ctx, in.stop)
		err = e.pour(ctx, &in)
		if stop() {
			in.stop()
		}
		in.close()
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoReader) {
		return
	}
	_ = e.cancel(ctx)
	e.end(fmt.Errorf("standard input: %w; the command was cancelled", err))
}

func (e *execution) pour(ctx context.Context, in *stoppable) error {
	buf := make([]byte, feedPiece)
	for {
		n, err := in.fill(buf)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		if err := e.send(ctx, buf[:n], ended); err != nil || ended {
			return err
		}
	}
}

// send gives a piece to the command. A server that is not there has taken nothing,
// so it is tried again; one that went away meanwhile may have taken a part, and
// nobody knows which.
func (e *execution) send(ctx context.Context, p []byte, end bool) error {
	absent := func(err error) bool { return errors.Is(err, client.ErrNoServer) }
	err := again(ctx, absent, func() error {
		return e.server.Load().CommandInput(ctx, e.session, e.id, p, end)
	})
	if refused, ok := errors.AsType[*client.Error](err); ok {
		switch refused.Status {
		case http.StatusNotFound, http.StatusConflict, http.StatusGone:
			return errNoReader
		}
	}
	return err
}

// fill waits for input and reads all that is ready, at most len(p) bytes. Its error may come
// with bytes; it is io.EOF at the end and after stop.
func (s *stoppable) fill(p []byte) (int, error) {
	n, wait := 0, -1
	for n < len(p) {
		got, ready, err := s.read(p[n:], wait)
		switch {
		case err != nil || !ready:
			return n, err
		case got == 0:
			return n, io.EOF
		}
		n, wait = n+got, 0
	}
	return n, nil
}
