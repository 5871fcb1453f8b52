package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
)

// feedPiece is how much standard input goes into one request at most, in bytes.
const feedPiece = 256 << 10

// errNoReader is why input ends that the command does not want.
var errNoReader = errors.New("the command reads no more")

// feed gives standard input to the command until its end, or until the command's.
func (e *execution) feed(ctx context.Context) {
	in, err := openInput(ctx, e.stdin)
	if err == nil {
		defer in.Close()
		err = e.pour(ctx, in)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoReader) {
		return
	}
	_ = e.cancel(ctx)
	e.end(fmt.Errorf("standard input: %w; the command was cancelled", err))
}

func (e *execution) pour(ctx context.Context, in *input) error {
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
	for {
		err := e.server.Load().CommandInput(ctx, e.session, e.id, p, end)
		if refused, ok := errors.AsType[*client.Error](err); ok {
			switch refused.Status {
			case http.StatusNotFound, http.StatusConflict, http.StatusGone:
				return errNoReader
			}
		}
		if !errors.Is(err, client.ErrNoServer) {
			return err
		}
		if err := sleep(ctx, retryFirst); err != nil {
			return err
		}
	}
}

// input reads a file in whatever mode it is, so that a read can be broken off.
// Nothing is read that is not returned.
type input struct {
	in   *os.File
	wake [2]int // a pipe; its write end is closed to end reading
	stop func() bool
}

// openInput reads f until ctx ends. The caller must Close it.
func openInput(ctx context.Context, f *os.File) (*input, error) {
	i := &input{in: f}
	if err := unix.Pipe2(i.wake[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	i.stop = context.AfterFunc(ctx, func() { _ = unix.Close(i.wake[1]) })
	return i, nil
}

func (i *input) Close() {
	if i.stop() {
		_ = unix.Close(i.wake[1])
	}
	_ = unix.Close(i.wake[0])
}

// fill waits for input and takes what is there, up to all of p. Its error may come
// with bytes; it is io.EOF at the end and after ctx's.
func (i *input) fill(p []byte) (int, error) {
	n, wait := 0, -1
	for n < len(p) {
		fds := []unix.PollFd{{Fd: int32(i.in.Fd()), Events: unix.POLLIN}, {Fd: int32(i.wake[0]), Events: unix.POLLIN}}
		ready, err := unix.Poll(fds, wait)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return n, err
		case ready == 0:
			return n, nil
		case fds[1].Revents != 0:
			return n, io.EOF
		}
		got, err := unix.Read(int(i.in.Fd()), p[n:])
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return n, err
		case got == 0:
			return n, io.EOF
		}
		n, wait = n+got, 0
	}
	return n, nil
}
