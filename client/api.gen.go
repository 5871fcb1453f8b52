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
func (a API) ListSessionTerminals(ctx context.Context, in wire.ListTerminals) (wire.TerminalList, error) {
	return send[wire.TerminalList](ctx, a, route{"GET", false, []string{"/session/:sid/pty"}}, in)
}

// DeleteSessionTerminals is DELETE /session/:sid/pty: end all terminals of a session.
func (a API) DeleteSessionTerminals(ctx context.Context, in wire.DeleteTerminals) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/session/:sid/pty"}}, in)
}

// ListTerminals is GET /pty: the terminals of all sessions.
func (a API) ListTerminals(ctx context.Context, in wire.ListTerminals) (wire.TerminalList, error) {
	return send[wire.TerminalList](ctx, a, route{"GET", false, []string{"/pty"}}, in)
}

// GetTerminal is GET /pty/:id: one terminal.
func (a API) GetTerminal(ctx context.Context, in wire.GetTerminal) (Terminal, error) {
	return send[Terminal](ctx, a, route{"GET", false, []string{"/session/:sid/pty/:id", "/pty/:id"}}, in)
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
func (a API) ListShells(ctx context.Context, in wire.ListShells) (wire.ShellList, error) {
	return send[wire.ShellList](ctx, a, route{"GET", false, []string{"/session/:sid/shell"}}, in)
}

// DeleteShells is DELETE /session/:sid/shell: end all shells of a session.
func (a API) DeleteShells(ctx context.Context, in wire.SessionRef) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"DELETE", false, []string{"/session/:sid/shell"}}, in)
}

// ListAllShells is GET /shell: the shells of all sessions.
func (a API) ListAllShells(ctx context.Context, in wire.ListShells) (wire.ShellList, error) {
	return send[wire.ShellList](ctx, a, route{"GET", false, []string{"/shell"}}, in)
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
func (a API) ListCommands(ctx context.Context, in wire.ListCommands) (wire.CommandList, error) {
	return send[wire.CommandList](ctx, a, route{"GET", false, []string{"/session/:sid/shell/:shid/commands", "/session/:sid/commands"}}, in)
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

// LogOut is POST /logout: end a browser's login.
func (a API) LogOut(ctx context.Context, in wire.LogOut) (wire.Done, error) {
	return send[wire.Done](ctx, a, route{"POST", false, []string{"/logout"}}, in)
}
