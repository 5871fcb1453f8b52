// Package exec has the routes of shells and their commands.
package exec

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// Service has the handlers of shells and commands.
type Service struct{ *httpapi.Base }

// startPatience is how long the reply about a background command waits for its start; a command that waits in the
// queue has no process id in it.
const startPatience = 2 * time.Second

// shellOf is the shell that a path names, the session's default one without a name.
func (s *Service) shellOf(c echo.Context) (*registry.Shell, error) {
	session, err := shellSessionOf(c)
	if err != nil {
		return nil, err
	}
	if id := c.Param("shid"); id != "" {
		return s.Shells.Find(session, id)
	}
	return s.Shells.Default(session)
}

// checkedShell returns the shell of a path in session after check, which asks the permissions, and
// sets name to the shell that the path names.
//
// The default shell is not created for a denied action, and nobody is asked about a shell
// that does not exist.
func (s *Service) checkedShell(c echo.Context, session string, name *string, check func() error) (
	*registry.Shell, error) {
	id := c.Param("shid")
	if id == "" {
		if err := check(); err != nil {
			return nil, err
		}
		return s.Shells.Default(session)
	}
	sh, err := s.Shells.Find(session, id)
	if err != nil {
		return nil, err
	}
	*name = id
	return sh, check()
}

// CheckExec asks the permissions about a command. within is the directory to which an approval binds it: one in which
// it would begin now. "" is any.
func (s *Service) CheckExec(c echo.Context, session string, args permission.ExecArgs) (within string, err error) {
	if !s.Threads.Enforcer().Applies(session) {
		return "", nil
	}
	args.Directory = s.Shells.Directory(session, args.Shell, args.Cwd)
	approved, err := s.Threads.CheckApproved(c.Request().Context(), session,
		permission.Action{Tool: permission.ToolExec, Arguments: args})
	if approved {
		within = args.Directory
	}
	return within, err
}

// shellSessionOf is the session in a path of shells. A grant for one terminal does not allow that.
func shellSessionOf(c echo.Context) (string, error) {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return "", httpapi.ErrWrongTerminal
	}
	return httpapi.SessionOf(c)
}

// requested reads the body of an exec and finds its shell, which an invalid body does not create.
func (s *Service) requested(c echo.Context) (sh *registry.Shell, r wire.Exec, cmd shell.Command, err error) {
	session, err := shellSessionOf(c)
	if err != nil {
		return nil, r, cmd, err
	}
	if err = Bind(c, &r, false); err != nil {
		return nil, r, cmd, err
	}
	if cmd, err = ShellCommand(&r); err == nil {
		err = cmd.Check()
	}
	if err != nil {
		return nil, r, cmd, err
	}
	args := Action(&r)
	sh, err = s.checkedShell(c, session, &args.Shell, func() (err error) {
		cmd.Within, err = s.CheckExec(c, session, args)
		return err
	})
	if err == nil && r.Login && !r.Isolated && !sh.Spec().Login {
		cmd.Text = shell.LoginText + cmd.Text
	}
	return sh, r, cmd, err
}

func (s *Service) postExec(c echo.Context) error {
	sh, req, cmd, err := s.requested(c)
	if err != nil {
		return err
	}
	e, err := s.submit(c, sh, req, cmd)
	if err != nil {
		return err
	}
	if req.Background {
		return s.accepted(c, sh, e)
	}
	if err := s.Await(c, e, req.CancelOnDisconnect); err != nil {
		return commandError(c, e, err)
	}
	return execReply(c, e, sh.Session)
}

// submit submits a command to its shell, or runs it on a terminal of its own.
func (s *Service) submit(c echo.Context, sh *registry.Shell, req wire.Exec, cmd shell.Command) (*shell.Exec, error) {
	if req.TTY {
		return s.Shells.ExecTTY(context.WithoutCancel(c.Request().Context()), sh, cmd)
	}
	return sh.Submit(cmd)
}

// Await waits until a command has a result. A command continues after its client has left, unless cancel says
// otherwise, and after the end of the server.
func (s *Service) Await(c echo.Context, e *shell.Exec, cancel bool) error {
	ctx := c.Request().Context()
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
func commandError(c echo.Context, e *shell.Exec, err error) error {
	return httpapi.ErrorFor(err, c).With("command_id", e.ID())
}

func (s *Service) accepted(c echo.Context, sh *registry.Shell, e *shell.Exec) error {
	if err := s.Started(c, e); err != nil {
		return commandError(c, e, err)
	}
	i := e.Info()
	return c.JSON(http.StatusAccepted, wire.ExecAccepted{Success: true, CommandID: i.ID, PID: i.PID,
		Status: wire.CommandStatus(i.Status), Session: sh.Session, Shell: sh.ID})
}

// Started waits for the start of a command, for startPatience. Errors: why a command could not be started.
func (s *Service) Started(c echo.Context, e *shell.Exec) error {
	patience := time.NewTimer(startPatience)
	defer patience.Stop()
	select {
	case <-e.Started():
	case <-patience.C:
	case <-s.Closing:
	case <-c.Request().Context().Done():
	}
	if e.Info().Status != shell.Failed {
		return nil
	}
	_, err := e.Wait(c.Request().Context())
	return err
}

func (s *Service) postExecStream(c echo.Context) error {
	sh, req, cmd, err := s.requested(c)
	if err != nil {
		return err
	}
	e, err := s.submit(c, sh, req, cmd)
	if err != nil {
		return err
	}
	if req.CancelOnDisconnect {
		defer s.cancelUnfinished(e)
	}
	s.Follow(c, e, ownEvents{sh.Session}, Following{End: StreamLimit(e)})
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
