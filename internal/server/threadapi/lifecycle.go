package threadapi

import (
	"context"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

func (s *Service) touchThread(ctx context.Context, in wire.ThreadRef) (wire.ThreadSession, error) {
	l, err := s.Threads.TouchThread(ctx, in.Thread)
	return layers(l, err, thread.Layers.WireSession)
}

func (s *Service) pauseThread(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	return s.changeThread(ctx, in, permission.ToolPause, s.Threads.PauseThread)
}

func (s *Service) resumeThread(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	return s.changeThread(ctx, in, permission.ToolResume, s.Threads.ResumeThread)
}

// changeThread does what the permissions of the thread allow, also when the client hangs up.
func (s *Service) changeThread(ctx context.Context, in wire.ThreadRef, tool string,
	do func(context.Context, string) (thread.Layers, error)) (wire.Thread, error) {
	if err := s.Check(ctx, in.Thread, tool, permission.NoArgs{}); err != nil {
		return wire.Thread{}, err
	}
	l, err := do(lasting(ctx), in.Thread)
	return layers(l, err, thread.Layers.Wire)
}

func (s *Service) destroySandbox(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	if err := s.Threads.CheckEnd(ctx, in.Thread); err != nil {
		return wire.Thread{}, err
	}
	l, err := s.Threads.DestroyThread(lasting(ctx), in.Thread)
	return layers(l, err, thread.Layers.Wire)
}

// policyCall is wire.SetPolicy as permissions and approvals see it: a budget is whole, with its zeros.
type policyCall struct {
	Idle   *float64    `json:"idle_seconds,omitempty"`
	Max    *float64    `json:"max_seconds,omitempty"`
	Budget *budgetCall `json:"budget,omitempty"`
}

type budgetCall struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	Commands   int64   `json:"commands"`
	Bytes      int64   `json:"bytes"`
}

func (s *Service) setThreadPolicy(ctx context.Context, in wire.SetThreadPolicy) (wire.Thread, error) {
	l, err := s.Threads.Thread(ctx, in.Thread)
	if err != nil {
		return wire.Thread{}, err
	}
	p, err := l.Thread.Policy.With(in.SetPolicy)
	if err != nil {
		return wire.Thread{}, err
	}
	call := policyCall{in.IdleSeconds, in.MaxSeconds, (*budgetCall)(in.Budget)}
	if err := s.Check(ctx, in.Thread, permission.ToolPolicy, call); err != nil {
		return wire.Thread{}, err
	}
	l, err = s.Threads.SetThreadPolicy(ctx, in.Thread, p)
	return layers(l, err, thread.Layers.Wire)
}

func (s *Service) activateTerminal(ctx context.Context, in wire.ThreadTerminalRef) (wire.ThreadTerminal, error) {
	l, err := s.Threads.ActivateTerminal(ctx, in.Thread, in.Terminal)
	if err != nil {
		return wire.ThreadTerminal{}, err
	}
	return shownTerminal(l, wire.ShowSecrets{}), nil
}

func (s *Service) getTerminalHistory(ctx context.Context, in wire.GetTerminalHistory) (wire.TerminalStates, error) {
	list, err := s.Threads.TerminalHistory(ctx, in.Thread, in.Terminal)
	if err == nil {
		err = auth.CheckSecrets(ctx, in.Secrets)
	}
	reply := wire.TerminalStates{States: wired[wire.TerminalState](list)}
	for i := range reply.States {
		if !in.Secrets {
			reply.States[i].EnvDelta = thread.HideSecrets(reply.States[i].EnvDelta)
		}
	}
	return reply, err
}

func (s *Service) rollbackTerminal(ctx context.Context, in wire.Rollback) (wire.RolledBack, error) {
	if in.Version == nil || *in.Version < 0 {
		return wire.RolledBack{}, httpapi.BadRequest(`"version" is needed: the number of an earlier state, from 0`).
			With("field", "version")
	}
	if err := s.Check(ctx, in.Thread, permission.ToolRollback,
		permission.RollbackArgs{Terminal: in.Terminal, Version: *in.Version}); err != nil {
		return wire.RolledBack{}, err
	}
	reply, err := s.Threads.RollbackTerminal(lasting(ctx), in.Thread, in.Terminal, *in.Version)
	reply.EnvDelta = thread.HideSecrets(reply.EnvDelta)
	return reply, err
}
