package server

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
)

func (s *Server) getStream(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	v, err := viewOf(c)
	if err != nil {
		return err
	}
	in, err := insideOf(c)
	if err != nil {
		return err
	}
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	release, err := s.Terminals.Nest(t, in)
	if err != nil {
		return err
	}
	defer release()
	v.Types = auth.GrantOf(c).Role == auth.Write
	sub := t.Hub().Subscribe(v)
	defer t.Leave(sub)
	viewer.ServeSSE(c.Response(), c.Request(), sub)
	return nil
}

func (s *Server) getWebSocket(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	v, err := s.socketViewer(c)
	if err != nil {
		return err
	}
	in, err := insideOf(c)
	if err != nil {
		return err
	}
	switch f := c.QueryParam("format"); f {
	case "", "json":
	case "binary":
		v.Binary = true
	default:
		return httpapi.BadRequest("format %q: json or binary are allowed", httpapi.Clip(f))
	}
	if err := requireUpgrade(c); err != nil {
		return err
	}
	release, err := s.Terminals.Nest(t, in)
	if err != nil {
		return err
	}
	defer release()
	viewer.ServeWebSocket(c.Response(), c.Request(), s.Threads.Checked(t), v)
	return nil
}

// socketViewer is what the connection of one terminal may do and wishes.
func (s *Server) socketViewer(c echo.Context) (viewer.Viewer, error) {
	v, err := s.viewer(c)
	if err != nil {
		return v, err
	}
	if v.HistoryOnce, err = historyOnce(c); err != nil {
		return v, err
	}
	v.Cols, v.Rows, err = wishedSize(c)
	return v, err
}

func (s *Server) getPage(c echo.Context) error {
	v, err := s.viewer(c)
	if err != nil {
		return err
	}
	if err := requireUpgrade(c); err != nil {
		return err
	}
	viewer.ServePage(c.Response(), c.Request(), s.Directory(), v)
	return nil
}

// handlePage serves a WebSocket whose first message has to say that its page is logged in. What is
// wrong with the request is said behind that, as an event.
func (s *Server) handlePage(c echo.Context, r httpapi.Route) error {
	show := func(page string) error { return s.config.Auth.ShowPage(c, page) }
	in, done, err := viewer.Login(c.Response(), c.Request(), show)
	if err != nil {
		return nil //nolint:nilerr // it is answered
	}
	defer done()
	c.SetRequest(in)
	if err := r.Handle(c); err != nil {
		viewer.Refuse(in, err, s.refusalOf(c))
	}
	return nil
}

func requireUpgrade(c echo.Context) error {
	if auth.IsUpgrade(c.Request()) {
		return nil
	}
	c.Response().Header().Set("Upgrade", "websocket")
	return httpapi.NewError(http.StatusUpgradeRequired, "UPGRADE_REQUIRED",
		"this is a WebSocket: connect with an upgrade request")
}

// viewer is what the connection may do.
func (s *Server) viewer(c echo.Context) (viewer.Viewer, error) {
	view, err := viewOf(c)
	return viewer.Viewer{
		ReadOnly:   auth.GrantOf(c).Role != auth.Write,
		Scrollback: view.Scrollback,
		Since:      view.Since,
		Closing:    s.Closing,
		Refusal:    s.refusalOf(c),
	}, err
}

// refusalOf names errors of a WebSocket, and writes those down that refuse who asks.
func (s *Server) refusalOf(c echo.Context) func(error) (code string, details map[string]any) {
	target := auth.RefusedTarget("WebSocket", c.Request().URL)
	return func(err error) (string, map[string]any) {
		e := httpapi.ErrorFor(err, c)
		if auth.IsRefusal(err) || errors.Is(err, httpapi.ErrViewerReadOnly) {
			s.config.Auth.Note(c, auth.AuditRefused, target, e.Code)
		}
		return e.Code, e.Details
	}
}

// viewOf reads the query of a stream: scrollback= and since=, the position up to
// which the viewer has everything.
func viewOf(c echo.Context) (v stream.Viewing, err error) {
	if q := c.QueryParam("since"); q != "" {
		since, err := strconv.ParseUint(q, 10, 64)
		if err != nil {
			return v, httpapi.BadRequest("since %q: a position in the output (a number from 0) is needed",
				httpapi.Clip(q))
		}
		// An EventSource that reconnects by itself asks with its first URL and says
		// here how far it has come.
		if last, err := strconv.ParseUint(c.Request().Header.Get("Last-Event-ID"), 10, 64); err == nil {
			since = max(since, last)
		}
		v.Since = &since
	}
	v.Scrollback, err = scrollbackOf(c)
	return v, err
}
