package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// sent is the reply to something typed.
func sent(c echo.Context, s wire.Sent, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, s)
}

func (s *Server) postInput(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Input
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	p, err := httpapi.InputBytes(req.Data, req.DataB64)
	if err != nil {
		return err
	}
	args := permission.NewInputArgs(t.ID, p)
	args.Directory = s.directoryOf(t)
	if err := s.Check(c, t.Thread(), permission.ToolInput, args); err != nil {
		return err
	}
	done, err := t.Input(c.Request().Context(), p)
	return sent(c, done, err)
}

func (s *Server) postKeys(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Keys
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if err := checkKeys(req); err != nil {
		return err
	}
	mouse := (*vt.MouseEvent)(req.Mouse)
	if err := s.Check(c, t.Thread(), permission.ToolKeys,
		permission.InputArgs{Terminal: t.ID, Directory: s.directoryOf(t), Keys: req.Keys, Mouse: mouse},
	); err != nil {
		return err
	}
	var done wire.Sent
	if mouse != nil {
		done, err = t.Mouse(c.Request().Context(), *mouse)
	} else {
		done, err = t.Keys(c.Request().Context(), req.Keys)
	}
	return sent(c, done, err)
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

func (s *Server) postPaste(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Paste
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if req.Data == nil {
		return httpapi.BadRequest(`"data" (the text to paste) is needed`)
	}
	if err := s.Check(c, t.Thread(), permission.ToolPaste,
		permission.InputArgs{Terminal: t.ID, Directory: s.directoryOf(t), Data: *req.Data}); err != nil {
		return err
	}
	done, err := t.Paste(c.Request().Context(), *req.Data)
	return sent(c, done, err)
}

func (s *Server) postResize(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Size
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if err := s.Check(c, t.Thread(), permission.ToolResize,
		permission.ResizeArgs{Terminal: t.ID, Cols: req.Cols, Rows: req.Rows}); err != nil {
		return err
	}
	if err := t.Resize(req.Cols, req.Rows); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.Resized{Success: true, Cols: req.Cols, Rows: req.Rows})
}

func (s *Server) postSignal(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Signal
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if err := s.Check(c, t.Thread(), permission.ToolSignal,
		permission.TerminalArgs{Terminal: t.ID, Signal: req.Signal}); err != nil {
		return err
	}
	if err := t.Signal(req.Signal); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

// postRestart starts the program of an ended terminal again.
func (s *Server) postRestart(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Nothing
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	if err := s.Check(c, t.Thread(), permission.ToolRestart,
		permission.TerminalArgs{Terminal: t.ID, Command: httpapi.ShellWords(t.Spec().Cmd),
			Directory: s.directoryOf(t)}); err != nil {
		return err
	}
	if t, err = s.Terminals.Restart(t); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, t.Wire())
}
