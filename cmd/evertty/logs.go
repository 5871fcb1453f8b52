package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// lull is how long output must pause before an unfinished line is shown.
const lull = 100 * time.Millisecond

// logging has the flags of logs.
type logging struct{ follow, text, raw, asJSON bool }

func newLogs(a *app) *cobra.Command {
	var o logging
	c := &cobra.Command{
		Use:   "logs ID",
		Short: "Print history and screen, and follow the output",
		Long: `Prints the history and the screen as text; rows that the right margin broke are
one line. With --follow it goes on with the output until the program ends, also
when the server is restarted meanwhile; what full-screen programs draw is left out
there.
With --raw it prints what a terminal of the same size needs to show the same; on a
terminal the lines with their colours, and with --follow all, taken back at the end.` + referenceHelp,
		Example: `  evertty logs build | grep error
  evertty logs build --follow`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
		RunE: func(c *cobra.Command, args []string) error {
			if o.text && o.raw {
				return usage(errors.New("logs: --text and --raw exclude each other"))
			}
			id, err := a.idOf(c.Context(), args[0])
			if err != nil {
				return err
			}
			if o.follow {
				return followLogs(c.Context(), a, id, o)
			}
			server, err := a.reach()
			if err != nil {
				return err
			}
			return printLogs(c.Context(), a, server, id, o)
		},
	}
	addFlags(c,
		flag{"follow", "f", &o.follow, "go on with the output until the program ends"},
		flag{"text", "", &o.text, "plain lines (the default)"},
		flag{"raw", "", &o.raw, "with all escape sequences"},
		flag{"json", "", &o.asJSON, "print JSON"},
	)
	return a.talks(c)
}

func printLogs(ctx context.Context, a *app, server *client.Client, id string, o logging) error {
	if !o.raw && !o.asJSON {
		s, err := screenOf(ctx, server, id, client.AllHistory)
		if err != nil {
			return err
		}
		// Without the empty rows below.
		return printText(a, strings.TrimRight(strings.Join(joined(s), "\n"), "\n"), true)
	}
	format := client.Text
	if o.raw {
		format = client.ANSI
	}
	s, err := server.Snapshot(ctx, id, format, client.AllHistory)
	switch {
	case err != nil:
		return err
	case o.asJSON:
		_, err := terminalJSON(a.stdout).Write(append(s.Raw, '\n'))
		return err
	}
	return printANSI(a, s)
}

// joined are the lines of history and screen, those that the margin broke as one.
func joined(s wire.ScreenJSON) (lines []string) {
	all := slices.Concat(s.Scrollback, s.Lines)
	for i, l := range all {
		if l.Wrapped && i > 0 {
			before := all[i-1]
			lines[len(lines)-1] += strings.TrimPrefix(continuedText(before, l, s.Cols), before.Text) + l.Text
			continue
		}
		lines = append(lines, l.Text)
	}
	return lines
}

// logSink takes the events of a terminal one after the other.
type logSink interface {
	event(e client.Event) error
	pause() error // the output rests
	end() error   // there is no more
}

func followLogs(ctx context.Context, a *app, id string, o logging) error {
	raw := &rawLog{out: a.stdout}
	if o.raw && isTTY(a.stdout, a.stdout) {
		var stop func()
		ctx, stop = endBySignal(ctx)
		defer stop()
		raw.user = &userOutput{out: a.stdout, turn: newTurn()}
		defer raw.user.begun(ctx, func(time.Duration) {})()
	}
	f := a.follower()
	f.Inside = a.shownIn()
	stream, err := f.Stream(ctx, id)
	if err != nil {
		return err
	}
	defer stream.Close()
	var sink logSink = &textLog{app: a, load: func() (v wire.ScreenJSON, err error) {
		err = f.Do(ctx, func(server *client.Client) error {
			v, err = screenOf(ctx, server, stream.ID(), client.AllHistory)
			return err
		})
		return v, err
	}}
	switch {
	case o.asJSON:
		sink = jsonLog{a.stdout}
	case o.raw:
		sink = raw
	}
	return signalled(ctx, feedbackError(errors.Join(pour(stream, sink), sink.end())))
}

// taken is one result of Stream.Next.
type taken struct {
	event client.Event
	err   error
}

// pour gives the stream's events to the sink until the exit.
func pour(stream *client.FollowStream, sink logSink) error {
	events, quit := make(chan taken), make(chan struct{})
	defer close(quit)
	go passEvents(stream.Next, events, quit)
	rest := time.NewTimer(lull)
	defer rest.Stop()
	for {
		select {
		case t := <-events:
			if errors.Is(t.err, io.EOF) {
				return nil
			}
			if t.err != nil {
				return t.err
			}
			if err := sink.event(t.event); err != nil {
				return err
			}
			rest.Reset(lull)
		case <-rest.C:
			if err := sink.pause(); err != nil {
				return err
			}
		}
	}
}

// rawLog writes what a terminal needs. One that it is written to is as before at the end.
type rawLog struct {
	out   io.Writer
	user  *userOutput // nil where out is no terminal
	shown bool        // there was a snapshot
}

// ris resets a terminal (ECMA-48 8.3.105) before a later snapshot rebuilds it.
const ris = "\x1bc"

func (l *rawLog) event(e client.Event) error {
	if l.user != nil {
		return l.onTerminal(e)
	}
	if e.Kind == client.KindSnapshot {
		if l.shown {
			put(l.out, ris)
		}
		l.shown = true
	}
	_, err := l.out.Write(e.Data)
	return err
}

func (l *rawLog) onTerminal(e client.Event) error {
	l.user.turn.take()
	defer l.user.turn.give()
	switch e.Kind {
	case client.KindSnapshot:
		if err := l.user.begin(wire.Size{Cols: e.Cols, Rows: e.Rows}); err != nil {
			return err
		}
		return l.user.write(e.Data)
	case client.KindData:
		return l.user.write(e.Data)
	}
	return nil
}

func (*rawLog) pause() error { return nil }
func (*rawLog) end() error   { return nil }

// jsonLog writes each event as one line.
type jsonLog struct{ w io.Writer }

// loggedEvent is an event as the API sends it.
type loggedEvent struct {
	Event  client.Kind `json:"event"`
	Seq    uint64      `json:"seq,omitempty"`
	Data   *string     `json:"data,omitempty"`
	Cols   int         `json:"cols,omitempty"`
	Rows   int         `json:"rows,omitempty"`
	Reason string      `json:"reason,omitempty"`
	*wire.EventMeta
	*wire.Exit
}

func (l jsonLog) event(e client.Event) error {
	out := loggedEvent{Event: e.Kind, Seq: e.Seq, Cols: e.Cols, Rows: e.Rows, Reason: e.Reason, EventMeta: e.Meta,
		Exit: e.Exit}
	switch e.Kind {
	case client.KindSnapshot, client.KindData:
		s := string(e.Data)
		out.Data = &s
	case client.KindExit:
		out.Reason = e.Exit.Reason
	}
	enc := json.NewEncoder(terminalJSON(l.w))
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func (jsonLog) pause() error { return nil }
func (jsonLog) end() error   { return nil }
