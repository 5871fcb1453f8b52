// Package compat has the calls of Cloudflare's sandbox container, for its clients.
package compat

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/owner"
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

// defaultSession is the session of calls that name none.
const defaultSession = "default"

// Service has the handlers of the compatible routes.
type Service struct{ *exec.Service }

// now is the time of a reply.
func now() time.Time { return time.Now().UTC() }

// sessionOf is the session that a call means: the name in the path or the header, that in the body, or "default". One
// that the path or the header names has to exist already; "default" and the body's come into being, as there.
func (s *Service) sessionOf(ctx context.Context, name, body string) (string, error) {
	usual := owner.Name(httpapi.UserOf(ctx), defaultSession)
	switch {
	case name != "" && name != usual:
		_, err := s.existing(name)
		return name, err
	case name == "" && body != "":
		return body, terminal.CheckSession(body)
	}
	return usual, nil
}

// shellOf returns the default shell of the session that a call means, after check has asked the
// permissions.
func (s *Service) shellOf(ctx context.Context, name, body string, check func(session string) error) (
	*registry.Shell, error) {
	name, err := s.sessionOf(ctx, name, body)
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
	return nil, withSession(httpapi.NewError(http.StatusNotFound, "SESSION_NOT_FOUND",
		"there is no session %q; POST /api/session/create makes one", httpapi.Clip(session)), httpapi.Clip(session))
}

func sessionInfoOf(sh *registry.Shell) wire.CompatSessionInfo {
	i := sh.Wire()
	return wire.CompatSessionInfo{ID: i.Session, SessionID: i.Session, Cwd: i.Cwd, CreatedAt: i.CreatedAt}
}

func (s *Service) create(ctx context.Context, req wire.CompatCreate) (wire.CompatSession, error) {
	if err := exec.CheckLimits(req.CommandTimeoutMS, 0, "commandTimeoutMs"); err != nil {
		return wire.CompatSession{}, err
	}
	env, err := exec.EnvValues(req.Env)
	if err != nil {
		return wire.CompatSession{}, err
	}
	name := cmp.Or(req.ID, req.SessionID, req.Name)
	if name == "" {
		name = httpapi.SpaceOf(ctx) + "session-" + auth.NewSecret()[:16]
	}
	if err := s.Check(ctx, name, permission.ToolShell, permission.ShellArgs{Cwd: req.Cwd, Env: env}); err != nil {
		return wire.CompatSession{}, err
	}
	sh, err := s.Shells.Create(registry.Spec{Session: name, Default: true, Cwd: req.Cwd, Env: env,
		Timeout: time.Duration(req.CommandTimeoutMS) * time.Millisecond})
	if err != nil {
		return wire.CompatSession{}, err
	}
	return wire.CompatSession{Success: true, Timestamp: now(), CompatSessionInfo: sessionInfoOf(sh)}, nil
}

func (s *Service) listSessions(ctx context.Context, _ wire.Nothing) (wire.CompatSessions, error) {
	reply := wire.CompatSessions{Success: true, Timestamp: now(), Sessions: []wire.CompatSessionInfo{}}
	for _, sh := range s.Shells.List(httpapi.SpaceOf(ctx)) {
		if sh.Default {
			reply.Sessions = append(reply.Sessions, sessionInfoOf(sh))
		}
	}
	reply.Count = len(reply.Sessions)
	return reply, nil
}

func (s *Service) deleteSession(ctx context.Context, req wire.CompatDelete) (wire.CompatNamed, error) {
	if _, err := s.existing(req.SessionID); err != nil {
		return wire.CompatNamed{}, err
	}
	if err := s.Check(ctx, req.SessionID, permission.ToolKill, permission.NoArgs{}); err != nil {
		return wire.CompatNamed{}, err
	}
	reply := wire.CompatNamed{Success: true, Timestamp: now(), SessionID: req.SessionID}
	return reply, s.Shells.DeleteSession(context.WithoutCancel(ctx), req.SessionID)
}

func (s *Service) setEnv(ctx context.Context, in wire.CompatSetEnv) (wire.CompatNamed, error) {
	return s.setVariables(ctx, in.Session, in.CompatEnv)
}

func (s *Service) setSessionEnv(ctx context.Context, in wire.CompatSetSessionEnv) (wire.CompatNamed, error) {
	return s.setVariables(ctx, in.Session, in.CompatEnv)
}

// setVariables exports variables; null removes one.
func (s *Service) setVariables(ctx context.Context, name string, req wire.CompatEnv) (wire.CompatNamed, error) {
	if (req.EnvVars == nil) == (req.Env == nil) {
		return wire.CompatNamed{}, httpapi.BadRequest(`"envVars" is needed: an object of variables and their values`).
			WithField("envVars")
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
	sh, err := s.shellOf(ctx, name, req.SessionID, func(session string) error {
		return s.Check(ctx, session, permission.ToolEnv, permission.ShellArgs{Env: set, Unset: unset})
	})
	if err != nil {
		return wire.CompatNamed{}, err
	}
	reply := wire.CompatNamed{Success: true, Timestamp: now(), SessionID: sh.Session}
	return reply, s.SetEnv(ctx, sh, set, unset)
}

// errorOf tells about which session the end of a shell is.
func errorOf(ctx context.Context, sh *registry.Shell, err error) error {
	if errors.Is(err, shell.ErrEnded) || errors.Is(err, shell.ErrDeleted) {
		return withSession(httpapi.ErrorFor(err, httpapi.EchoOf(ctx)), sh.Session)
	}
	return err
}

func withSession(e *httpapi.Error, session string) *httpapi.Error {
	e.Details.Session = session
	return e
}
