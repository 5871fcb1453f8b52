package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// sent is the reply to something typed.
func sent(c echo.Context, s terminal.Sent, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.Sent{Success: true, Bytes: s.Bytes, Seq: s.Seq})
}

func (s *Server) postInput(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req httpapi.InputRequest
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	p, err := req.Bytes()
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
	var req keysRequest
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if err := req.check(); err != nil {
		return err
	}
	if err := s.Check(c, t.Thread(), permission.ToolKeys,
		permission.InputArgs{Terminal: t.ID, Directory: s.directoryOf(t), Keys: req.Keys, Mouse: req.Mouse},
	); err != nil {
		return err
	}
	var done terminal.Sent
	if req.Mouse != nil {
		done, err = t.Mouse(c.Request().Context(), *req.Mouse)
	} else {
		done, err = t.Keys(c.Request().Context(), req.Keys)
	}
	return sent(c, done, err)
}

// keysRequest is the body of POST …/keys: keys, or what a mouse does.
type keysRequest struct {
	Keys  []string       `json:"keys"`
	Mouse *vt.MouseEvent `json:"mouse"`
}

func (r keysRequest) check() error {
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
	var req struct {
		Data *string `json:"data"`
	}
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
	var req struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	}
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
	var req struct {
		Signal string `json:"signal"`
	}
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
	var req struct{}
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	if err := s.Check(c, t.Thread(), permission.ToolRestart,
		permission.TerminalArgs{Terminal: t.ID, Command: httpapi.ShellWords(t.Info().Cmd),
			Directory: s.directoryOf(t)}); err != nil {
		return err
	}
	if t, err = s.Terminals.Restart(t); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, t.Info())
}
