package exec

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/wire"
)

func (s *Service) createShell(ctx context.Context, in wire.CreateShell) (wire.Shell, error) {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return wire.Shell{}, err
	}
	if err := CheckLimits(in.CommandTimeoutMS, in.MaxOutputBytes, "command_timeout_ms"); err != nil {
		return wire.Shell{}, err
	}
	if err := httpapi.CheckSandbox(in.Sandbox); err != nil {
		return wire.Shell{}, err
	}
	env, err := EnvValues(in.Env)
	if err != nil {
		return wire.Shell{}, err
	}
	if err := s.Check(ctx, in.Session, permission.ToolShell,
		permission.ShellArgs{Shell: in.ID, Cwd: in.Cwd, Env: env, Login: in.Login}); err != nil {
		return wire.Shell{}, err
	}
	sh, err := s.Shells.Create(registry.Spec{Session: in.Session, ID: in.ID, Cwd: in.Cwd, Env: env, Login: in.Login,
		Timeout: time.Duration(in.CommandTimeoutMS) * time.Millisecond, MaxReply: in.MaxOutputBytes,
		Sandbox: in.Sandbox})
	if err != nil {
		return wire.Shell{}, err
	}
	auth.SetTarget(ctx, in.Session+"/"+sh.ID)
	return sh.WireDetail(), nil
}

func (s *Service) listShells(_ context.Context, in wire.ListShells) (wire.ShellList, error) {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return wire.ShellList{}, err
	}
	id := func(sh *registry.Shell) string { return sh.ID }
	if owner.IsSpace(in.Session) { // ids are unique within a session
		id = func(sh *registry.Shell) string {
			user, plain := owner.Split(sh.Session)
			if in.Session == "" {
				plain = owner.Name(user, plain)
			}
			return plain + "/" + sh.ID
		}
	}
	list, next, ok := httpapi.PartOf(s.Shells.List(in.Session), in.After, in.Limit, id)
	if !ok {
		return wire.ShellList{}, fmt.Errorf("%w: after %q; begin without it", registry.ErrNotFound, in.After)
	}
	reply := wire.ShellList{Shells: make([]wire.ShellInfo, 0, len(list)), Next: next}
	for _, sh := range list {
		reply.Shells = append(reply.Shells, sh.Wire())
	}
	return reply, nil
}

func (s *Service) deleteShells(ctx context.Context, in wire.SessionRef) (wire.Done, error) {
	if err := httpapi.CheckSession(in); err != nil {
		return wire.Done{}, err
	}
	if err := s.Check(ctx, in.Session, permission.ToolKill, permission.NoArgs{}); err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, s.Shells.DeleteSession(context.WithoutCancel(ctx), in.Session)
}

func (s *Service) getShell(_ context.Context, in wire.ShellRef) (wire.Shell, error) {
	sh, err := s.shellOf(in)
	if err != nil {
		return wire.Shell{}, err
	}
	return sh.WireDetail(), nil
}

func (s *Service) deleteShell(ctx context.Context, in wire.ShellRef) (wire.Done, error) {
	sh, err := s.shellOf(in)
	if err != nil {
		return wire.Done{}, err
	}
	if err := s.Check(ctx, sh.Session, permission.ToolKill, permission.ShellArgs{Shell: sh.ID}); err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, s.Shells.Delete(context.WithoutCancel(ctx), sh)
}

func (s *Service) setEnv(ctx context.Context, in wire.SetEnv) (wire.Done, error) {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return wire.Done{}, err
	}
	set, err := EnvValues(in.Env)
	if err != nil {
		return wire.Done{}, err
	}
	if err := shell.CheckEnv(set, in.Unset); err != nil {
		return wire.Done{}, err
	}
	sh, err := s.checkedShell(in.ShellRef, func() error {
		return s.Check(
			ctx,
			in.Session,
			permission.ToolEnv,
			permission.ShellArgs{Shell: in.Shell, Env: set, Unset: in.Unset},
		)
	})
	if err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, s.SetEnv(ctx, sh, set, in.Unset)
}

// SetEnv changes a shell's environment. The log has the names, never a value.
func (s *Service) SetEnv(ctx context.Context, sh *registry.Shell, set map[string]string, unset []string) error {
	ctx, cancel := s.WhileOpen(ctx, context.Canceled)
	defer cancel()
	err := sh.SetEnv(ctx, set, unset)
	if s.Log.Enabled(ctx, slog.LevelDebug) {
		s.Log.Debug("environment", "session", sh.Session, "shell", sh.ID, "set", slices.Sorted(maps.Keys(set)), "unset",
			unset, "error", err)
	}
	return err
}
