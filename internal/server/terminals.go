package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

func (s *Server) postTerminal(c echo.Context) error {
	var req wire.CreateTerminal
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	if err := terminal.CheckSize(terminal.SizeOf(req)); err != nil {
		return err
	}
	if err := s.checkCreate(c, c.Param("sid"), req); err != nil {
		return err
	}
	t, err := s.Terminals.Create(c.Param("sid"), req)
	if err != nil {
		return err
	}
	auth.SetTarget(c, t.ID)
	return c.JSON(http.StatusCreated, t.Wire())
}

// checkCreate asks the permissions about a terminal that is about to be created.
func (s *Server) checkCreate(c echo.Context, session string, req wire.CreateTerminal) error {
	if err := terminal.CheckName("session", session); err != nil {
		return err
	}
	cmd := req.Cmd
	if cmd == nil {
		cmd = terminal.DefaultCmd()
	}
	args := permission.TerminalArgs{Command: httpapi.ShellWords(cmd), Cwd: req.Cwd, Env: req.Env, Name: req.Name}
	if _, provider, _ := s.Shells.Begins(session, ""); provider == "" {
		args.Directory = startdir.Resolve(startdir.InHome(req.Cwd))
	}
	return s.Check(c, session, permission.ToolPTY, args)
}

// directoryOf is the directory of a terminal's program, for the permissions; "" where nobody asks.
func (s *Server) directoryOf(t *terminal.Terminal) string {
	if !s.Threads.Enforcer().Applies(t.Thread()) {
		return ""
	}
	return t.Directory()
}

func (s *Server) getTerminals(c echo.Context) error {
	session, err := httpapi.SessionOf(c)
	if err != nil {
		return err
	}
	after, limit, err := httpapi.PageOf(c)
	if err != nil {
		return err
	}
	list, next, err := s.Terminals.Part(session, after, limit)
	if err != nil {
		return err
	}
	reply := wire.TerminalList{Ptys: []string{}, Next: next}
	if reply.Items, err = infosOf(c, list...); err != nil {
		return err
	}
	for _, t := range list {
		reply.Ptys = append(reply.Ptys, t.ID)
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

// terminalOf is the terminal a path names, if the request may see it.
func (s *Server) terminalOf(c echo.Context) (*terminal.Terminal, error) {
	session, err := httpapi.SessionOf(c)
	if err != nil {
		return nil, err
	}
	t, err := s.Terminals.Find(session, c.Param("id"))
	if err != nil {
		return nil, err
	}
	auth.SetTarget(c, t.ID)
	return t, auth.RequireTerminal(c, t.ID)
}

func (s *Server) getTerminal(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	if err := t.AwaitScreen(c.Request().Context()); err != nil {
		return err
	}
	infos, err := infosOf(c, t)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, infos[0])
}

func (s *Server) deleteTerminal(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	purge, err := httpapi.SwitchOf(c, "purge")
	if err != nil {
		return err
	}
	if err := s.Check(c, t.Thread(), permission.ToolKill, permission.TerminalArgs{Terminal: t.ID}); err != nil {
		return err
	}
	if err := s.Terminals.Delete(httpapi.Unhurried(c), t, purge); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

func (s *Server) deleteTerminals(c echo.Context) error {
	session, err := httpapi.SessionOf(c)
	if err != nil {
		return err
	}
	purge, err := httpapi.SwitchOf(c, "purge")
	if err != nil {
		return err
	}
	if err := s.Check(c, session, permission.ToolKill, permission.NoArgs{}); err != nil {
		return err
	}
	if err := s.Terminals.DeleteSession(httpapi.Unhurried(c), session, purge); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

// infosOf are the states of terminals as the request may see them; never nil.
func infosOf(c echo.Context, list ...*terminal.Terminal) ([]wire.Terminal, error) {
	shown, err := auth.SecretsShown(c)
	if err != nil {
		return nil, err
	}
	infos := make([]wire.Terminal, 0, len(list))
	for _, t := range list {
		i := t.Wire()
		if shown {
			i.Env = t.Env()
		}
		infos = append(infos, i)
	}
	return infos, nil
}
