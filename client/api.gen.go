// Code generated from the routes of the server by `go generate ./internal/server`. DO NOT EDIT.

package client

import (
	"context"

	"github.com/evertty/evertty/wire"
)

// CreateTerminal is POST /session/:sid/pty: start a terminal.
func (a API) CreateTerminal(ctx context.Context, in wire.CreateTerminal) (Terminal, error) {
	return send[Terminal](ctx, a, route{"POST", true, []string{"/session/:sid/pty"}}, in)
}

// ListSessionTerminals is GET /session/:sid/pty: the terminals of a session.
func (a API) ListSessionTerminals(ctx context.Context, in wire.ListTerminals) (TerminalList, error) {
	return send[TerminalList](ctx, a, route{"GET", false, []string{"/session/:sid/pty"}}, in)
}

// DeleteSessionTerminals is DELETE /session/:sid/pty: end all terminals of a session.
func (a API) DeleteSessionTerminals(ctx context.Context, in wire.DeleteTerminals) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/session/:sid/pty"}}, in)
}

// ListTerminals is GET /pty: the terminals of all sessions.
func (a API) ListTerminals(ctx context.Context, in wire.ListAllTerminals) (TerminalList, error) {
	return send[TerminalList](ctx, a, route{"GET", false, []string{"/pty"}}, in)
}

// GetTerminal is GET /pty/:id: one terminal.
func (a API) GetTerminal(ctx context.Context, in wire.GetTerminal) (Terminal, error) {
	return send[Terminal](ctx, a, route{"GET", false, []string{"/session/:sid/pty/:id", "/pty/:id"}}, in)
}

// ChangeTerminal is PATCH /pty/:id: change name, labels, title or size.
func (a API) ChangeTerminal(ctx context.Context, in wire.ChangeTerminal) (Terminal, error) {
	return send[Terminal](ctx, a, route{"PATCH", true, []string{"/session/:sid/pty/:id", "/pty/:id"}}, in)
}

// DeleteTerminal is DELETE /pty/:id: end a terminal.
func (a API) DeleteTerminal(ctx context.Context, in wire.DeleteTerminal) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/session/:sid/pty/:id", "/pty/:id"}}, in)
}

// ResizeTerminal is POST /pty/:id/resize: change the size.
func (a API) ResizeTerminal(ctx context.Context, in wire.ResizeTerminal) (wire.Resized, error) {
	return send[wire.Resized](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/resize", "/pty/:id/resize"}}, in)
}

// SignalTerminal is POST /pty/:id/signal: signal the foreground process group.
func (a API) SignalTerminal(ctx context.Context, in wire.Signal) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/signal", "/pty/:id/signal"}}, in)
}

// RestartTerminal is POST /pty/:id/restart: start the program again.
func (a API) RestartTerminal(ctx context.Context, in wire.TerminalRef) (Terminal, error) {
	return send[Terminal](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/restart", "/pty/:id/restart"}}, in)
}

// ParkTerminal is POST /pty/:id/park: move the screens to the disk.
func (a API) ParkTerminal(ctx context.Context, in wire.TerminalRef) (Terminal, error) {
	return send[Terminal](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/park", "/pty/:id/park"}}, in)
}

// ListViewers is GET /pty/:id/viewers: who watches, and who types.
func (a API) ListViewers(ctx context.Context, in wire.TerminalRef) (wire.ViewerList, error) {
	return send[wire.ViewerList](ctx, a, route{"GET", false, []string{"/session/:sid/pty/:id/viewers", "/pty/:id/viewers"}}, in)
}

// ControlTerminal is POST /pty/:id/control: lock the keyboard, ask for it, hand it over.
func (a API) ControlTerminal(ctx context.Context, in wire.ControlTerminal) (wire.Controlled, error) {
	return send[wire.Controlled](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/control", "/pty/:id/control"}}, in)
}

// KickViewer is POST /pty/:id/viewers/:vid/kick: remove a viewer.
func (a API) KickViewer(ctx context.Context, in wire.KickViewer) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/viewers/:vid/kick", "/pty/:id/viewers/:vid/kick"}}, in)
}

// SendInput is POST /pty/:id/input: write bytes to the program.
func (a API) SendInput(ctx context.Context, in wire.Input) (wire.Sent, error) {
	return send[wire.Sent](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/input", "/pty/:id/input"}}, in)
}

// SendKeys is POST /pty/:id/keys: press named keys.
func (a API) SendKeys(ctx context.Context, in wire.Keys) (wire.Sent, error) {
	return send[wire.Sent](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/keys", "/pty/:id/keys"}}, in)
}

// Paste is POST /pty/:id/paste: paste text.
func (a API) Paste(ctx context.Context, in wire.Paste) (wire.Sent, error) {
	return send[wire.Sent](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/paste", "/pty/:id/paste"}}, in)
}

// WaitFor is POST /pty/:id/wait: wait until something has happened.
func (a API) WaitFor(ctx context.Context, in wire.Wait) (wire.Waited, error) {
	return send[wire.Waited](ctx, a, route{"POST", true, []string{"/session/:sid/pty/:id/wait", "/pty/:id/wait"}}, in)
}

// CreateShell is POST /session/:sid/shell: start a shell.
func (a API) CreateShell(ctx context.Context, in wire.CreateShell) (wire.Shell, error) {
	return send[wire.Shell](ctx, a, route{"POST", true, []string{"/session/:sid/shell"}}, in)
}

// ListShells is GET /session/:sid/shell: the shells of a session.
func (a API) ListShells(ctx context.Context, in wire.ListShells) (ShellList, error) {
	return send[ShellList](ctx, a, route{"GET", false, []string{"/session/:sid/shell"}}, in)
}

// DeleteShells is DELETE /session/:sid/shell: end all shells of a session.
func (a API) DeleteShells(ctx context.Context, in wire.SessionRef) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/session/:sid/shell"}}, in)
}

// ListAllShells is GET /shell: the shells of all sessions.
func (a API) ListAllShells(ctx context.Context, in wire.ListShells) (ShellList, error) {
	return send[ShellList](ctx, a, route{"GET", false, []string{"/shell"}}, in)
}

// GetShell is GET /session/:sid/shell/:shid: one shell.
func (a API) GetShell(ctx context.Context, in wire.ShellRef) (wire.Shell, error) {
	return send[wire.Shell](ctx, a, route{"GET", false, []string{"/session/:sid/shell/:shid"}}, in)
}

// DeleteShell is DELETE /session/:sid/shell/:shid: end a shell and everything it started.
func (a API) DeleteShell(ctx context.Context, in wire.ShellRef) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/session/:sid/shell/:shid"}}, in)
}

// SetEnv is POST /session/:sid/env: change the environment of the shell.
func (a API) SetEnv(ctx context.Context, in wire.SetEnv) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"POST", true, []string{"/session/:sid/shell/:shid/env", "/session/:sid/env"}}, in)
}

// ListCommands is GET /session/:sid/commands: the commands that were run.
func (a API) ListCommands(ctx context.Context, in wire.ListCommands) (CommandList, error) {
	return send[CommandList](ctx, a, route{"GET", false, []string{"/session/:sid/shell/:shid/commands", "/session/:sid/commands"}}, in)
}

// GetCommand is GET /session/:sid/commands/:cid: one command.
func (a API) GetCommand(ctx context.Context, in wire.CommandRef) (Command, error) {
	return send[Command](ctx, a, route{"GET", false, []string{"/session/:sid/shell/:shid/commands/:cid", "/session/:sid/commands/:cid"}}, in)
}

// CancelCommand is DELETE /session/:sid/commands/:cid: cancel a command.
func (a API) CancelCommand(ctx context.Context, in wire.CancelCommand) (wire.CommandCancelled, error) {
	return send[wire.CommandCancelled](ctx, a, route{"DELETE", false, []string{"/session/:sid/shell/:shid/commands/:cid", "/session/:sid/commands/:cid"}}, in)
}

// CommandInput is POST /session/:sid/commands/:cid/input: write to the input of a command.
func (a API) CommandInput(ctx context.Context, in wire.ExecInput) (wire.InputTaken, error) {
	return send[wire.InputTaken](ctx, a, route{"POST", true, []string{"/session/:sid/shell/:shid/commands/:cid/input", "/session/:sid/commands/:cid/input"}}, in)
}

// ListThreads is GET /api/threads: the threads.
func (a API) ListThreads(ctx context.Context, in wire.ListThreads) (ThreadList, error) {
	return send[ThreadList](ctx, a, route{"GET", false, []string{"/api/threads"}}, in)
}

// CreateThread is POST /api/threads: make a thread.
func (a API) CreateThread(ctx context.Context, in wire.CreateThread) (Thread, error) {
	return send[Thread](ctx, a, route{"POST", true, []string{"/api/threads"}}, in)
}

// GetThread is GET /api/threads/:id: one thread.
func (a API) GetThread(ctx context.Context, in wire.ThreadRef) (Thread, error) {
	return send[Thread](ctx, a, route{"GET", false, []string{"/api/threads/:id"}}, in)
}

// DeleteThread is DELETE /api/threads/:id: end everything of a thread and forget it.
func (a API) DeleteThread(ctx context.Context, in wire.ThreadRef) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/api/threads/:id"}}, in)
}

// GetThreadSession is GET /api/threads/:id/session: the session.
func (a API) GetThreadSession(ctx context.Context, in wire.ThreadRef) (wire.ThreadSession, error) {
	return send[wire.ThreadSession](ctx, a, route{"GET", false, []string{"/api/threads/:id/session"}}, in)
}

// GetThreadTerminal is GET /api/threads/:id/terminal: the active terminal.
func (a API) GetThreadTerminal(ctx context.Context, in wire.GetThreadTerminal) (wire.ThreadTerminal, error) {
	return send[wire.ThreadTerminal](ctx, a, route{"GET", false, []string{"/api/threads/:id/terminal"}}, in)
}

// GetThreadLease is GET /api/threads/:id/lease: where the active terminal runs.
func (a API) GetThreadLease(ctx context.Context, in wire.ThreadRef) (Lease, error) {
	return send[Lease](ctx, a, route{"GET", false, []string{"/api/threads/:id/lease"}}, in)
}

// ListThreadTerminals is GET /api/threads/:id/terminals: all terminals.
func (a API) ListThreadTerminals(ctx context.Context, in wire.ListThreadTerminals) (wire.ThreadTerminals, error) {
	return send[wire.ThreadTerminals](ctx, a, route{"GET", false, []string{"/api/threads/:id/terminals"}}, in)
}

// ListThreadCommands is GET /api/threads/:id/commands: the commands of all terminals.
func (a API) ListThreadCommands(ctx context.Context, in wire.ListThreadCommands) (wire.ThreadCommands, error) {
	return send[wire.ThreadCommands](ctx, a, route{"GET", false, []string{"/api/threads/:id/commands"}}, in)
}

// TouchThread is POST /api/threads/:id/touch: note activity.
func (a API) TouchThread(ctx context.Context, in wire.ThreadRef) (wire.ThreadSession, error) {
	return send[wire.ThreadSession](ctx, a, route{"POST", false, []string{"/api/threads/:id/touch"}}, in)
}

// SetThreadPolicy is PATCH /api/threads/:id/policy: change the policy.
func (a API) SetThreadPolicy(ctx context.Context, in wire.SetThreadPolicy) (Thread, error) {
	return send[Thread](ctx, a, route{"PATCH", true, []string{"/api/threads/:id/policy"}}, in)
}

// PauseThread is POST /api/threads/:id/pause: stop the processes where they are.
func (a API) PauseThread(ctx context.Context, in wire.ThreadRef) (Thread, error) {
	return send[Thread](ctx, a, route{"POST", false, []string{"/api/threads/:id/pause"}}, in)
}

// ResumeThread is POST /api/threads/:id/resume: let the processes go on.
func (a API) ResumeThread(ctx context.Context, in wire.ThreadRef) (Thread, error) {
	return send[Thread](ctx, a, route{"POST", false, []string{"/api/threads/:id/resume"}}, in)
}

// PauseSandbox is POST /api/threads/:id/sandbox/pause: stop the processes where they are.
func (a API) PauseSandbox(ctx context.Context, in wire.ThreadRef) (Thread, error) {
	return send[Thread](ctx, a, route{"POST", false, []string{"/api/threads/:id/sandbox/pause"}}, in)
}

// ResumeSandbox is POST /api/threads/:id/sandbox/resume: let the processes go on.
func (a API) ResumeSandbox(ctx context.Context, in wire.ThreadRef) (Thread, error) {
	return send[Thread](ctx, a, route{"POST", false, []string{"/api/threads/:id/sandbox/resume"}}, in)
}

// DestroySandbox is DELETE /api/threads/:id/sandbox: end the processes and the compute.
func (a API) DestroySandbox(ctx context.Context, in wire.ThreadRef) (Thread, error) {
	return send[Thread](ctx, a, route{"DELETE", false, []string{"/api/threads/:id/sandbox"}}, in)
}

// ActivateTerminal is POST /api/threads/:id/terminals/:tid/activate: make it the active one.
func (a API) ActivateTerminal(ctx context.Context, in wire.ThreadTerminalRef) (wire.ThreadTerminal, error) {
	return send[wire.ThreadTerminal](ctx, a, route{"POST", false, []string{"/api/threads/:id/terminals/:tid/activate"}}, in)
}

// GetTerminalHistory is GET /api/threads/:id/terminals/:tid/history: the versions of its state.
func (a API) GetTerminalHistory(ctx context.Context, in wire.GetTerminalHistory) (wire.TerminalStates, error) {
	return send[wire.TerminalStates](ctx, a, route{"GET", false, []string{"/api/threads/:id/terminals/:tid/history"}}, in)
}

// RollbackTerminal is POST /api/threads/:id/terminals/:tid/rollback: go back to a version.
func (a API) RollbackTerminal(ctx context.Context, in wire.Rollback) (wire.RolledBack, error) {
	return send[wire.RolledBack](ctx, a, route{"POST", true, []string{"/api/threads/:id/terminals/:tid/rollback"}}, in)
}

// ListRecords is GET /api/threads/:id/records: the records of a thread.
func (a API) ListRecords(ctx context.Context, in wire.ThreadRef) (wire.RecordList, error) {
	return send[wire.RecordList](ctx, a, route{"GET", false, []string{"/api/threads/:id/records"}}, in)
}

// ListMessages is GET /api/threads/:id/messages: the messages.
func (a API) ListMessages(ctx context.Context, in wire.ListMessages) (wire.MessageList, error) {
	return send[wire.MessageList](ctx, a, route{"GET", false, []string{"/api/threads/:id/messages"}}, in)
}

// AppendMessages is POST /api/threads/:id/messages: append messages.
func (a API) AppendMessages(ctx context.Context, in wire.AppendMessages) (wire.Appended, error) {
	return send[wire.Appended](ctx, a, route{"POST", true, []string{"/api/threads/:id/messages"}}, in)
}

// GetState is GET /api/threads/:id/state: the record's state.
func (a API) GetState(ctx context.Context, in wire.RecordRef) (wire.RecordState, error) {
	return send[wire.RecordState](ctx, a, route{"GET", false, []string{"/api/threads/:id/state"}}, in)
}

// GetTimeline is GET /api/threads/:id/timeline: the timeline.
func (a API) GetTimeline(ctx context.Context, in wire.ListOfRecord) (wire.Timeline, error) {
	return send[wire.Timeline](ctx, a, route{"GET", false, []string{"/api/threads/:id/timeline"}}, in)
}

// GetTrace is GET /api/threads/:id/trace: the completion trace.
func (a API) GetTrace(ctx context.Context, in wire.RecordRef) (wire.Trace, error) {
	return send[wire.Trace](ctx, a, route{"GET", false, []string{"/api/threads/:id/trace"}}, in)
}

// AppendTrace is POST /api/threads/:id/trace: append a step of the trace.
func (a API) AppendTrace(ctx context.Context, in wire.AddTrace) (wire.Trace, error) {
	return send[wire.Trace](ctx, a, route{"POST", true, []string{"/api/threads/:id/trace"}}, in)
}

// GetLedger is GET /api/threads/:id/ledger: the ledger.
func (a API) GetLedger(ctx context.Context, in wire.RecordRef) (wire.Ledger, error) {
	return send[wire.Ledger](ctx, a, route{"GET", false, []string{"/api/threads/:id/ledger"}}, in)
}

// PutLedger is PUT /api/threads/:id/ledger: replace the ledger.
func (a API) PutLedger(ctx context.Context, in wire.PutLedger) (wire.Ledger, error) {
	return send[wire.Ledger](ctx, a, route{"PUT", true, []string{"/api/threads/:id/ledger"}}, in)
}

// ListPrompts is GET /api/threads/:id/prompts: the prompt history.
func (a API) ListPrompts(ctx context.Context, in wire.ListOfRecord) (wire.PromptList, error) {
	return send[wire.PromptList](ctx, a, route{"GET", false, []string{"/api/threads/:id/prompts"}}, in)
}

// AppendPrompt is POST /api/threads/:id/prompts: append a prompt.
func (a API) AppendPrompt(ctx context.Context, in wire.AddPrompt) (wire.PromptAdded, error) {
	return send[wire.PromptAdded](ctx, a, route{"POST", true, []string{"/api/threads/:id/prompts"}}, in)
}

// ListTurns is GET /api/threads/:id/turns: the turns.
func (a API) ListTurns(ctx context.Context, in wire.ListOfRecord) (wire.TurnList, error) {
	return send[wire.TurnList](ctx, a, route{"GET", false, []string{"/api/threads/:id/turns"}}, in)
}

// AppendTurn is POST /api/threads/:id/turns: append a turn.
func (a API) AppendTurn(ctx context.Context, in wire.AddTurn) (wire.Turn, error) {
	return send[wire.Turn](ctx, a, route{"POST", true, []string{"/api/threads/:id/turns"}}, in)
}

// GetUsage is GET /api/threads/:id/usage: what all turns used.
func (a API) GetUsage(ctx context.Context, in wire.RecordRef) (wire.Usage, error) {
	return send[wire.Usage](ctx, a, route{"GET", false, []string{"/api/threads/:id/usage"}}, in)
}

// ListCompactions is GET /api/threads/:id/compactions: the compactions.
func (a API) ListCompactions(ctx context.Context, in wire.ListOfRecord) (wire.CompactionList, error) {
	return send[wire.CompactionList](ctx, a, route{"GET", false, []string{"/api/threads/:id/compactions"}}, in)
}

// Compact is POST /api/threads/:id/compact: put older messages behind a summary.
func (a API) Compact(ctx context.Context, in wire.Compact) (wire.Compacted, error) {
	return send[wire.Compacted](ctx, a, route{"POST", true, []string{"/api/threads/:id/compact"}}, in)
}

// Attach is POST /api/threads/:id/attach: say who drives the thread from now on.
func (a API) Attach(ctx context.Context, in wire.Attach) (Attached, error) {
	return send[Attached](ctx, a, route{"POST", true, []string{"/api/threads/:id/attach"}}, in)
}

// ClearRecord is POST /api/threads/:id/clear: begin a new record.
func (a API) ClearRecord(ctx context.Context, in wire.ThreadRef) (wire.RecordHead, error) {
	return send[wire.RecordHead](ctx, a, route{"POST", false, []string{"/api/threads/:id/clear"}}, in)
}

// Steer is POST /api/threads/:id/steer: leave a message for who drives the thread.
func (a API) Steer(ctx context.Context, in wire.Steer) (wire.Seq, error) {
	return send[wire.Seq](ctx, a, route{"POST", true, []string{"/api/threads/:id/steer"}}, in)
}

// ListMail is GET /api/threads/:id/steer: the messages that wait.
func (a API) ListMail(ctx context.Context, in wire.ThreadRef) (wire.Mail, error) {
	return send[wire.Mail](ctx, a, route{"GET", false, []string{"/api/threads/:id/steer"}}, in)
}

// Drain is POST /api/threads/:id/steer/drain: take the messages that wait.
func (a API) Drain(ctx context.Context, in wire.ThreadRef) (wire.Drained, error) {
	return send[wire.Drained](ctx, a, route{"POST", false, []string{"/api/threads/:id/steer/drain"}}, in)
}

// ListLeases is GET /api/leases: the leases.
func (a API) ListLeases(ctx context.Context, in wire.ListLeases) (LeaseList, error) {
	return send[LeaseList](ctx, a, route{"GET", false, []string{"/api/leases"}}, in)
}

// CreateLease is POST /api/leases: make a lease that threads may share.
func (a API) CreateLease(ctx context.Context, in wire.CreateLease) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", true, []string{"/api/leases"}}, in)
}

// GetLease is GET /api/leases/:id: one lease.
func (a API) GetLease(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"GET", false, []string{"/api/leases/:id"}}, in)
}

// DeleteLease is DELETE /api/leases/:id: forget a lease.
func (a API) DeleteLease(ctx context.Context, in wire.LeaseRef) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/api/leases/:id"}}, in)
}

// PauseLease is POST /api/leases/:id/pause: pause its compute.
func (a API) PauseLease(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", false, []string{"/api/leases/:id/pause"}}, in)
}

// ResumeLease is POST /api/leases/:id/resume: let its compute go on.
func (a API) ResumeLease(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", false, []string{"/api/leases/:id/resume"}}, in)
}

// DestroyLease is POST /api/leases/:id/destroy: end its compute.
func (a API) DestroyLease(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", false, []string{"/api/leases/:id/destroy"}}, in)
}

// RefreshLease is POST /api/leases/:id/refresh: ask the provider how its compute is.
func (a API) RefreshLease(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", false, []string{"/api/leases/:id/refresh"}}, in)
}

// GetLeaseEvents is GET /api/leases/:id/events: its book.
func (a API) GetLeaseEvents(ctx context.Context, in wire.GetLeaseEvents) (wire.LeaseEvents, error) {
	return send[wire.LeaseEvents](ctx, a, route{"GET", false, []string{"/api/leases/:id/events"}}, in)
}

// GetLeaseMetrics is GET /api/leases/:id/metrics: what its compute uses.
func (a API) GetLeaseMetrics(ctx context.Context, in wire.LeaseRef) (wire.ComputeMetrics, error) {
	return send[wire.ComputeMetrics](ctx, a, route{"GET", false, []string{"/api/leases/:id/metrics"}}, in)
}

// ListSandboxTypes is GET /api/sandbox/types: the providers and what each can do.
func (a API) ListSandboxTypes(ctx context.Context) (wire.SandboxTypes, error) {
	return send[wire.SandboxTypes](ctx, a, route{"GET", false, []string{"/api/sandbox/types"}}, wire.Nothing{})
}

// ListSandboxSessions is GET /api/sandbox/sessions: the leases with the threads that use them.
func (a API) ListSandboxSessions(ctx context.Context, in wire.ListLeases) (wire.SandboxSessions, error) {
	return send[wire.SandboxSessions](ctx, a, route{"GET", false, []string{"/api/sandbox/sessions"}}, in)
}

// GetSandboxMetrics is GET /api/sandbox/sessions/:id/metrics: the same as /api/leases/{id}/metrics.
func (a API) GetSandboxMetrics(ctx context.Context, in wire.LeaseRef) (wire.ComputeMetrics, error) {
	return send[wire.ComputeMetrics](ctx, a, route{"GET", false, []string{"/api/sandbox/sessions/:id/metrics"}}, in)
}

// PauseSandboxSession is POST /api/sandbox/sessions/:id/pause: the same as /api/leases/{id}/pause.
func (a API) PauseSandboxSession(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", false, []string{"/api/sandbox/sessions/:id/pause"}}, in)
}

// ResumeSandboxSession is POST /api/sandbox/sessions/:id/resume: the same as /api/leases/{id}/resume.
func (a API) ResumeSandboxSession(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"POST", false, []string{"/api/sandbox/sessions/:id/resume"}}, in)
}

// DeleteSandboxSession is DELETE /api/sandbox/sessions/:id: the same as POST /api/leases/{id}/destroy.
func (a API) DeleteSandboxSession(ctx context.Context, in wire.LeaseRef) (Lease, error) {
	return send[Lease](ctx, a, route{"DELETE", false, []string{"/api/sandbox/sessions/:id"}}, in)
}

// ListWebhooks is GET /api/webhooks/events: what providers told.
func (a API) ListWebhooks(ctx context.Context, in wire.ListWebhooks) (wire.HookEvents, error) {
	return send[wire.HookEvents](ctx, a, route{"GET", false, []string{"/api/webhooks/events"}}, in)
}

// GetPermissions is GET /api/threads/:id/permissions: what may be done.
func (a API) GetPermissions(ctx context.Context, in wire.ThreadRef) (Permissions, error) {
	return send[Permissions](ctx, a, route{"GET", false, []string{"/api/threads/:id/permissions"}}, in)
}

// Authorize is POST /api/threads/:id/authorize: ask what the permissions say.
func (a API) Authorize(ctx context.Context, in wire.Authorize) (wire.Decision, error) {
	return send[wire.Decision](ctx, a, route{"POST", true, []string{"/api/threads/:id/authorize"}}, in)
}

// ListApprovals is GET /api/threads/:id/approvals: list approvals.
func (a API) ListApprovals(ctx context.Context, in wire.ListApprovals) (Approvals, error) {
	return send[Approvals](ctx, a, route{"GET", false, []string{"/api/threads/:id/approvals"}}, in)
}

// GetApproval is GET /api/threads/:id/approvals/:aid: one approval.
func (a API) GetApproval(ctx context.Context, in wire.GetApproval) (Approval, error) {
	return send[Approval](ctx, a, route{"GET", false, []string{"/api/threads/:id/approvals/:aid"}}, in)
}

// DecideApproval is POST /api/threads/:id/approvals/:aid: approve or deny a call.
func (a API) DecideApproval(ctx context.Context, in wire.DecideApproval) (Approval, error) {
	return send[Approval](ctx, a, route{"POST", true, []string{"/api/threads/:id/approvals/:aid"}}, in)
}

// GetHealth is GET /healthz: whether the server is well.
func (a API) GetHealth(ctx context.Context) (wire.Health, error) {
	return send[wire.Health](ctx, a, route{"GET", false, []string{"/healthz"}}, wire.Nothing{})
}

// GetReady is GET /readyz: whether the server takes requests.
func (a API) GetReady(ctx context.Context) (wire.Health, error) {
	return send[wire.Health](ctx, a, route{"GET", false, []string{"/readyz"}}, wire.Nothing{})
}

// GetVersion is GET /version: the server's version.
func (a API) GetVersion(ctx context.Context) (wire.Version, error) {
	return send[wire.Version](ctx, a, route{"GET", false, []string{"/version"}}, wire.Nothing{})
}

// CreateTicket is POST /tickets: a ticket for a terminal, or for a login.
func (a API) CreateTicket(ctx context.Context, in wire.TicketRequest) (wire.Ticket, error) {
	return send[wire.Ticket](ctx, a, route{"POST", true, []string{"/tickets"}}, in)
}

// EndTickets is DELETE /tickets: end tickets.
func (a API) EndTickets(ctx context.Context, in wire.EndTickets) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/tickets"}}, in)
}

// CreateShare is POST /shares: a link that shows a terminal, or a session, to whoever has it.
func (a API) CreateShare(ctx context.Context, in wire.ShareRequest) (wire.MadeShare, error) {
	return send[wire.MadeShare](ctx, a, route{"POST", true, []string{"/shares"}}, in)
}

// ListShares is GET /shares: the links that there are.
func (a API) ListShares(ctx context.Context) (wire.ShareList, error) {
	return send[wire.ShareList](ctx, a, route{"GET", false, []string{"/shares"}}, wire.Nothing{})
}

// DeleteShare is DELETE /shares/:share: revoke a link.
func (a API) DeleteShare(ctx context.Context, in wire.ShareRef) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/shares/:share"}}, in)
}

// GetShared is GET /share: what the link that has let in this page shows.
func (a API) GetShared(ctx context.Context) (wire.Shared, error) {
	return send[wire.Shared](ctx, a, route{"GET", false, []string{"/share"}}, wire.Nothing{})
}

// LogOut is POST /logout: end a browser's login.
func (a API) LogOut(ctx context.Context, in wire.LogOut) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"POST", false, []string{"/logout"}}, in)
}
