// Package exec has the routes of shells and their commands.
package exec

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// Service has the handlers of shells and commands.
type Service struct{ *httpapi.Base }

const (
	// startPatience is how long the reply about a background command waits for its start while others are before it;
	// then its process id is 0. The reply to a cancel waits as long for the end.
	startPatience = 2 * time.Second
	// turnPatience is how much longer it waits for a command that has its turn: the machine may be busy.
	turnPatience = 8 * time.Second
)

// shellOf is the shell that a path names, the session's default one without a name.
func (s *Service) shellOf(ref wire.ShellRef) (*registry.Shell, error) {
	if err := httpapi.CheckSession(ref.SessionRef); err != nil {
		return nil, err
	}
	if ref.Shell != "" {
		return s.Shells.Find(ref.Session, ref.Shell)
	}
	return s.Shells.Default(ref.Session)
}

// checkedShell is the shell that a path names, after check, which asks the permissions. A denied action does not create
// the default shell, and no person is asked about a shell that does not exist.
func (s *Service) checkedShell(ref wire.ShellRef, check func() error) (*registry.Shell, error) {
	if ref.Shell == "" {
		if err := check(); err != nil {
			return nil, err
		}
		return s.Shells.Default(ref.Session)
	}
	sh, err := s.Shells.Find(ref.Session, ref.Shell)
	if err != nil {
		return nil, err
	}
	return sh, check()
}

// CheckExec asks the permissions about a command. within is the directory to which an approval binds it: one in which
// it would begin now. "" is any.
func (s *Service) CheckExec(ctx context.Context, session string, args permission.ExecArgs) (within string, err error) {
	if !s.Threads.Enforcer().Applies(session) {
		return "", nil
	}
	args.Directory = s.Shells.Directory(session, args.Shell, args.Cwd)
	approved, err := s.Threads.CheckApproved(ctx, session,
		permission.Action{Tool: permission.ToolExec, Arguments: args})
	if approved {
		within = args.Directory
	}
	return within, err
}

// submit finds the shell of a request, which an invalid one does not create, and submits the command to it, or runs it
// on a terminal of its own.
func (s *Service) submit(ctx context.Context, in wire.Exec) (*registry.Shell, *shell.Exec, error) {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return nil, nil, err
	}
	cmd, err := ShellCommand(&in)
	if err == nil {
		err = cmd.Check()
	}
	if err != nil {
		return nil, nil, err
	}
	args := Action(&in)
	args.Shell = in.Shell
	sh, err := s.checkedShell(in.ShellRef, func() (err error) {
		cmd.Within, err = s.CheckExec(ctx, in.Session, args)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if in.Login && !in.Isolated && !sh.Spec().Login {
		cmd.Text = shell.LoginText + cmd.Text
	}
	var e *shell.Exec
	if in.TTY {
		e, err = s.Shells.ExecTTY(context.WithoutCancel(ctx), sh, cmd)
	} else {
		e, err = sh.Submit(cmd)
	}
	return sh, e, err
}

func (s *Service) exec(c echo.Context, in wire.Exec) error {
	sh, e, err := s.submit(c.Request().Context(), in)
	if err != nil {
		return err
	}
	if in.Background {
		return s.accepted(c, sh, e)
	}
	if err := s.Await(c.Request().Context(), e, in.CancelOnDisconnect); err != nil {
		return commandError(c, e, err)
	}
	return execReply(c, e, sh.Session)
}

// Await waits until a command has a result. A command continues after its client has left, unless cancel says
// otherwise, and after the end of the server.
func (s *Service) Await(ctx context.Context, e *shell.Exec, cancel bool) error {
	select {
	case <-e.Done():
		_, err := e.Wait(ctx)
		return err
	case <-s.Closing:
		return terminal.ErrClosing
	case <-ctx.Done():
	}
	if cancel && !httpapi.Closed(s.Closing) {
		e.Cancel()
	}
	return ctx.Err()
}

// commandError is an error with the id of its command.
func commandError(c echo.Context, e *shell.Exec, err error) *httpapi.Error {
	own := httpapi.ErrorFor(err, c)
	own.Details.CommandID = e.ID()
	return own
}

func (s *Service) accepted(c echo.Context, sh *registry.Shell, e *shell.Exec) error {
	if err := s.Started(c.Request().Context(), e); err != nil {
		return commandError(c, e, err)
	}
	i := e.Info()
	return httpapi.WriteJSON(c, http.StatusAccepted, wire.ExecAccepted{Success: true, CommandID: i.ID, PID: i.PID,
		Status: wire.CommandStatus(i.Status), Session: sh.Session, Shell: sh.ID})
}

// Started waits for the start of a command, for startPatience behind others and turnPatience more in its turn. Errors:
// why a command could not be started.
func (s *Service) Started(ctx context.Context, e *shell.Exec) error {
	if !s.begun(ctx, e, startPatience) && e.Info().Position == 0 {
		s.begun(ctx, e, turnPatience)
	}
	if e.Info().Status != shell.Failed {
		return nil
	}
	_, err := e.Wait(ctx)
	return err
}

// begun waits for the start of a command, and reports whether it came within limit.
func (s *Service) begun(ctx context.Context, e *shell.Exec, limit time.Duration) bool {
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-e.Started():
		return true
	case <-patience.C:
	case <-s.Closing:
	case <-ctx.Done():
	}
	return false
}

func (s *Service) execStream(c echo.Context, in wire.Exec) error {
	sh, e, err := s.submit(c.Request().Context(), in)
	if err != nil {
		return err
	}
	if in.CancelOnDisconnect {
		defer s.cancelUnfinished(e)
	}
	s.Follow(c, e, ownEvents{httpapi.NameFor(c, sh.Session)}, Following{End: StreamLimit(e)})
	return nil
}

// cancelUnfinished cancels a command whose client has left before its end, but not at the end of the server.
func (s *Service) cancelUnfinished(e *shell.Exec) {
	if !httpapi.Closed(e.Done()) && !httpapi.Closed(s.Closing) {
		e.Cancel()
	}
}

// ownEvents are the events of these routes: start, stdout, stderr, complete, error.
type ownEvents struct{ session string }

func (o ownEvents) Started(b []byte, i shell.Info) []byte {
	return httpapi.AppendEvent(b, "start",
		wire.EventStart{CommandID: i.ID, PID: i.PID, PTY: i.PTY, Session: o.session, Shell: i.Shell,
			Command: i.Text(), Timestamp: i.StartedAt.UTC()})
}

func (o ownEvents) Output(b []byte, out shell.Stream, p []byte) []byte {
	name := "stdout"
	if out == shell.Stderr {
		name = "stderr"
	}
	for len(p) > 0 {
		var piece []byte
		var text bool
		piece, text, p = httpapi.NextPiece(p)
		b = append(append(append(b, "event: "...), name...), "\ndata: {\""...)
		if text {
			b, _ = jsonstring.Append(append(b, `data":"`...), piece)
		} else {
			b = httpapi.AppendBase64(append(b, `data_b64":"`...), piece)
		}
		b = append(b, "\"}\n\n"...)
	}
	return b
}

func (o ownEvents) Completed(b []byte, i shell.Info) []byte {
	return httpapi.AppendEvent(b, "complete", i.WireEnd(o.session))
}

func (o ownEvents) Failed(b []byte, e *httpapi.Error) []byte {
	return httpapi.AppendEvent(b, "error", httpapi.BodyOf(e))
}
