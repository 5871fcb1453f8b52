package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/evertty/evertty/wire"
)

// hearEnd begins to hear the signals that end a program. Those that were ignored
// from the start (nohup, a background job of sh) stay so. A write to a closed pipe
// is an error from then on and not the end.
func hearEnd() (heard chan os.Signal, stop func()) {
	heard, pipes := make(chan os.Signal, 2), make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(heard, s)
		}
	}
	signal.Notify(pipes, syscall.SIGPIPE)
	return heard, func() {
		signal.Stop(heard)
		signal.Stop(pipes)
	}
}

// hear cancels the command at the first signal and leaves at the second, or when
// the command does not end.
func (e *execution) hear(ctx context.Context, heard <-chan os.Signal) {
	var first syscall.Signal
	select {
	case got := <-heard:
		first = got.(syscall.Signal)
	case <-ctx.Done():
		return
	}
	if e.watches {
		e.end(signalError{first})
		return
	}
	e.heard.Store(int32(first))
	e.helpers.Go(func() { _ = e.cancel(ctx) })
	began, limit := time.Now(), time.NewTimer(execLeave)
	defer limit.Stop()
	for again := true; again; {
		select {
		case <-heard:
			again = time.Since(began) < sameSignal
		case <-limit.C:
			again = false
		case <-ctx.Done():
			again = false
		}
	}
	e.end(signalError{first})
}

// cancel asks the server to end the command, until it has heard.
func (e *execution) cancel(ctx context.Context) error {
	select {
	case <-e.started:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return again(ctx, passing, func() error {
		_, err := e.server.Load().API().CancelCommand(ctx,
			wire.CancelCommand{CommandRef: commandRef(e.session, e.id)})
		return err
	})
}

// again calls do, after a pause each, until its error, or its success, does not pass.
func again(ctx context.Context, passes func(error) bool, do func() error) error {
	for {
		err := do()
		if err == nil || !passes(err) {
			return err
		}
		if err := sleep(ctx, retryFirst); err != nil {
			return err
		}
	}
}

// abandon cancels the command because its output cannot be written. A closed pipe
// is how a reader says that it has enough: that ends without a word.
func (e *execution) abandon(why outputError) error {
	ctx, cancel := context.WithTimeout(context.Background(), execLeave)
	defer cancel()
	if !e.watches {
		if err := e.cancel(ctx); err != nil {
			return fmt.Errorf("%w; and the command was not cancelled: %w", why.error, err)
		}
	}
	if errors.Is(why.error, syscall.EPIPE) {
		return signalCode(syscall.SIGPIPE)
	}
	return why.error
}
