package server

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

func (ts *terminals) getStream(c echo.Context, in wire.WatchTerminal) error {
	t, err := ts.terminalOf(c.Request().Context(), in.TerminalRef)
	if err != nil {
		return err
	}
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	release, err := ts.Terminals.Nest(t, owner.Space(in.Session), in.Nesting)
	if err != nil {
		return err
	}
	defer release()
	who, err := whoOf(c, in.Watcher, stream.ClientAPI)
	if err != nil {
		return err
	}
	sub := t.Hub().Subscribe(stream.SubscribeOptions{Scrollback: in.Scrollback, Since: sinceOf(c, in.Resume), Who: who,
		Lazy: in.History == wire.HistoryLazy, Kicked: ts.auth.Revoker(c)})
	defer t.Detach(sub)
	viewer.ServeSSE(c.Response(), c.Request(), sub)
	return nil
}

func (ts *terminals) getWebSocket(c echo.Context, in wire.OpenSocket) error {
	t, err := ts.socketOf(c, in.TerminalRef, in.Cols, in.Rows, in.Nesting)
	if err != nil {
		return err
	}
	who, err := whoOf(c, in.Watcher, stream.ClientAPI)
	if err != nil {
		return err
	}
	var reader *journal.Reader
	if in.Format == formatRaw {
		if reader, err = rawAt(c, t, in.Since); err != nil {
			return err
		}
	}
	v, _ := ts.viewer(c, in.Lines, in.Resume)
	v.Who, v.Lazy, v.Cols, v.Rows = who, in.History == wire.HistoryLazy, in.Cols, in.Rows
	v.Binary, v.HistoryOnce = in.Format == "binary", in.History == "first"
	opened := false
	if reader != nil {
		opened = viewer.OpenRaw(c.Response(), c.Request(), ts.Threads.Checked(t), reader, v)
	} else {
		opened = viewer.OpenWebSocket(c.Response(), c.Request(), ts.Threads.Checked(t), v)
	}
	if !opened {
		v.Ended()
	}
	return nil
}

// socketOf is the terminal that a request for a WebSocket names, if it is a handshake that may show it. cols and rows
// are the viewer's, both or none.
func (ts *terminals) socketOf(c echo.Context, ref wire.TerminalRef, cols, rows int, in wire.Nesting) (*terminal.Terminal,
	error) {
	t, err := ts.terminalOf(c.Request().Context(), ref)
	if err != nil {
		return nil, err
	}
	if (cols == 0) != (rows == 0) {
		return nil, httpapi.BadRequest("cols %d, rows %d: both are needed, or none", cols, rows)
	}
	if err := requireUpgrade(c); err != nil {
		return nil, err
	}
	release, err := ts.Terminals.Nest(t, owner.Space(ref.Session), in)
	if err == nil {
		httpapi.AtEnd(c, release)
	}
	return t, err
}

// formatRaw is the program's bytes and nothing else.
const formatRaw = "raw"

// rawAt reads the output from a position on, from now on without one. Errors: 410 for a position that is not kept any
// more, 400 for one that has not come.
func rawAt(c echo.Context, t *terminal.Terminal, since *uint64) (*journal.Reader, error) {
	j, err := t.Journal()
	if err != nil {
		return nil, err
	}
	from := j.End()
	if since != nil {
		if from = *since; from > j.End() {
			return nil, httpapi.BadRequest("since %d: the output has come to %d only", from, j.End()).WithField("since")
		}
	}
	reader, err := j.Read(from)
	if errors.Is(err, journal.ErrNotKept) {
		e := httpapi.ErrorFor(notKept(c, "since", from, j), c)
		e.Status = http.StatusGone
		return nil, e
	}
	return reader, err
}

func (ts *terminals) getPage(c echo.Context, in wire.OpenPageSocket) error {
	if err := requireUpgrade(c); err != nil {
		return err
	}
	who, err := whoOf(c, in.Watcher, stream.ClientWeb)
	if err != nil {
		return err
	}
	v, own := ts.viewer(c, in.Lines, in.Resume)
	v.Who = who
	g := auth.GrantOf(c.Request().Context())
	show := func(t wire.Terminal) wire.Terminal {
		if !g.Everything() {
			t = forGuests(t)
		}
		return httpapi.Shown(own, t)
	}
	directory := ts.Directory(cmp.Or(g.Session, httpapi.SpaceOf(c.Request().Context())), g.PTY, show)
	if !viewer.OpenPage(c.Response(), c.Request(), directory, v) {
		v.Ended()
	}
	return nil
}

// forGuests is what a list says of a terminal to who sees its screen alone: not how it was made.
func forGuests(t wire.Terminal) wire.Terminal {
	t.Env, t.Labels, t.Restore = map[string]string{}, wire.Labels{}, nil
	t.PID, t.JournalBytes, t.MemoryBytes = 0, 0, 0
	return t
}

// handlePage serves a WebSocket whose first message has to say that its page is logged in. What is
// wrong with the request is said behind that, as an event.
func (s *Server) handlePage(c echo.Context, handle echo.HandlerFunc) error {
	show := func(page string) error { return s.config.Auth.ShowPage(c, page) }
	in, done, err := viewer.Login(c.Response(), c.Request(), show)
	if err != nil {
		return nil //nolint:nilerr // it is answered
	}
	c.SetRequest(in)
	if err := handle(c); err != nil {
		viewer.Refuse(in, err, refusalOf(c, s.config.Auth))
	}
	if !httpapi.Lasts(c) {
		done()
	}
	return nil
}

func requireUpgrade(c echo.Context) error {
	if auth.IsUpgrade(c.Request()) {
		return nil
	}
	c.Response().Header().Set("Upgrade", "websocket")
	return httpapi.ErrNoUpgrade
}

// viewer is what the connection may do and asks for. The connection goes on when the handler returns; its own part of
// the request is valid then, and v.Ended ends both.
func (ts *terminals) viewer(c echo.Context, history wire.Lines, from wire.Resume) (v viewer.Viewer, own echo.Context) {
	ctx, own, over := ts.auth.Last(c)
	return viewer.Viewer{
		ReadOnly:   auth.GrantOf(c.Request().Context()).Role != auth.Write,
		Scrollback: history.Scrollback,
		Since:      sinceOf(c, from),
		Sockets:    ts.sockets,
		Context:    ctx,
		Ended:      over,
		Kicked:     ts.auth.Revoker(own),
		Refusal:    refusalOf(own, ts.auth),
	}, own
}

// refusalOf names errors of a WebSocket, and writes those down that refuse who asks.
func refusalOf(c echo.Context, a *auth.Auth) viewer.Refusal {
	target := auth.RefusedTarget("WebSocket", c.Request().URL)
	return func(err error) (string, string, wire.ErrorDetails) {
		e := httpapi.ErrorFor(err, c)
		if auth.IsRefusal(err) || errors.Is(err, httpapi.ErrViewerReadOnly) {
			a.Note(c, auth.AuditRefused, target, e.Code)
		}
		return e.Message, e.Code, e.Details
	}
}

// sinceOf is the position up to which the viewer has everything, nil without one. An EventSource that reconnects by
// itself asks with its first URL and says in the header how far it has come.
func sinceOf(c echo.Context, from wire.Resume) *uint64 {
	if from.Since == nil {
		return nil
	}
	since := *from.Since
	if last, err := strconv.ParseUint(c.Request().Header.Get("Last-Event-ID"), 10, 64); err == nil {
		since = max(since, last)
	}
	return &since
}
