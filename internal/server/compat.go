package server

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/mux"
	"github.com/evertty/evertty/internal/shell"
)

// The compatible routes are those of Cloudflare's sandbox container, for clients that
// were made for it. A session there is a session here with its default shell; a process
// is a command in the background. docs/exec-shells.md has the differences.

// sessionHeader selects the session of a call; it comes before the body's sessionId.
const sessionHeader = "X-Session-Id"

// compatSession is the session of calls that name none.
const compatSession = "default"

// compatRoutes are what clients of the sandbox container call.
func (s *compatService) compatRoutes() []route {
	return []route{
		{http.MethodPost, "/api/session/create", s.compatCreate, true, false, "start a session (compatible)"},
		{http.MethodGet, "/api/session/list", s.compatSessions, false, false, "the sessions that have a shell (compatible)"},
		{http.MethodPost, "/api/session/delete", s.compatDelete, true, false, "end a session's shells (compatible)"},
		{http.MethodPost, "/api/session/:id/env", s.compatEnv, true, true, "export variables in a session (compatible)"},
		{http.MethodPost, "/api/env/set", s.compatEnv, true, true, "export variables in the session of X-Session-Id (compatible)"},
		{http.MethodPost, "/api/execute", s.compatExecute, true, true, "run a command (compatible)"},
		{http.MethodPost, "/api/execute/stream", s.compatExecuteStream, true, true, "run a command, output as Server-Sent Events (compatible)"},
		{http.MethodPost, "/api/process/start", s.compatStart, true, true, "start a process in the background (compatible)"},
		{http.MethodGet, "/api/process/list", s.compatProcesses, false, false, "the processes of all sessions (compatible)"},
		{http.MethodDelete, "/api/process/kill-all", s.compatKillAll, true, true, "end all processes (compatible)"},
		{http.MethodPost, "/api/process/kill-all", s.compatKillAll, true, true, "end all processes (compatible)"},
		{http.MethodGet, "/api/process/:id", s.compatProcess, false, false, "one process (compatible)"},
		{http.MethodDelete, "/api/process/:id", s.compatKill, true, true, "end a process (compatible)"},
		{http.MethodGet, "/api/process/:id/logs", s.compatLogs, false, true, "what a process printed (compatible)"},
		{http.MethodGet, "/api/process/:id/stream", s.compatProcessStream, false, true, "a process's output as Server-Sent Events (compatible)"},
		{http.MethodPost, "/api/file/read", s.compatRead, true, true, "read a file (compatible)"},
		{http.MethodPost, "/api/file/write", s.compatWrite, true, true, "write a file (compatible)"},
		{http.MethodPost, "/api/file/mkdir", s.compatMkdir, true, true, "make a directory (compatible)"},
		{http.MethodPost, "/api/file/delete", s.compatRemove, true, true, "remove a file (compatible)"},
		{http.MethodDelete, "/api/file/delete", s.compatRemove, true, true, "remove a file (compatible)"},
		{http.MethodPost, "/api/file/rename", s.compatRename, true, true, "rename a file (compatible)"},
		{http.MethodPost, "/api/file/move", s.compatMove, true, true, "move a file (compatible)"},
		{http.MethodPost, "/api/file/list", s.compatList, true, true, "list a directory (compatible)"},
		{http.MethodPost, "/api/file/exists", s.compatExists, true, true, "whether a file exists (compatible)"},
	}
}

// compatService has the handlers of the compatible routes.
type compatService struct{ *execService }

// stamp is in every reply of these routes.
type stamp struct {
	Success   bool      `json:"success"`
	Timestamp time.Time `json:"timestamp"`
}

func stampNow() stamp { return stamp{true, time.Now().UTC()} }

// compatSessionOf is the session that a call means: of the path, of the header, of the body, or "default".
// One that the path or the header names has to exist already; "default" and the body's come into being, as there.
func (s *compatService) compatSessionOf(c echo.Context, body string) (string, error) {
	if grantOf(c).PTY != "" {
		return "", ErrWrongTerminal
	}
	name := c.Request().Header.Get(sessionHeader)
	if named := c.Param("id"); named != "" {
		name = named
	}
	switch {
	case name != "" && name != compatSession:
		_, err := s.existing(name)
		return name, err
	case name == "" && body != "":
		return body, mux.CheckName("session", body)
	}
	return compatSession, nil
}

// compatShell is the default shell of the session that a call means, for a deed in it.
func (s *compatService) compatShell(c echo.Context, body, tool string, deed any) (*mux.Shell, error) {
	name, err := s.compatSessionOf(c, body)
	if err != nil {
		return nil, err
	}
	if err := s.permit(c, name, tool, deed); err != nil {
		return nil, err
	}
	return s.Mux.DefaultShell(name)
}

// existing is the default shell of a session that has one.
func (s *compatService) existing(session string) (*mux.Shell, error) {
	for _, sh := range s.Mux.Shells(session) {
		if sh.Default && session != "" {
			return sh, nil
		}
	}
	return nil, newError(http.StatusNotFound, "SESSION_NOT_FOUND", "there is no session %q; POST /api/session/create makes one", clip(session)).
		with("session", clip(session))
}

// sessionRequest is the body of POST /api/session/create.
type sessionRequest struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	SessionID        string `json:"sessionId"`
	Env              envMap `json:"env"`
	Cwd              string `json:"cwd"`
	CommandTimeoutMS int64  `json:"commandTimeoutMs"`
	Isolation        *bool  `json:"isolation"` // of namespaces there; sessions are no border here
}

// sessionReply is the reply about a session that was made.
type sessionReply struct {
	stamp
	compatSessionInfo
}

// compatSessionInfo is a session as these routes tell it.
type compatSessionInfo struct {
	ID        string    `json:"id"`
	SessionID string    `json:"sessionId"`
	Cwd       string    `json:"cwd"`
	CreatedAt time.Time `json:"createdAt"`
}

func compatSessionOf(sh *mux.Shell) compatSessionInfo {
	i := sh.Info()
	return compatSessionInfo{i.Session, i.Session, i.Cwd, i.CreatedAt}
}

func (s *compatService) compatCreate(c echo.Context) error {
	var req sessionRequest
	if err := bindOptional(c, &req); err != nil {
		return err
	}
	if err := checkLimits(req.CommandTimeoutMS, 0, "commandTimeoutMs"); err != nil {
		return err
	}
	env, err := req.Env.values()
	if err != nil {
		return err
	}
	name := req.session()
	if err := s.permit(c, name, conversation.ToolShell, shellDeed{Cwd: req.Cwd, Env: env}); err != nil {
		return err
	}
	sh, err := s.Mux.CreateShell(mux.ShellSpec{Session: name, Default: true, Cwd: req.Cwd, Env: env,
		Timeout: time.Duration(req.CommandTimeoutMS) * time.Millisecond})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, sessionReply{stampNow(), compatSessionOf(sh)})
}

// session is the name that the request chooses, or a new one.
func (r *sessionRequest) session() string {
	for _, name := range []string{r.ID, r.SessionID, r.Name} {
		if name != "" {
			return name
		}
	}
	return "session-" + newSecret()[:16]
}

// sessionsReply is the reply of GET /api/session/list.
type sessionsReply struct {
	stamp
	Count    int                 `json:"count"`
	Sessions []compatSessionInfo `json:"sessions"`
}

func (s *compatService) compatSessions(c echo.Context) error {
	reply := sessionsReply{stamp: stampNow(), Sessions: []compatSessionInfo{}}
	for _, sh := range s.Mux.Shells("") {
		if sh.Default {
			reply.Sessions = append(reply.Sessions, compatSessionOf(sh))
		}
	}
	reply.Count = len(reply.Sessions)
	return writeJSON(c, http.StatusOK, reply)
}

// namedReply is the reply of calls that only say which session they were about.
type namedReply struct {
	stamp
	SessionID string `json:"sessionId"`
}

func (s *compatService) compatDelete(c echo.Context) error {
	var req struct {
		SessionID string `json:"sessionId"`
	}
	if err := bind(c, &req); err != nil {
		return err
	}
	if _, err := s.existing(req.SessionID); err != nil {
		return err
	}
	if err := s.permit(c, req.SessionID, conversation.ToolKill, struct{}{}); err != nil {
		return err
	}
	if err := s.Mux.DeleteShells(unhurried(c), req.SessionID); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, namedReply{stampNow(), req.SessionID})
}

// compatEnvRequest is the body of the calls that set variables; null removes one.
type compatEnvRequest struct {
	EnvVars   envMap `json:"envVars"`
	Env       envMap `json:"env"`
	SessionID string `json:"sessionId"`
}

func (s *compatService) compatEnv(c echo.Context) error {
	var req compatEnvRequest
	if err := bindExec(c, &req, false); err != nil {
		return err
	}
	if (req.EnvVars == nil) == (req.Env == nil) {
		return badRequest(`"envVars" is needed: an object of variables and their values`).with("field", "envVars")
	}
	set, unset := map[string]string{}, []string{}
	for _, vars := range []envMap{req.EnvVars, req.Env} {
		for name, v := range vars {
			if v == nil {
				unset = append(unset, name)
			} else {
				set[name] = *v
			}
		}
	}
	slices.Sort(unset) // a map has no order, and the same request is the same deed
	sh, err := s.compatShell(c, req.SessionID, conversation.ToolEnv, &shellDeed{Env: set, Unset: unset})
	if err != nil {
		return err
	}
	if err := s.setEnv(c, sh, set, unset); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, namedReply{stampNow(), sh.Session})
}

// compatError tells about which session the end of a shell is.
func compatError(c echo.Context, sh *mux.Shell, err error) error {
	if errors.Is(err, shell.ErrEnded) || errors.Is(err, shell.ErrDeleted) {
		return errorFor(err, c).with("session", sh.Session)
	}
	return err
}
