package client

import (
	"context"
	"net/http"
	"time"

	"github.com/evertty/evertty/wire"
)

// ShellRequest says what shell to start. Zero fields are left to the server.
type ShellRequest struct {
	ID        string            // 1..64 of A-Z a-z 0-9 . _ -
	Cwd       string            // absolute
	Env       map[string]string // added to the server's clean environment
	Login     bool              // read the profile files
	Timeout   time.Duration     // of commands that give none; 0 is none
	MaxOutput int64             // of commands that give none, in bytes
}

// CreateShell starts a shell in a session. When a shell with that ID exists, the error is an *Error
// with the code SESSION_ALREADY_EXISTS.
func (s shells) CreateShell(ctx context.Context, session string, r ShellRequest) (ShellInfo, error) {
	body := wire.CreateShell{
		ID: r.ID, Cwd: r.Cwd, Env: setVariables(r.Env), Login: r.Login,
		CommandTimeoutMS: r.Timeout.Milliseconds(), MaxOutputBytes: r.MaxOutput,
	}
	return call[ShellInfo](ctx, s.connection, http.MethodPost, s.at(nil, "session", session, "shell"), body)
}

// setVariables are variables in the form that the server takes, where nil would remove one.
func setVariables(env map[string]string) map[string]*string {
	set := map[string]*string{}
	for name, value := range env {
		set[name] = &value
	}
	return set
}

// Shells returns the shells of a session, or of all sessions when it is "".
func (s shells) Shells(ctx context.Context, session string) ([]ShellInfo, error) {
	target := s.at(nil, "shell")
	if session != "" {
		target = s.at(nil, "session", session, "shell")
	}
	return list[ShellInfo](ctx, s.connection, "shells", target)
}

// Shell returns one shell of a session.
func (s shells) Shell(ctx context.Context, session, id string) (ShellInfo, error) {
	return call[ShellInfo](ctx, s.connection, http.MethodGet, s.at(nil, "session", session, "shell", id), nil)
}

// DeleteShell ends a shell and every process that was started in it.
func (s shells) DeleteShell(ctx context.Context, session, id string) error {
	return s.call(ctx, http.MethodDelete, s.at(nil, "session", session, "shell", id), nil, nil)
}

// DeleteShells ends all shells of a session.
func (s shells) DeleteShells(ctx context.Context, session string) error {
	return s.call(ctx, http.MethodDelete, s.at(nil, "session", session, "shell"), nil, nil)
}

// SetEnv exports variables in a shell, the session's default one for "", and unsets others.
func (s shells) SetEnv(ctx context.Context, session, shell string, set map[string]string, unset ...string) error {
	body := wire.SetEnv{Env: setVariables(set), Unset: unset}
	return s.call(ctx, http.MethodPost, s.at(nil, shellPath(session, shell, "env")...), body, nil)
}
