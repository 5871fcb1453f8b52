package exec

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/wire"
)

func (s *Service) postShell(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	var req wire.CreateShell
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	if err := CheckLimits(req.CommandTimeoutMS, req.MaxOutputBytes, "command_timeout_ms"); err != nil {
		return err
	}
	env, err := EnvValues(req.Env)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), session, permission.ToolShell,
		permission.ShellArgs{Shell: req.ID, Cwd: req.Cwd, Env: env, Login: req.Login}); err != nil {
		return err
	}
	sh, err := s.Shells.Create(registry.Spec{Session: session, ID: req.ID, Cwd: req.Cwd, Env: env, Login: req.Login,
		Timeout: time.Duration(req.CommandTimeoutMS) * time.Millisecond, MaxReply: req.MaxOutputBytes})
	if err != nil {
		return err
	}
	auth.SetTarget(c.Request().Context(), session+"/"+sh.ID)
	return c.JSON(http.StatusCreated, sh.WireDetail())
}

func (s *Service) getShells(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	after, limit, err := httpapi.PageOf(c)
	if err != nil {
		return err
	}
	id := func(sh *registry.Shell) string { return sh.ID }
	if session == "" { // ids are unique within a session
		id = func(sh *registry.Shell) string { return sh.Session + "/" + sh.ID }
	}
	list, next, ok := httpapi.PartOf(s.Shells.List(session), after, limit, id)
	if !ok {
		return fmt.Errorf("%w: after %q; begin without it", registry.ErrNotFound, after)
	}
	reply := wire.ShellList{Shells: make([]wire.ShellInfo, 0, len(list)), Next: next}
	for _, sh := range list {
		reply.Shells = append(reply.Shells, sh.Wire())
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func (s *Service) deleteShells(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), session, permission.ToolKill, permission.NoArgs{}); err != nil {
		return err
	}
	if err := s.Shells.DeleteSession(context.WithoutCancel(c.Request().Context()), session); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

func (s *Service) getShell(c echo.Context) error {
	sh, err := s.shellOf(c)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, sh.WireDetail())
}

func (s *Service) deleteShell(c echo.Context) error {
	sh, err := s.shellOf(c)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), sh.Session, permission.ToolKill, permission.ShellArgs{Shell: sh.ID}); err != nil {
		return err
	}
	if err := s.Shells.Delete(context.WithoutCancel(c.Request().Context()), sh); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

func (s *Service) postEnv(c echo.Context) error {
	var req wire.SetEnv
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	if err := Bind(c, &req, false); err != nil {
		return err
	}
	set, err := EnvValues(req.Env)
	if err != nil {
		return err
	}
	if err := shell.CheckEnv(set, req.Unset); err != nil {
		return err
	}
	args := permission.ShellArgs{Env: set, Unset: req.Unset}
	sh, err := s.checkedShell(c, session, &args.Shell,
		func() error { return s.Check(c.Request().Context(), session, permission.ToolEnv, args) })
	if err != nil {
		return err
	}
	if err := s.SetEnv(c, sh, set, req.Unset); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

// SetEnv changes a shell's environment. The log has the names, never a value.
func (s *Service) SetEnv(c echo.Context, sh *registry.Shell, set map[string]string, unset []string) error {
	ctx, cancel := s.WhileOpen(c.Request().Context())
	defer cancel()
	err := sh.SetEnv(ctx, set, unset)
	if s.Log.Enabled(ctx, slog.LevelDebug) {
		s.Log.Debug("environment", "session", sh.Session, "shell", sh.ID, "set", slices.Sorted(maps.Keys(set)), "unset",
			unset, "error", err)
	}
	return err
}
