package threadapi

import (
	"context"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

func (t *threads) touchThread(ctx context.Context, in wire.ThreadRef) (wire.ThreadSession, error) {
	l, err := t.Threads.TouchThread(ctx, in.Thread)
	return layers(l, err, thread.Layers.WireSession)
}

func (t *threads) pauseThread(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	return t.changeThread(ctx, in, permission.ToolPause, t.Threads.PauseThread)
}

func (t *threads) resumeThread(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	return t.changeThread(ctx, in, permission.ToolResume, t.Threads.ResumeThread)
}

// changeThread does what the permissions of the thread allow, also when the client hangs up.
func (t *threads) changeThread(ctx context.Context, in wire.ThreadRef, tool string,
	do func(context.Context, string) (thread.Layers, error)) (wire.Thread, error) {
	if err := t.Check(ctx, in.Thread, tool, permission.NoArgs{}); err != nil {
		return wire.Thread{}, err
	}
	l, err := do(lasting(ctx), in.Thread)
	return layers(l, err, thread.Layers.Wire)
}

func (t *threads) destroySandbox(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	if err := t.Threads.CheckEnd(ctx, in.Thread); err != nil {
		return wire.Thread{}, err
	}
	l, err := t.Threads.DestroyThread(lasting(ctx), in.Thread)
	return layers(l, err, thread.Layers.Wire)
}

func (t *threads) setThreadPolicy(ctx context.Context, in wire.SetThreadPolicy) (wire.Thread, error) {
	l, err := t.Threads.Thread(ctx, in.Thread)
	if err != nil {
		return wire.Thread{}, err
	}
	p, err := l.Thread.Policy.With(in.SetPolicy)
	if err != nil {
		return wire.Thread{}, err
	}
	args := permission.PolicyArgs{Idle: in.IdleSeconds, Max: in.MaxSeconds, Budget: (*permission.BudgetArgs)(in.Budget)}
	if err := t.Check(ctx, in.Thread, permission.ToolPolicy, args); err != nil {
		return wire.Thread{}, err
	}
	l, err = t.Threads.SetThreadPolicy(ctx, in.Thread, p)
	return layers(l, err, thread.Layers.Wire)
}

func (t *threads) activateTerminal(ctx context.Context, in wire.ThreadTerminalRef) (wire.ThreadTerminal, error) {
	l, err := t.Threads.ActivateTerminal(ctx, in.Thread, in.Terminal)
	if err != nil {
		return wire.ThreadTerminal{}, err
	}
	return shownTerminal(l, wire.ShowSecrets{}), nil
}

func (t *threads) getTerminalHistory(ctx context.Context, in wire.GetTerminalHistory) (wire.TerminalStates, error) {
	list, err := t.Threads.TerminalHistory(ctx, in.Thread, in.Terminal)
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

func (t *threads) rollbackTerminal(ctx context.Context, in wire.Rollback) (wire.RolledBack, error) {
	if in.Version == nil || *in.Version < 0 {
		return wire.RolledBack{}, httpapi.BadRequest(`"version" is needed: the number of an earlier state, from 0`).
			WithField("version")
	}
	if err := t.Check(ctx, in.Thread, permission.ToolRollback,
		permission.RollbackArgs{Terminal: in.Terminal, Version: *in.Version}); err != nil {
		return wire.RolledBack{}, err
	}
	reply, err := t.Threads.RollbackTerminal(lasting(ctx), in.Thread, in.Terminal, *in.Version)
	reply.EnvDelta = thread.HideSecrets(reply.EnvDelta)
	return reply, err
}
