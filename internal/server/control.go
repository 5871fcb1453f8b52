package server

import (
	"context"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

func (ts *terminals) sendInput(ctx context.Context, in wire.Input) (wire.Sent, error) {
	p, err := httpapi.InputBytes(in.Data, in.DataB64)
	if err != nil {
		return wire.Sent{}, err
	}
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolInput, func(t *terminal.Terminal) any {
		args := permission.NewInputArgs(t.ID, p)
		args.Directory = ts.directoryOf(t)
		return args
	})
	if err == nil {
		err = mayType(t, in.Typist)
	}
	if err != nil {
		return wire.Sent{}, err
	}
	return t.Input(ctx, p)
}

func (ts *terminals) sendKeys(ctx context.Context, in wire.Keys) (wire.Sent, error) {
	if err := checkKeys(in); err != nil {
		return wire.Sent{}, err
	}
	mouse := (*vt.MouseEvent)(in.Mouse)
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolKeys, func(t *terminal.Terminal) any {
		return permission.InputArgs{Terminal: t.ID, Directory: ts.directoryOf(t), Keys: in.Keys, Mouse: mouse}
	})
	if err == nil {
		err = mayType(t, in.Typist)
	}
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

func (ts *terminals) paste(ctx context.Context, in wire.Paste) (wire.Sent, error) {
	if in.Data == nil {
		return wire.Sent{}, httpapi.BadRequest(`"data" (the text to paste) is needed`)
	}
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolPaste, func(t *terminal.Terminal) any {
		return permission.InputArgs{Terminal: t.ID, Directory: ts.directoryOf(t), Data: *in.Data}
	})
	if err == nil {
		err = mayType(t, in.Typist)
	}
	if err != nil {
		return wire.Sent{}, err
	}
	return t.Paste(ctx, *in.Data)
}

func (ts *terminals) resizeTerminal(ctx context.Context, in wire.ResizeTerminal) (wire.Resized, error) {
	reply := wire.Resized{Success: true, Cols: in.Cols, Rows: in.Rows}
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolResize, func(t *terminal.Terminal) any {
		return permission.ResizeArgs{Terminal: t.ID, Cols: in.Cols, Rows: in.Rows}
	})
	if err != nil {
		return reply, err
	}
	return reply, t.Resize(in.Cols, in.Rows)
}

func (ts *terminals) signalTerminal(ctx context.Context, in wire.Signal) (wire.Done, error) {
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolSignal, func(t *terminal.Terminal) any {
		return permission.TerminalArgs{Terminal: t.ID, Signal: in.Signal}
	})
	if err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, t.Signal(in.Signal)
}

// parkTerminal moves the screens of a terminal to the disk.
func (ts *terminals) parkTerminal(ctx context.Context, in wire.TerminalRef) (wire.Terminal, error) {
	t, err := ts.terminalOf(ctx, in)
	if err == nil {
		err = t.AwaitScreen(ctx)
	}
	if err == nil {
		err = t.Park()
	}
	if err != nil {
		return wire.Terminal{}, err
	}
	return t.Wire(), nil
}

// restartTerminal starts the program of an ended terminal again.
func (ts *terminals) restartTerminal(ctx context.Context, in wire.TerminalRef) (wire.Terminal, error) {
	t, err := ts.permitted(ctx, in, permission.ToolRestart, func(t *terminal.Terminal) any {
		return permission.TerminalArgs{Terminal: t.ID, Command: permission.ShellWords(t.Spec().Cmd),
			Directory: ts.directoryOf(t)}
	})
	if err != nil {
		return wire.Terminal{}, err
	}
	if t, err = ts.Terminals.Restart(t); err != nil {
		return wire.Terminal{}, err
	}
	return t.Wire(), nil
}
