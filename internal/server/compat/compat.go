// Package compat has the calls of Cloudflare's sandbox container, for its clients.
package compat

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// The compatible routes are routes of Cloudflare's sandbox container, for clients that
// were made for it. A session there is a session here with its default shell; a process
// is a command in the background. docs/guide/exec-shells.md has the differences.

// sessionHeader selects the session of a call; it comes before the body's sessionId.
const sessionHeader = "X-Session-Id"

// Names of the refusals that calls about commands, and about files, may answer with.
const (
	commandRefusals = "CannotStart NoSession DirectoryChanged ShellGone TooLargeExec NotJSON NeedsApproval " +
		"CannotStartNow NoSpace"
	fileRefusals = "CannotStart FileForbidden FileNotFound FileConflict FileTooLarge NotJSON NeedsApproval " +
		"CannotStartNow NoSpace"
)

// defaultSession is the session of calls that name none.
const defaultSession = "default"

// Routes are what clients of the sandbox container call.
func (s *Service) Routes() []httpapi.Route {
	return slices.Concat(s.sessionRoutes(), s.processRoutes(), s.fileRoutes())
}

// sessionRoutes are about sessions and commands.
func (s *Service) sessionRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/api/session/create", s.create, "start a session (compatible)").
			Doc("compatCreate", "compat", "Make a session").
			MayTake(wire.CompatCreate{}, "The session. An empty body makes one with a new name.").
			Gives("CompatSession CannotStart ShellExists TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
		httpapi.OldGet("/api/session/list", s.listSessions, "the sessions that have a shell (compatible)").
			Doc("compatSessions", "compat", "The sessions").
			Gives("CompatSessions"),
		httpapi.OldPost("/api/session/delete", s.deleteSession, "end a session's shells (compatible)").
			Doc("compatDelete", "compat", "End a session").
			Text("All its shells and what they started; its terminals stay.").
			Takes(wire.CompatDelete{}, "The session.").
			Gives("CompatNamed Invalid NoSession TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
		httpapi.OldPost("/api/session/:id/env", s.setVariables, "export variables in a session (compatible)").Streams().
			Doc("compatSessionEnv", "compat", "Export variables in a session").
			Takes(wire.CompatEnv{}, "The variables.").
			Gives("CompatNamed Invalid NoSession ShellGone TooLargeExec NotJSON NeedsApproval CannotStartNow " +
				"NoSpace"),
		httpapi.OldPost("/api/env/set", s.setVariables,
			"export variables in the session of X-Session-Id (compatible)").Streams().
			Doc("compatEnv", "compat", "Export variables").
			Params("sessionHeader").
			Takes(wire.CompatEnv{}, "The variables.").
			Gives("CompatNamed Invalid NoSession ShellGone TooLargeExec NotJSON NeedsApproval CannotStartNow " +
				"NoSpace"),
		httpapi.OldPost("/api/execute", s.execute, "run a command (compatible)").Streams().
			Doc("compatExecute", "compat", "Run a command").
			Params("sessionHeader").
			Takes(wire.CompatExecute{}, "The command.").
			Gives("CompatResult " + commandRefusals),
		httpapi.OldPost("/api/execute/stream", s.executeStream,
			"run a command, output as Server-Sent Events (compatible)").Streams().
			Doc("compatExecuteStream", "compat", "Run a command and get its output as it comes").
			Params("sessionHeader").
			Takes(wire.CompatExecute{}, "The command.").
			Gives("CompatStream " + commandRefusals),
	}
}

// processRoutes are about commands in the background.
func (s *Service) processRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/api/process/start", s.startProcess, "start a process in the background (compatible)").Streams().
			Doc("compatStart", "compat", "Start a process").
			Params("sessionHeader").
			Takes(wire.CompatExecute{}, "The command.").
			Gives("CompatProcess " + commandRefusals),
		httpapi.OldGet("/api/process/list", s.listProcesses, "the processes of all sessions (compatible)").
			Doc("compatProcesses", "compat", "The processes of all sessions").
			Gives("CompatProcesses"),
		httpapi.OldDelete("/api/process/kill-all", s.killAll, "end all processes (compatible)").Streams().
			Doc("compatKillAll", "compat", "End all processes").
			Text("Of all sessions.").
			Gives("CompatKilled Invalid TooLarge NotJSON NeedsApproval"),
		httpapi.OldPost("/api/process/kill-all", s.killAll, "end all processes (compatible)").Streams().
			Doc("compatKillAllPost", "compat", "End all processes").
			Text("Of all sessions.").
			Gives("CompatKilled Invalid TooLarge NotJSON NeedsApproval"),
		httpapi.OldGet("/api/process/:id", s.getProcess, "one process (compatible)").
			Doc("compatProcess", "compat", "One process").
			Gives("CompatProcess NoProcess"),
		httpapi.OldDelete("/api/process/:id", s.killProcess, "end a process (compatible)").Streams().
			Doc("compatKill", "compat", "End a process").
			Text("SIGTERM to it and what it started, SIGKILL after five seconds. The reply waits for the end.").
			Gives("CompatProcess Invalid NoProcess TooLarge NotJSON NeedsApproval"),
		httpapi.OldGet("/api/process/:id/logs", s.getLogs, "what a process printed (compatible)").Streams().
			Doc("compatLogs", "compat", "What a process printed").
			Gives("CompatLogs NoProcess"),
		httpapi.OldGet("/api/process/:id/stream", s.streamProcess,
			"a process's output as Server-Sent Events (compatible)").Streams().
			Doc("compatProcessStream", "compat", "The output of a process as it comes").
			Text("From its beginning.").
			Gives("CompatStream NoProcess"),
	}
}

// fileRoutes are about files.
func (s *Service) fileRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/api/file/read", s.readFile, "read a file (compatible)").Streams().
			Doc("compatRead", "compat", "Read a file").
			Params("sessionHeader").
			Takes(wire.CompatRead{}, "The file.").
			Gives("CompatContent " + fileRefusals),
		httpapi.OldPost("/api/file/write", s.writeFile, "write a file (compatible)").Streams().
			Doc("compatWrite", "compat", "Write a file").
			Text("It is made when it does not exist; its directory is not.").
			Params("sessionHeader").
			Takes(wire.CompatWrite{}, "The file and what to write.").
			Gives("CompatFile " + fileRefusals),
		httpapi.OldPost("/api/file/mkdir", s.makeDir, "make a directory (compatible)").Streams().
			Doc("compatMkdir", "compat", "Make a directory").
			Params("sessionHeader").
			Takes(wire.CompatMkdir{}, "The directory.").
			Gives("CompatFile " + fileRefusals),
		httpapi.OldPost("/api/file/delete", s.removeFile, "remove a file (compatible)").Streams().
			Doc("compatRemovePost", "compat", "Remove a file").
			Text("Or an empty directory.").
			Params("sessionHeader").
			Takes(wire.CompatPath{}, "The file.").
			Gives("CompatFile " + fileRefusals),
		httpapi.OldDelete("/api/file/delete", s.removeFile, "remove a file (compatible)").Streams().
			Doc("compatRemove", "compat", "Remove a file").
			Text("Or an empty directory.").
			Params("sessionHeader").
			Takes(wire.CompatPath{}, "The file.").
			Gives("CompatFile " + fileRefusals),
		httpapi.OldPost("/api/file/rename", s.renameFile, "rename a file (compatible)").Streams().
			Doc("compatRename", "compat", "Rename a file").
			Text("What is there under the new name is replaced.").
			Params("sessionHeader").
			Takes(wire.CompatRename{}, "The two paths.").
			Gives("CompatRenamed " + fileRefusals),
		httpapi.OldPost("/api/file/move", s.moveFile, "move a file (compatible)").Streams().
			Doc("compatMove", "compat", "Move a file").
			Text("Within a file system.").
			Params("sessionHeader").
			Takes(wire.CompatMove{}, "The two paths.").
			Gives("CompatRenamed " + fileRefusals),
		httpapi.OldPost("/api/file/list", s.listFiles, "list a directory (compatible)").Streams().
			Doc("compatList", "compat", "List a directory").
			Params("sessionHeader").
			Takes(wire.CompatList{}, "The directory.").
			Gives("CompatFiles " + fileRefusals),
		httpapi.OldPost("/api/file/exists", s.fileExists, "whether a file exists (compatible)").Streams().
			Doc("compatExists", "compat", "Whether a file exists").
			Params("sessionHeader").
			Takes(wire.CompatPath{}, "The file.").
			Gives("CompatExists " + fileRefusals),
	}
}

// Service has the handlers of the compatible routes.
type Service struct{ *exec.Service }

// now is the time of a reply.
func now() time.Time { return time.Now().UTC() }

// sessionOf is the session that a call means: of the path, of the header, of the body, or "default".
// One that the path or the header names has to exist already; "default" and the body's come into being, as there.
func (s *Service) sessionOf(c echo.Context, body string) (string, error) {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return "", httpapi.ErrWrongTerminal
	}
	name := c.Request().Header.Get(sessionHeader)
	if named := c.Param("id"); named != "" {
		name = named
	}
	switch {
	case name != "" && name != defaultSession:
		_, err := s.existing(name)
		return name, err
	case name == "" && body != "":
		return body, terminal.CheckName("session", body)
	}
	return defaultSession, nil
}

// shellOf returns the default shell of the session that a call means, after check has asked the
// permissions.
func (s *Service) shellOf(c echo.Context, body string, check func(session string) error) (*registry.Shell, error) {
	name, err := s.sessionOf(c, body)
	if err != nil {
		return nil, err
	}
	if err := check(name); err != nil {
		return nil, err
	}
	return s.Shells.Default(name)
}

// existing is the default shell of a session that has one.
func (s *Service) existing(session string) (*registry.Shell, error) {
	for _, sh := range s.Shells.List(session) {
		if sh.Default && session != "" {
			return sh, nil
		}
	}
	return nil, httpapi.NewError(http.StatusNotFound, "SESSION_NOT_FOUND",
		"there is no session %q; POST /api/session/create makes one", httpapi.Clip(session)).
		With("session", httpapi.Clip(session))
}

func sessionInfoOf(sh *registry.Shell) wire.CompatSessionInfo {
	i := sh.Wire()
	return wire.CompatSessionInfo{ID: i.Session, SessionID: i.Session, Cwd: i.Cwd, CreatedAt: i.CreatedAt}
}

func (s *Service) create(c echo.Context) error {
	var req wire.CompatCreate
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	if err := exec.CheckLimits(req.CommandTimeoutMS, 0, "commandTimeoutMs"); err != nil {
		return err
	}
	env, err := exec.EnvValues(req.Env)
	if err != nil {
		return err
	}
	name := cmp.Or(req.ID, req.SessionID, req.Name)
	if name == "" {
		name = "session-" + auth.NewSecret()[:16]
	}
	if err := s.Check(c.Request().Context(), name, permission.ToolShell, permission.ShellArgs{Cwd: req.Cwd, Env: env}); err != nil {
		return err
	}
	sh, err := s.Shells.Create(registry.Spec{Session: name, Default: true, Cwd: req.Cwd, Env: env,
		Timeout: time.Duration(req.CommandTimeoutMS) * time.Millisecond})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK,
		wire.CompatSession{Success: true, Timestamp: now(), CompatSessionInfo: sessionInfoOf(sh)})
}

func (s *Service) listSessions(c echo.Context) error {
	reply := wire.CompatSessions{Success: true, Timestamp: now(), Sessions: []wire.CompatSessionInfo{}}
	for _, sh := range s.Shells.List("") {
		if sh.Default {
			reply.Sessions = append(reply.Sessions, sessionInfoOf(sh))
		}
	}
	reply.Count = len(reply.Sessions)
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func (s *Service) deleteSession(c echo.Context) error {
	var req wire.CompatDelete
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if _, err := s.existing(req.SessionID); err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), req.SessionID, permission.ToolKill, permission.NoArgs{}); err != nil {
		return err
	}
	if err := s.Shells.DeleteSession(context.WithoutCancel(c.Request().Context()), req.SessionID); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.CompatNamed{Success: true, Timestamp: now(), SessionID: req.SessionID})
}

// setVariables exports variables; null removes one.
func (s *Service) setVariables(c echo.Context) error {
	var req wire.CompatEnv
	if err := exec.Bind(c, &req, false); err != nil {
		return err
	}
	if (req.EnvVars == nil) == (req.Env == nil) {
		return httpapi.BadRequest(`"envVars" is needed: an object of variables and their values`).With("field",
			"envVars")
	}
	set, unset := map[string]string{}, []string{}
	for _, vars := range []map[string]*string{req.EnvVars, req.Env} {
		for name, v := range vars {
			if v == nil {
				unset = append(unset, name)
			} else {
				set[name] = *v
			}
		}
	}
	slices.Sort(unset) // a map has no order, and the same request is the same action
	sh, err := s.shellOf(c, req.SessionID, func(session string) error {
		return s.Check(c.Request().Context(), session, permission.ToolEnv, permission.ShellArgs{Env: set, Unset: unset})
	})
	if err != nil {
		return err
	}
	if err := s.SetEnv(c, sh, set, unset); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.CompatNamed{Success: true, Timestamp: now(), SessionID: sh.Session})
}

// errorOf tells about which session the end of a shell is.
func errorOf(c echo.Context, sh *registry.Shell, err error) error {
	if errors.Is(err, shell.ErrEnded) || errors.Is(err, shell.ErrDeleted) {
		return httpapi.ErrorFor(err, c).With("session", sh.Session)
	}
	return err
}
