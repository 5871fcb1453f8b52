package server

import (
	"cmp"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/mux"
	"github.com/evertty/evertty/internal/shell"
)

// shellRequest is the body of POST /session/:sid/shell.
type shellRequest struct {
	ID               string `json:"id"`
	Cwd              string `json:"cwd"`
	Env              envMap `json:"env"`
	CommandTimeoutMS int64  `json:"command_timeout_ms"`
	MaxOutputBytes   int64  `json:"max_output_bytes"`
	Login            bool   `json:"login"`
}

// shellReply is one shell with what it was made of and what its environment has become.
type shellReply struct {
	mux.ShellInfo
	Login            bool              `json:"login"`
	CommandTimeoutMS int64             `json:"command_timeout_ms"`
	MaxOutputBytes   int64             `json:"max_output_bytes"`
	EnvDelta         map[string]string `json:"env_delta"`
	EnvUnset         []string          `json:"env_unset"`
}

func shellReplyOf(sh *mux.Shell) shellReply {
	spec, state := sh.Spec(), sh.State()
	reply := shellReply{ShellInfo: sh.Info(), Login: spec.Login, CommandTimeoutMS: spec.Timeout.Milliseconds(),
		MaxOutputBytes: cmp.Or(spec.MaxReply, spec.MaxOutput), EnvDelta: state.Delta, EnvUnset: state.Unset}
	if reply.EnvDelta == nil {
		reply.EnvDelta = map[string]string{}
	}
	if reply.EnvUnset == nil {
		reply.EnvUnset = []string{}
	}
	return reply
}

func (s *execService) postShell(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	var req shellRequest
	if err := bindOptional(c, &req); err != nil {
		return err
	}
	if err := checkLimits(req.CommandTimeoutMS, req.MaxOutputBytes, "command_timeout_ms"); err != nil {
		return err
	}
	env, err := req.Env.values()
	if err != nil {
		return err
	}
	if err := s.permit(c, session, conversation.ToolShell, shellDeed{Shell: req.ID, Cwd: req.Cwd, Env: env, Login: req.Login}); err != nil {
		return err
	}
	sh, err := s.Mux.CreateShell(mux.ShellSpec{Session: session, ID: req.ID, Cwd: req.Cwd, Env: env, Login: req.Login,
		Timeout: time.Duration(req.CommandTimeoutMS) * time.Millisecond, MaxReply: req.MaxOutputBytes})
	if err != nil {
		return err
	}
	setTarget(c, session+"/"+sh.ID)
	return c.JSON(http.StatusCreated, shellReplyOf(sh))
}

// shellListReply is the reply of GET /session/:sid/shell and GET /shell.
type shellListReply struct {
	Shells []mux.ShellInfo `json:"shells"`
}

func (s *execService) getShells(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	reply := shellListReply{Shells: []mux.ShellInfo{}}
	for _, sh := range s.Mux.Shells(session) {
		reply.Shells = append(reply.Shells, sh.Info())
	}
	return writeJSON(c, http.StatusOK, reply)
}

func (s *execService) deleteShells(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	if err := s.permit(c, session, conversation.ToolKill, struct{}{}); err != nil {
		return err
	}
	if err := s.Mux.DeleteShells(unhurried(c), session); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

func (s *execService) getShell(c echo.Context) error {
	sh, err := s.shellOf(c)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, shellReplyOf(sh))
}

func (s *execService) deleteShell(c echo.Context) error {
	sh, err := s.shellOf(c)
	if err != nil {
		return err
	}
	if err := s.permit(c, sh.Session, conversation.ToolKill, shellDeed{Shell: sh.ID}); err != nil {
		return err
	}
	if err := s.Mux.DeleteShell(unhurried(c), sh); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

// envRequest is the body of POST …/env.
type envRequest struct {
	Env   envMap   `json:"env"`
	Unset []string `json:"unset"`
}

func (s *execService) postEnv(c echo.Context) error {
	var req envRequest
	if err := bindExec(c, &req, false); err != nil {
		return err
	}
	set, err := req.Env.values()
	if err != nil {
		return err
	}
	if err := shell.CheckEnv(set, req.Unset); err != nil {
		return err
	}
	sh, err := s.permittedShell(c, conversation.ToolEnv, &shellDeed{Env: set, Unset: req.Unset})
	if err != nil {
		return err
	}
	if err := s.setEnv(c, sh, set, req.Unset); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

// setEnv changes a shell's environment. The log has the names, and never a value.
func (s *execService) setEnv(c echo.Context, sh *mux.Shell, set map[string]string, unset []string) error {
	ctx, cancel := s.contextOf(c)
	defer cancel()
	err := sh.SetEnv(ctx, set, unset)
	if s.Log.Enabled(ctx, slog.LevelDebug) {
		s.Log.Debug("environment", "session", sh.Session, "shell", sh.ID, "set", slices.Sorted(maps.Keys(set)), "unset", unset, "error", err)
	}
	return err
}
