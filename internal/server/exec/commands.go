package exec

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/wire"
)

const (
	// maxCommandList bounds a list of commands; `before` gets the next part.
	maxCommandList = 1000
	// MaxListedCommand bounds a command's text in a list, in bytes; the reply about one command has all of it.
	MaxListedCommand = 4 << 10
)

func (s *Service) getCommands(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, maxCommandList, maxCommandList)
	if err != nil {
		return err
	}
	list, next, err := s.commandPart(c, session, int(limit))
	if err != nil {
		return err
	}
	reply := wire.CommandList{Commands: make([]wire.Command, 0, len(list)), Next: next}
	for _, i := range list {
		line := i.Wire(session)
		if len(line.Text) > MaxListedCommand {
			whole := httpapi.WholeRunes([]byte(line.Text[:MaxListedCommand]))
			line.Text, line.Clipped = line.Text[:whole], true
		}
		reply.Commands = append(reply.Commands, line)
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

// commandPart is the part of the list that is asked for: the newest, those before one, or with a parameter
// after, also an empty one, the oldest behind one, and the after of the next part then.
func (s *Service) commandPart(c echo.Context, session string, limit int) (part []shell.Info, next string, err error) {
	if !c.QueryParams().Has("after") {
		part, err = s.commandsOf(c, session, limit)
		return part, "", err
	}
	after := c.QueryParam("after")
	if c.QueryParam("before") != "" {
		return nil, "", fmt.Errorf("%w: before and after exclude each other; give one of them", shell.ErrInvalid)
	}
	all, err := s.commandsOf(c, session, 0)
	if err != nil {
		return nil, "", err
	}
	part, next, ok := httpapi.PartOf(all, after, limit, func(i shell.Info) string { return i.ID })
	if !ok {
		return nil, "", fmt.Errorf("%w: after %q; begin with an empty one", shell.ErrNotFound, after)
	}
	return part, next, nil
}

func (s *Service) commandsOf(c echo.Context, session string, limit int) ([]shell.Info, error) {
	before := c.QueryParam("before")
	if c.Param("shid") == "" {
		return s.Shells.Commands(session, limit, before), nil
	}
	sh, err := s.shellOf(c)
	if err != nil {
		return nil, err
	}
	return sh.Commands(limit, before), nil
}

// commandOf is the command that a path names.
func (s *Service) commandOf(c echo.Context) (session string, e *shell.Exec, err error) {
	if session, err = shellSessionOf(c); err != nil {
		return "", nil, err
	}
	if c.Param("shid") == "" {
		e, err = s.Shells.Command(session, c.Param("cid"))
		return session, e, err
	}
	sh, err := s.shellOf(c)
	if err != nil {
		return "", nil, err
	}
	e, err = sh.Command(c.Param("cid"))
	return session, e, err
}

func (s *Service) getCommand(c echo.Context) error {
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	i := e.Info()
	return httpapi.WriteJSON(c, http.StatusOK, i.Wire(session))
}

func (s *Service) getCommandLogs(c echo.Context) error {
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	follow, err := httpapi.SwitchOf(c, "follow")
	if err != nil {
		return err
	}
	if follow {
		return s.followLogs(c, e, session)
	}
	i := e.Info()
	logs := wire.CommandLogs{CommandID: i.ID, Status: wire.CommandStatus(i.Status), Truncated: i.LogCut != "",
		TruncatedReason: i.LogCut, StdoutBytes: e.Size(shell.Stdout), StderrBytes: e.Size(shell.Stderr)}
	return SendLogs(c, e, logs, logs.StdoutBytes, logs.StderrBytes)
}

// followLogs streams the output: with late=0 until the result, else until no more can come.
func (s *Service) followLogs(c echo.Context, e *shell.Exec, session string) error {
	from, err := positionsOf(c, e)
	if err != nil {
		return err
	}
	late := c.QueryParam("late") == ""
	if !late {
		if late, err = httpapi.SwitchOf(c, "late"); err != nil {
			return err
		}
	}
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	s.Follow(c, e, ownEvents{session}, Following{from: from, End: -1, late: late})
	return nil
}

// positionsOf are the bytes of each output that the client has.
func positionsOf(c echo.Context, e *shell.Exec) (from [2]int64, err error) {
	if from[0], err = httpapi.NumberOf(c, "stdout_from", 0, e.Size(shell.Stdout), 0); err != nil {
		return from, err
	}
	from[1], err = httpapi.NumberOf(c, "stderr_from", 0, e.Size(shell.Stderr), 0)
	return from, err
}

func (s *Service) postCommandInput(c echo.Context) error {
	var req wire.ExecInput
	if err := Bind(c, &req, false); err != nil {
		return err
	}
	var p []byte
	if !req.EOF || req.Data != nil || req.DataB64 != nil {
		var err error
		if p, err = httpapi.InputBytes(req.Data, req.DataB64); err != nil {
			return err
		}
	}
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), session, permission.ToolCommandInput,
		permission.NewCommandArgs(e.ID(), p, req.EOF)); err != nil {
		return err
	}
	ctx, cancel := s.WhileOpen(c.Request().Context())
	defer cancel()
	if err := e.Input(ctx, p, req.EOF); err != nil {
		return commandError(c, e, err)
	}
	return c.JSON(http.StatusOK, wire.InputTaken{Success: true, Bytes: len(p)})
}

func (s *Service) deleteCommand(c echo.Context) error {
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	purge, err := httpapi.SwitchOf(c, "purge")
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), session, permission.ToolCancel, permission.CommandArgs{Command: e.ID()}); err != nil {
		return err
	}
	e.Cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), startPatience)
	defer cancel()
	select {
	case <-e.Done():
	case <-ctx.Done():
	}
	if purge {
		records := func() error { return s.Threads.ForgetCommand(context.WithoutCancel(c.Request().Context()), e.ID()) }
		if err := s.Shells.Forget(ctx, e, records); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, wire.CommandCancelled{Success: true, CommandID: e.ID(),
		Status: wire.CommandStatus(e.Info().Status)})
}
