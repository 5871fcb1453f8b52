package thread

import (
	"encoding/json"

	"github.com/evertty/evertty/wire"
)

// The wire types of rows. Slices and maps are the row's own.

// Wire is the thread, without messages.
func (l Layers) Wire() wire.Thread {
	return wire.Thread{ThreadID: l.Thread.ID, Messages: []json.RawMessage{}, LeaseID: l.Terminal.Lease,
		Policy: l.Thread.Policy.Wire(), CreatedAt: l.Thread.CreatedAt, UpdatedAt: l.Thread.UpdatedAt,
		Sandbox: wire.ThreadSandbox{Type: l.Lease.Provider, Status: string(l.Session.Status),
			SessionID: l.Session.ID, TerminalID: l.Terminal.ID}}
}

// WireSession is the session. Of a thread that never had one it has the names, and the limits of the
// session that the first use makes.
func (l Layers) WireSession() wire.ThreadSession {
	s := l.Session
	r := wire.ThreadSession{ThreadID: l.Thread.ID, TerminalID: l.Terminal.ID}
	if s.ID == "" {
		r.IdleSeconds, r.MaxSeconds = l.Thread.Policy.Idle.Seconds(), l.Thread.Policy.Max.Seconds()
		return r
	}
	end := s.ExpiresAt()
	r.SessionID, r.Status, r.CreatedAt, r.LastActiveAt, r.ExpiresAt = &s.ID, &s.Status, &s.StartedAt,
		&s.LastActiveAt, &end
	r.IdleSeconds, r.MaxSeconds, r.Budget = s.Policy.Idle.Seconds(), s.Policy.Max.Seconds(), s.Policy.Budget.wire()
	r.Used, r.EndedAt, r.CloseReason = s.Used.wire(), s.EndedAt, s.CloseReason
	return r
}

// WireTerminal is the terminal.
func (l Layers) WireTerminal() wire.ThreadTerminal {
	t := l.Terminal
	return wire.ThreadTerminal{ThreadID: l.Thread.ID, TerminalID: t.ID, LeaseID: t.Lease, Cwd: t.State.Cwd,
		EnvDelta: t.State.Env, Version: t.State.Version, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		StateVersion: t.State.Version, EnvUnset: t.State.Unset, Kind: string(t.Kind), Name: t.Name,
		Active: l.Thread.Active == t.ID}
}

// WireLease is the lease with its newest instance.
func (l Layers) WireLease() wire.Lease {
	e := l.Lease
	r := wire.Lease{ThreadID: l.Thread.ID, LeaseID: e.ID, ProviderName: e.Provider, CreatedAt: e.CreatedAt,
		UpdatedAt: e.UpdatedAt, DesiredState: string(e.Desired), ObservedState: wire.ComputeState(e.Observed),
		Status: string(e.Status), Version: e.Version, LastError: e.LastError}
	if i := l.Instance; i.ID != "" {
		r.Instance = &wire.Instance{InstanceID: i.Session, State: wire.ComputeState(i.State), StartedAt: i.CreatedAt}
	}
	return r
}

// Wire is the policy.
func (p Policy) Wire() wire.Policy {
	return wire.Policy{IdleSeconds: p.Idle.Seconds(), MaxSeconds: p.Max.Seconds(), Budget: p.Budget.wire()}
}

// wire is the usage, or nil of none.
func (u Usage) wire() *wire.Budget {
	if u == (Usage{}) {
		return nil
	}
	return (*wire.Budget)(&u)
}

// Wire is the state.
func (s State) Wire() wire.TerminalState {
	return wire.TerminalState{Cwd: s.Cwd, EnvDelta: s.Env, EnvUnset: s.Unset, StateVersion: s.Version, At: s.At,
		Version: s.Version}
}

// Wire is the command, without its environment, which may have secrets.
func (c Command) Wire() wire.ThreadCommand {
	return wire.ThreadCommand{CommandID: c.ID, TerminalID: c.Terminal, RuntimeID: c.Runtime, Command: c.Line,
		Cwd: c.Cwd, Background: c.Background, PID: c.PID, Status: c.Status, ExitCode: c.ExitCode,
		StdoutBytes: c.StdoutBytes, StderrBytes: c.StderrBytes, Reason: c.Reason, StartedAt: c.StartedAt,
		FinishedAt: c.FinishedAt}
}

// Wire is the event.
func (e LeaseEvent) Wire() wire.LeaseEvent {
	return wire.LeaseEvent{Seq: e.Seq, LeaseID: e.Lease, Type: e.Type, Source: e.Source,
		From: wire.ComputeState(e.From), To: wire.ComputeState(e.To), InstanceID: e.Instance, Error: e.Error, At: e.At}
}

// Wire is the event, without its payload.
func (e ProviderEvent) Wire() wire.HookEvent {
	return wire.HookEvent{Seq: e.Seq, ProviderName: e.Provider, InstanceID: e.Instance, EventType: e.Type,
		MatchedLeaseID: e.Lease, CreatedAt: e.At}
}
