package server

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/wire"
)

func (s *Server) postWait(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req wire.Wait
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	w, err := s.Waits.Wait(c.Request().Context(), t, req)
	if wait.NotMet(err) {
		return httpapi.ErrorFor(err, c).With("text", w.Text).With("seq", w.Seq)
	}
	if errors.Is(err, journal.ErrNotKept) {
		if j, err := t.Journal(); err == nil {
			return notKept(c, "since", *req.Since, j)
		}
	}
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, w)
}
