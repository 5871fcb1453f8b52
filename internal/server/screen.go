package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

func (ts *terminals) getSnapshot(c echo.Context, in wire.GetSnapshot) error {
	t, err := ts.terminalOf(c.Request().Context(), in.TerminalRef)
	if err != nil {
		return err
	}
	body := httpapi.NewBodyWriter(c)
	if err := t.Hub().WriteSnapshot(c.Request().Context(), body, in.Format, in.Scrollback); err != nil {
		if body.Begun {
			panic(http.ErrAbortHandler) // the reply cannot be finished, and must not look whole
		}
		return err
	}
	return body.Finish()
}
