package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// recordingMode keeps recordings from other users: they hold what was shown.
const recordingMode = 0o600

func newRecord(a *app) *cobra.Command {
	r := client.RecordingRequest{Format: client.CastV3}
	output, asJSON := "", false
	c := &cobra.Command{
		Use:   "record ID",
		Short: "Write what a terminal has printed as a recording",
		Long: `Writes the output of a terminal, as far as its journal keeps it, with the times,
the resizes and the exit, in a form that "evertty play" and asciinema show. With
--follow it goes on until the program ends or this one is interrupted, also when
the server is restarted meanwhile. A recording from the middle (--from) begins with
an empty screen. What was typed is in it only if the server was started with
--record-input.` + referenceHelp,
		Example: `  evertty record build > build.cast
  evertty record build --follow -o build.cast
  evertty record build --format raw | less -R`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
		PreRunE: func(*cobra.Command, []string) error {
			return refuse(rule{asJSON && r.Format == client.Raw, "record: --json and --format raw exclude each other"})
		},
		RunE: func(c *cobra.Command, args []string) error {
			id, err := a.idOf(c.Context(), args[0])
			if err != nil {
				return err
			}
			return a.record(c.Context(), id, r, output)
		},
	}
	formats := []string{string(client.CastV3), string(client.CastV2), string(client.Raw)}
	enumFlag(c, "format", (*string)(&r.Format), formats, "`form`: asciicast-v3, asciicast-v2 or raw")
	addFlags(c,
		flag{"from", "", newPosition(&r.From), "`position` in the output to begin at (default the first that is kept)"},
		flag{"follow", "f", &r.Follow, "go on until the program ends"},
		flag{"output", "o", &output, "`file` to write instead of standard output"},
		flag{"json", "", &asJSON, "for the form of other verbs: a recording is JSON lines anyway, but for raw"},
	)
	return a.talks(c)
}

// record writes the recording to the file, to standard output when it is "". An
// interrupt ends it; the file is a good recording up to then.
func (a *app) record(ctx context.Context, id string, r client.RecordingRequest, file string) (err error) {
	ctx, heard := endBySignal(ctx)
	defer heard()
	in, err := a.recording(ctx, id, r, file != "")
	if err != nil {
		return signalled(ctx, err)
	}
	defer in.Close()
	out := a.stdout
	if file != "" {
		if out, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, recordingMode); err != nil {
			return fmt.Errorf("record: %w", err)
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	if r.Format == client.Raw {
		_, err = io.Copy(sieved(out), in)
	} else {
		err = copyLines(terminalJSON(out), in)
	}
	if err != nil {
		return signalled(ctx, fmt.Errorf("record: %w", err))
	}
	return nil
}

// recording opens the recording; one that is followed goes on after a restart of the
// server.
func (a *app) recording(ctx context.Context, id string, r client.RecordingRequest, toFile bool) (io.ReadCloser, error) {
	server, err := a.reach()
	if err != nil {
		return nil, err
	}
	if r.Follow {
		if err := checkFeedback(ctx, a, server, id, toFile); err != nil {
			return nil, err
		}
		return a.follower().Recording(ctx, id, r)
	}
	return server.Recording(ctx, id, r)
}

// checkFeedback refuses to print what a terminal prints into itself.
func checkFeedback(ctx context.Context, a *app, server *client.Client, id string, toFile bool) error {
	in := a.shownIn()
	if toFile || len(in.Terminals) == 0 {
		return nil
	}
	info, err := server.Get(ctx, id)
	if err == nil && slices.Contains(in.Terminals, info.ID) {
		err = feedbackError(client.ErrCycle)
	}
	return err
}

// linesPiece is how much is read at once, in bytes.
const linesPiece = 64 << 10

// copyLines copies whole lines alone: a recording that is broken off ends behind
// an event.
func copyLines(w io.Writer, r io.Reader) error {
	buf := make([]byte, linesPiece)
	var rest []byte // the beginning of a line; the server's lines are bounded
	for {
		n, err := r.Read(buf)
		rest = append(rest, buf[:n]...)
		if end := bytes.LastIndexByte(rest[len(rest)-n:], '\n') + 1; end > 0 {
			end += len(rest) - n
			if _, err := w.Write(rest[:end]); err != nil {
				return err
			}
			rest = rest[:copy(rest, rest[end:])]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// endBySignal is a context that ends, with a signalError, when this program is
// told to end; stop gives the signals back.
func endBySignal(ctx context.Context) (ended context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case got := <-c:
			cancel(signalError{got.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(c)
		cancel(nil)
		<-done
	}
}

// signalled is the exit code for the signal that ended ctx, if one did, else err.
func signalled(ctx context.Context, err error) error {
	if got, ok := errors.AsType[signalError](context.Cause(ctx)); ok {
		return signalCode(got.Signal)
	}
	return err
}
