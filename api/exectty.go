package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/mux"
	"github.com/evertty/evertty/shell"
	"github.com/evertty/evertty/snapshot"
)

// terminalOutcome is how a command on a terminal of its own ended. What it wrote is one output, of which the reply
// has the beginning.
func terminalOutcome(sh *mux.Shell, cmd shell.Command, x mux.TerminalExec, began time.Time) execOutcome {
	return execOutcome{Success: x.ExitCode == 0, ExitCode: x.ExitCode, ExitCodeToo: x.ExitCode, Truncated: x.Truncated, TimedOut: x.TimedOut,
		Cancelled: x.Cancelled, DurationMS: time.Since(began).Milliseconds(), Timestamp: time.Now().UTC(), Command: cmd.Text,
		CommandID: x.ID, PTY: x.ID, Session: sh.Session, Shell: sh.ID, Cwd: x.Cwd, Lost: []string{}, StdoutBytes: int64(len(x.Output))}
}

// terminalContext is that of a command on a terminal: it goes on when its client has left, unless cancel says otherwise, and
// when the server ends: then the cause is mux.ErrClosing.
func (s *Server) terminalContext(c echo.Context, cancel bool) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(unhurried(c))
	go func() {
		select {
		case <-s.closing:
			stop(mux.ErrClosing)
		case <-ctx.Done():
		}
	}()
	if cancel {
		context.AfterFunc(c.Request().Context(), func() {
			if !closed(s.closing) {
				stop(nil)
			}
		})
	}
	return ctx, func() { stop(nil) }
}

// execTerminal answers an exec with tty.
func (s *Server) execTerminal(c echo.Context, sh *mux.Shell, cmd shell.Command, cancel bool) error {
	ctx, stop := s.terminalContext(c, cancel)
	defer stop()
	began := time.Now()
	x, err := s.Mux.ExecTerminal(ctx, sh, cmd, nil)
	if err != nil {
		return err
	}
	b, err := encode(terminalOutcome(sh, cmd, x, began))
	if err != nil {
		return err
	}
	b, text := appendText(append(b[:len(b)-1], `,"stdout":"`...), x.Output)
	if b = append(b, '"'); !text {
		b = append(appendBase64(append(b, `,"stdout_b64":"`...), x.Output), '"')
	}
	return writeBody(c, http.StatusOK, append(b, `,"stderr":""}`+"\n"...))
}

// terminalEnding is how an exec with tty ended.
type terminalEnding struct {
	mux.TerminalExec
	err error
}

// streamTerminal is execTerminal as events, with the terminal's output as stdout.
func (s *Server) streamTerminal(c echo.Context, sh *mux.Shell, cmd shell.Command, cancel bool) error {
	ctx, stop := s.terminalContext(c, cancel)
	defer stop()
	began, terminal, ended := time.Now(), make(chan *mux.Terminal, 1), make(chan terminalEnding, 1)
	over, end := context.WithCancel(ctx) // what follows the terminal ends with it
	go func() {
		x, err := s.Mux.ExecTerminal(ctx, sh, cmd, func(t *mux.Terminal) { terminal <- t })
		ended <- terminalEnding{x, err}
		end()
	}()
	t := startedOf(over, terminal)
	if t == nil {
		return (<-ended).err
	}
	f := terminalFollower{events: ownEvents{sh.Session}, wire: openEvents(c)}
	if err := f.run(over, sh, t); err != nil && cancel {
		stop()
	}
	x := <-ended
	if x.err != nil {
		return f.wire.send(appendEvent(nil, "error", bodyOf(errorFor(x.err, c))))
	}
	last := f.events.output(nil, shell.Stdout, append(f.held, x.Output[min(f.sent, len(x.Output)):]...))
	return f.wire.send(appendEvent(last, "complete", terminalOutcome(sh, cmd, x.TerminalExec, began)))
}

// startedOf waits for the terminal; nil when there was an end without one.
func startedOf(over context.Context, terminal <-chan *mux.Terminal) *mux.Terminal {
	select {
	case t := <-terminal:
		return t
	case <-over.Done():
	}
	select {
	case t := <-terminal: // it was a short one
		return t
	default:
		return nil
	}
}

// terminalFollower sends what the program of a terminal prints.
type terminalFollower struct {
	events ownEvents
	wire   eventWire
	sent   int // bytes of output
	held   []byte
}

// run sends the start and the output until ctx ends. It returns an error only when the client is lost: what it has
// not sent is in the outcome.
func (f *terminalFollower) run(ctx context.Context, sh *mux.Shell, t *mux.Terminal) error {
	i := t.Info()
	start := startEvent{CommandID: t.ID, PID: i.PID, PTY: t.ID, Session: sh.Session, Shell: sh.ID, Command: commandLine(i.Cmd), Timestamp: time.Now().UTC()}
	if err := f.wire.send(appendEvent(nil, "start", start)); err != nil {
		return err
	}
	changed, stop := t.Hub().Watch()
	defer stop()
	j, err := t.Journal()
	if err != nil {
		return nil
	}
	reader, err := j.Read(0)
	if err != nil {
		return nil
	}
	defer reader.Close()
	beat := time.NewTicker(execHeartbeat)
	defer beat.Stop()
	for {
		if err := f.copy(reader); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-beat.C:
			if err := f.wire.send(heartbeatComment); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// copy sends what the journal has now.
func (f *terminalFollower) copy(reader *snapshot.JournalReader) error {
	for {
		e, err := reader.Next()
		if err != nil {
			return nil //nolint:nilerr // the end as of now, or damage, which the outcome makes up for
		}
		if e.Kind == snapshot.EntryOutput {
			if err := f.output(e.Data); err != nil {
				return err
			}
		}
	}
}

// output sends bytes; half a character waits for its rest.
func (f *terminalFollower) output(p []byte) error {
	f.sent += len(p)
	f.held = append(f.held, p...)
	n := wholeRunes(f.held)
	err := f.wire.send(f.events.output(nil, shell.Stdout, f.held[:n]))
	f.held = append(f.held[:0], f.held[n:]...)
	return err
}
