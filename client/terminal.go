package client

import (
	"context"

	"github.com/evertty/evertty/wire"
)

// Create starts a program on a new terminal of a session. A session is created when it is first
// used. Zero fields of r are left to the server.
func (t terminals) Create(ctx context.Context, session string, r wire.CreateTerminal) (Terminal, error) {
	r.Session = session
	return t.API().CreateTerminal(ctx, r)
}

// List returns the terminals of a session, or of all sessions when it is "".
func (t terminals) List(ctx context.Context, session string) ([]Terminal, error) {
	list := t.API().ListSessionTerminals
	if session == "" {
		list = t.API().ListTerminals
	}
	reply, err := list(ctx, wire.ListTerminals{SessionRef: wire.SessionRef{Session: session}})
	return reply.Items, err
}

// Get returns one terminal, by id or name.
func (t terminals) Get(ctx context.Context, id string) (Terminal, error) {
	return t.API().GetTerminal(ctx, wire.GetTerminal{TerminalRef: wire.TerminalRef{ID: id}})
}

// Delete ends the terminal's whole process tree: SIGHUP, and SIGKILL to the rest after three
// seconds. Its last screen stays readable unless purge is set.
func (t terminals) Delete(ctx context.Context, id string, purge bool) error {
	_, err := t.API().DeleteTerminal(ctx,
		wire.DeleteTerminal{TerminalRef: wire.TerminalRef{ID: id}, Forget: wire.Forget{Purge: purge}})
	return err
}

// Resize changes the screen, 1..1000 columns and rows; the program gets SIGWINCH.
func (t terminals) Resize(ctx context.Context, id string, cols, rows int) error {
	_, err := t.API().ResizeTerminal(ctx,
		wire.ResizeTerminal{TerminalRef: wire.TerminalRef{ID: id}, Size: wire.Size{Cols: cols, Rows: rows}})
	return err
}

// Signal sends a signal (INT, SIGTERM, …) to the foreground process group.
func (t terminals) Signal(ctx context.Context, id, name string) error {
	_, err := t.API().SignalTerminal(ctx, wire.Signal{TerminalRef: wire.TerminalRef{ID: id}, Signal: name})
	return err
}

// Ticket makes a short-lived credential that may stand in a URL: with Login for the whole web page,
// else for the terminal PTY with the Role.
func (t terminals) Ticket(ctx context.Context, r wire.TicketRequest) (wire.Ticket, error) {
	return t.API().CreateTicket(ctx, r)
}
