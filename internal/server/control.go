package server

import (
	"context"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

func (s *Server) sendInput(ctx context.Context, in wire.Input) (wire.Sent, error) {
	p, err := httpapi.InputBytes(in.Data, in.DataB64)
	if err != nil {
		return wire.Sent{}, err
	}
	t, err := s.permitted(ctx, in.TerminalRef, permission.ToolInput, func(t *terminal.Terminal) any {
		args := permission.NewInputArgs(t.ID, p)
		args.Directory = s.directoryOf(t)
		return args
	})
	if err != nil {
		return wire.Sent{}, err
	}
	return t.Input(ctx, p)
}

func (s *Server) sendKeys(ctx context.Context, in wire.Keys) (wire.Sent, error) {
	if err := checkKeys(in); err != nil {
		return wire.Sent{}, err
	}
	mouse := (*vt.MouseEvent)(in.Mouse)
	t, err := s.permitted(ctx, in.TerminalRef, permission.ToolKeys, func(t *terminal.Terminal) any {
		return permission.InputArgs{Terminal: t.ID, Directory: s.directoryOf(t), Keys: in.Keys, Mouse: mouse}
	})
	switch {
	case err != nil:
		return wire.Sent{}, err
	case mouse != nil:
		return t.Mouse(ctx, *mouse)
	}
	return t.Keys(ctx, in.Keys)
}

// checkKeys refuses a body with neither keys nor a mouse event, or with both.
func checkKeys(r wire.Keys) error {
	switch {
	case r.Mouse != nil && r.Keys != nil:
		return httpapi.BadRequest(`"keys" and "mouse" are two requests: one of them is allowed`)
	case r.Mouse == nil && len(r.Keys) == 0:
		return httpapi.BadRequest(`"keys" is empty: a list such as ["C-c", "Up", "text:abc"] is needed, or "mouse"`)
	}
	return nil
}

func (s *Server) paste(ctx context.Context, in wire.Paste) (wire.Sent, error) {
	if in.Data == nil {
		return wire.Sent{}, httpapi.BadRequest(`"data" (the text to paste) is needed`)
	}
	t, err := s.permitted(ctx, in.TerminalRef, permission.ToolPaste, func(t *terminal.Terminal) any {
		return permission.InputArgs{Terminal: t.ID, Directory: s.directoryOf(t), Data: *in.Data}
	})
	if err != nil {
		return wire.Sent{}, err
	}
	return t.Paste(ctx, *in.Data)
}

func (s *Server) resizeTerminal(ctx context.Context, in wire.ResizeTerminal) (wire.Resized, error) {
	reply := wire.Resized{Success: true, Cols: in.Cols, Rows: in.Rows}
	t, err := s.permitted(ctx, in.TerminalRef, permission.ToolResize, func(t *terminal.Terminal) any {
		return permission.ResizeArgs{Terminal: t.ID, Cols: in.Cols, Rows: in.Rows}
	})
	if err != nil {
		return reply, err
	}
	return reply, t.Resize(in.Cols, in.Rows)
}

func (s *Server) signalTerminal(ctx context.Context, in wire.Signal) (wire.Done, error) {
	t, err := s.permitted(ctx, in.TerminalRef, permission.ToolSignal, func(t *terminal.Terminal) any {
		return permission.TerminalArgs{Terminal: t.ID, Signal: in.Signal}
	})
	if err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, t.Signal(in.Signal)
}

// restartTerminal starts the program of an ended terminal again.
func (s *Server) restartTerminal(ctx context.Context, in wire.TerminalRef) (wire.Terminal, error) {
	t, err := s.permitted(ctx, in, permission.ToolRestart, func(t *terminal.Terminal) any {
		return permission.TerminalArgs{Terminal: t.ID, Command: httpapi.ShellWords(t.Spec().Cmd),
			Directory: s.directoryOf(t)}
	})
	if err != nil {
		return wire.Terminal{}, err
	}
	if t, err = s.Terminals.Restart(t); err != nil {
		return wire.Terminal{}, err
	}
	return t.Wire(), nil
}
