package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evertty/evertty/client"
)

const (
	// execLost is how long a command is waited for whose server does not answer.
	execLost = time.Minute
	// execSilent is how long that goes on before the user hears of it.
	execSilent = 3 * time.Second
	// execLeave is how long a cancelled command may take to end. The server is
	// through after a second and the start of another shell.
	execLeave = 10 * time.Second
	// execRetry bounds the pause before a broken connection is made again; shorter
	// than a viewer's, because a script waits.
	execRetry = time.Second
	// sameSignal is how long after the first signal another one is no second wish:
	// timeout(1) sends its signal to the program and then to the group it is in.
	sameSignal = 300 * time.Millisecond
	// codeCancelled is the exit code that the server gives a cancelled command.
	codeCancelled = exitSignal + int(syscall.SIGINT)
)

// execution is one command on the server that this program stands for: its output
// comes out here, its input goes in here, and the signals that should end it are
// this program's.
type execution struct {
	connect        func() (*client.Client, error) // finds the server, each time anew
	session        string
	stdout, stderr io.Writer
	stdin          *os.File     // nil: the command reads nothing
	watches        bool         // it only looks: nothing here ends the command
	reached        bool         // a connection was made
	tell           func(string) // says something to the user
	id             string       // of the command; valid once started is closed
	started        chan struct{}
	patience       time.Duration                 // execLost, but in tests
	server         atomic.Pointer[client.Client] // of the newest connection
	out, err       int64                         // bytes of the two outputs that were written
	heard          atomic.Int32                  // the signal that cancelled the command
	end            context.CancelCauseFunc       // leaves, with the reason
	helpers        sync.WaitGroup
}

func newExecution(connect func() (*client.Client, error), session string) *execution {
	return &execution{connect: connect, session: session, started: make(chan struct{}), patience: execLost,
		tell: func(string) {}}
}

// opening begins the first connection of an execution.
type opening func(context.Context, *client.Client) (*client.ExecStream, error)

// outputError is an error of writing the command's output here.
type outputError struct{ error }

func (o outputError) Unwrap() error { return o.error }

// run returns how the command ended.
func (e *execution) run(ctx context.Context, open opening) (*client.ExecResult, error) {
	ctx, e.end = context.WithCancelCause(ctx)
	heard, stop := hearEnd()
	defer stop()
	e.helpers.Go(func() { e.hear(ctx, heard) })
	type result struct {
		reply *client.ExecResult
		err   error
	}
	over := make(chan result, 1)
	go func() {
		reply, err := e.follow(ctx, open)
		over <- result{reply, err}
	}()
	var r result
	select {
	case r = <-over:
	case <-ctx.Done(): // also while a full pipe keeps follow from noticing
		r.err = context.Cause(ctx)
	}
	if broken, ok := errors.AsType[outputError](r.err); ok {
		r.err = e.abandon(broken)
	} else {
		r.err = signalled(ctx, r.err)
	}
	e.end(nil)
	e.helpers.Wait()
	return r.reply, r.err
}

// code is what this program ends with for how the command ended: 130 stands for a
// cancel, and the signal that was the reason may have been another.
func (e *execution) code(r *client.ExecResult) int {
	if s := e.heard.Load(); s != 0 && r.ExitCode == codeCancelled {
		return exitSignal + int(s)
	}
	return r.ExitCode
}

// follow writes what the command prints until it has ended, over as many
// connections as that takes.
func (e *execution) follow(ctx context.Context, open opening) (*client.ExecResult, error) {
	reply, err := e.visit(ctx, open)
	if err != nil && (e.id == "" || !e.reached) {
		return nil, e.unsure(err)
	}
	since, told := time.Now(), false
	for pause := retryFirst; err != nil; pause = min(2*pause, execRetry) {
		lost := time.Since(since)
		switch {
		case !passing(err) || ctx.Err() != nil:
			return nil, err
		case lost >= e.patience:
			return nil, fmt.Errorf("the server is lost for %v; the command may still run: evertty commands -s %s %s "+
				"shows it: %w", e.patience, e.session, e.id, err)
		case lost >= execSilent && !told:
			told = true
			e.tell("the server is lost; waiting for it")
		}
		if sleep(ctx, pause) != nil {
			return nil, context.Cause(ctx)
		}
		before := e.out + e.err
		reply, err = e.visit(ctx, func(ctx context.Context, server *client.Client) (*client.ExecStream, error) {
			return server.FollowCommand(ctx, e.session, e.id, e.out, e.err, false)
		})
		if e.out+e.err > before {
			pause, since = retryFirst, time.Now()
		}
	}
	return reply, nil
}

// unsure says what an error at the beginning means; what the server refused, wrong usage,
// and that there is no server, need no words.
func (e *execution) unsure(err error) error {
	var refused *client.Error
	if e.watches || errors.As(err, &refused) || errors.As(err, &usageError{}) || errors.Is(err, client.ErrNoServer) ||
		errors.Is(err, context.Canceled) || errors.As(err, &signalError{}) {
		return err
	}
	return fmt.Errorf("the connection broke, and nobody knows whether the command was run: %w", err)
}

// passing reports whether the command may be there again at the next try: everything
// but what the server refuses for good, and an output that cannot be written.
func passing(err error) bool {
	return !errors.As(err, &outputError{}) && client.Temporary(err)
}

// visit writes the output as long as one connection lasts.
func (e *execution) visit(ctx context.Context, open opening) (*client.ExecResult, error) {
	server, err := e.connect()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	stream, err := open(ctx, server)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	e.reached = true
	e.server.Store(server)
	e.begin(ctx, stream.CommandID())
	for {
		event, err := stream.Next()
		if err != nil {
			return nil, err
		}
		switch event.Kind {
		case client.ExecStart:
			e.begin(ctx, event.CommandID)
		case client.ExecStdout:
			err = pass(e.stdout, event.Data, &e.out, "standard output")
		case client.ExecStderr:
			err = pass(e.stderr, event.Data, &e.err, "standard error")
		case client.ExecComplete:
			return event.Reply, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// begin knows the command from now on.
func (e *execution) begin(ctx context.Context, id string) {
	if e.id != "" || id == "" {
		return
	}
	e.id = id
	close(e.started)
	if e.stdin != nil {
		e.helpers.Go(func() { e.feed(ctx) })
	}
}

// pass writes a piece of output and moves the position.
func pass(w io.Writer, p []byte, at *int64, name string) error {
	n, err := w.Write(p)
	*at += int64(n)
	if err != nil {
		return outputError{fmt.Errorf("%s: %w", name, err)}
	}
	return nil
}
