package client

import (
	"context"

	"github.com/evertty/evertty/wire"
)

// shellRef names a shell of a session, its default one for "".
func shellRef(session, shell string) wire.ShellRef {
	return wire.ShellRef{SessionRef: wire.SessionRef{Session: session}, Shell: shell}
}

// commandRef names a command of a session.
func commandRef(session, id string) wire.CommandRef {
	return wire.CommandRef{ShellRef: shellRef(session, ""), Command: id}
}

// Shells returns the shells of a session, or of all sessions when it is "".
func (s shells) Shells(ctx context.Context, session string) ([]ShellInfo, error) {
	list := s.API().ListShells
	if session == "" {
		list = s.API().ListAllShells
	}
	reply, err := list(ctx, wire.ListShells{SessionRef: wire.SessionRef{Session: session}})
	return reply.Shells, err
}

// DeleteShell ends a shell and every process that was started in it.
func (s shells) DeleteShell(ctx context.Context, session, id string) error {
	_, err := s.API().DeleteShell(ctx, shellRef(session, id))
	return err
}

// setVariables are variables in the form that the server takes, where nil would remove one.
func setVariables(env map[string]string) map[string]*string {
	set := map[string]*string{}
	for name, value := range env {
		set[name] = &value
	}
	return set
}
