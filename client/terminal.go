package client

import (
	"context"
	"errors"
	"slices"
	"strings"

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
	return t.Filter(ctx, wire.ListAllTerminals{Session: session})
}

// Filter returns the terminals that the request asks for.
func (t terminals) Filter(ctx context.Context, r wire.ListAllTerminals) ([]Terminal, error) {
	if r.Session == "" {
		reply, err := t.API().ListTerminals(ctx, r)
		return reply.Items, err
	}
	reply, err := t.API().ListSessionTerminals(ctx, wire.ListTerminals{SessionRef: wire.SessionRef{Session: r.Session},
		TerminalFilter: r.TerminalFilter, ShowSecrets: r.ShowSecrets, ShowUsage: r.ShowUsage, Page: r.Page})
	return reply.Items, err
}

// refsAtOnce bounds the references of one request: they are in its URL, which may have 32 KiB.
const refsAtOnce = 200

// Resolve returns the terminals that a person means, in the same order: by id, name, SESSION/NAME or the first four or
// more characters of an id. It asks once for each 200 of them. Errors: ErrNotFound, ErrAmbiguous.
func (t terminals) Resolve(ctx context.Context, refs ...string) (found []Terminal, err error) {
	for some := range slices.Chunk(refs, refsAtOnce) {
		list, err := t.Filter(ctx, wire.ListAllTerminals{TerminalFilter: wire.TerminalFilter{IDs: some}})
		if err != nil {
			return nil, err
		}
		if !slices.EqualFunc(some, list, means) { // a server that does not know ?id= lists all
			return nil, errors.New("client: the server is too old to find terminals; use their ids")
		}
		found = append(found, list...)
	}
	return found, nil
}

// means reports whether a reference can mean a terminal.
func means(ref string, t Terminal) bool {
	if _, name, ok := strings.Cut(ref, "/"); ok {
		ref = name
	}
	return ref == t.Name || strings.HasPrefix(t.ID, ref)
}

// Change changes name, labels, size policy, size or title: all that r has, or nothing.
func (t terminals) Change(ctx context.Context, id string, r wire.ChangeTerminal) (Terminal, error) {
	r.ID = id
	return t.API().ChangeTerminal(ctx, r)
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
