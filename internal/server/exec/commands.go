package exec

import (
	"context"
	"fmt"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/wire"
)

// MaxListedCommand bounds a command's text in a list, in bytes; the reply about one command has all of it.
const MaxListedCommand = 4 << 10

func (s *Service) listCommands(_ context.Context, in wire.ListCommands) (wire.CommandList, error) {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return wire.CommandList{}, err
	}
	list, next, err := s.commandPart(in)
	if err != nil {
		return wire.CommandList{}, err
	}
	reply := wire.CommandList{Commands: make([]wire.Command, 0, len(list)), Next: next}
	for _, i := range list {
		line := i.Wire(in.Session)
		if len(line.Text) > MaxListedCommand {
			whole := httpapi.WholeRunes([]byte(line.Text[:MaxListedCommand]))
			line.Text, line.Clipped = line.Text[:whole], true
		}
		reply.Commands = append(reply.Commands, line)
	}
	return reply, nil
}

// commandPart is the part of the list that is asked for: the newest, those before one, or with a parameter after, also
// an empty one, the oldest behind one, and the after of the next part then.
func (s *Service) commandPart(in wire.ListCommands) (part []shell.Info, next string, err error) {
	if in.After == nil {
		part, err = s.commandsOf(in.ShellRef, in.NewestCommands)
		return part, "", err
	}
	if in.Before != "" {
		return nil, "", fmt.Errorf("%w: before and after exclude each other; give one of them", shell.ErrInvalid)
	}
	all, err := s.commandsOf(in.ShellRef, wire.NewestCommands{})
	if err != nil {
		return nil, "", err
	}
	part, next, ok := httpapi.PartOf(all, *in.After, in.Limit, func(i shell.Info) string { return i.ID })
	if !ok {
		return nil, "", fmt.Errorf("%w: after %q; begin with an empty one", shell.ErrNotFound, *in.After)
	}
	return part, next, nil
}

// commandsOf are the newest commands of a shell, or of all shells of a session; a limit of 0 is all.
func (s *Service) commandsOf(ref wire.ShellRef, n wire.NewestCommands) ([]shell.Info, error) {
	if ref.Shell == "" {
		return s.Shells.Commands(ref.Session, n.Limit, n.Before), nil
	}
	sh, err := s.shellOf(ref)
	if err != nil {
		return nil, err
	}
	return sh.Commands(n.Limit, n.Before), nil
}

// commandOf is the command that a path names.
func (s *Service) commandOf(ref wire.CommandRef) (*shell.Exec, error) {
	if err := httpapi.CheckSession(ref.SessionRef); err != nil {
		return nil, err
	}
	if ref.Shell == "" {
		return s.Shells.Command(ref.Session, ref.Command)
	}
	sh, err := s.shellOf(ref.ShellRef)
	if err != nil {
		return nil, err
	}
	return sh.Command(ref.Command)
}

func (s *Service) getCommand(_ context.Context, in wire.CommandRef) (wire.Command, error) {
	e, err := s.commandOf(in)
	if err != nil {
		return wire.Command{}, err
	}
	i := e.Info()
	return i.Wire(in.Session), nil
}

func (s *Service) getCommandLogs(c echo.Context, in wire.GetCommandLogs) error {
	e, err := s.commandOf(in.CommandRef)
	if err != nil {
		return err
	}
	if in.Follow {
		return s.followLogs(c, e, in)
	}
	i := e.Info()
	logs := wire.CommandLogs{CommandID: i.ID, Status: wire.CommandStatus(i.Status), Truncated: i.LogCut != "",
		TruncatedReason: i.LogCut, StdoutBytes: e.Size(shell.Stdout), StderrBytes: e.Size(shell.Stderr)}
	return SendLogs(c, e, logs, logs.StdoutBytes, logs.StderrBytes)
}

// followLogs streams the output: with late=0 until the result, else until no more can come.
func (s *Service) followLogs(c echo.Context, e *shell.Exec, in wire.GetCommandLogs) error {
	what := Following{from: [2]int64{in.StdoutFrom, in.StderrFrom}, End: -1, late: in.Late}
	for i, name := range []string{"stdout_from", "stderr_from"} {
		if size := e.Size(shell.Stdout + shell.Stream(i)); what.from[i] > size {
			return httpapi.BadRequest("%s \"%d\": 0 to %d are allowed", name, what.from[i], size)
		}
	}
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	s.Follow(c, e, ownEvents{httpapi.NameFor(c, in.Session)}, what)
	return nil
}

func (s *Service) commandInput(ctx context.Context, in wire.ExecInput) (wire.InputTaken, error) {
	var p []byte
	if !in.EOF || in.Data != nil || in.DataB64 != nil {
		var err error
		if p, err = httpapi.InputBytes(in.Data, in.DataB64); err != nil {
			return wire.InputTaken{}, err
		}
	}
	e, err := s.commandOf(in.CommandRef)
	if err != nil {
		return wire.InputTaken{}, err
	}
	if err := s.Check(ctx, in.Session, permission.ToolCommandInput,
		permission.NewCommandArgs(e.ID(), p, in.EOF)); err != nil {
		return wire.InputTaken{}, err
	}
	open, cancel := s.WhileOpen(ctx, context.Canceled)
	defer cancel()
	if err := e.Input(open, p, in.EOF); err != nil {
		return wire.InputTaken{}, commandError(httpapi.EchoOf(ctx), e, err)
	}
	return wire.InputTaken{Success: true, Bytes: len(p)}, nil
}

func (s *Service) cancelCommand(ctx context.Context, in wire.CancelCommand) (wire.CommandCancelled, error) {
	e, err := s.commandOf(in.CommandRef)
	if err != nil {
		return wire.CommandCancelled{}, err
	}
	if err := s.Check(ctx, in.Session, permission.ToolCancel, permission.CommandArgs{Command: e.ID()}); err != nil {
		return wire.CommandCancelled{}, err
	}
	e.Cancel()
	ctx = context.WithoutCancel(ctx)
	patience, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	select {
	case <-e.Done():
	case <-patience.Done():
	}
	if in.Purge {
		records := func() error { return s.Threads.ForgetCommand(ctx, e.ID()) }
		if err := s.Shells.Forget(patience, e, records); err != nil {
			return wire.CommandCancelled{}, err
		}
	}
	return wire.CommandCancelled{Success: true, CommandID: e.ID(), Status: wire.CommandStatus(e.Info().Status)}, nil
}
