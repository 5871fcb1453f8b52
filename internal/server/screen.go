package server

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

func (s *Server) getSnapshot(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	lines, err := scrollbackOf(c)
	if err != nil {
		return err
	}
	format := stream.Format(c.QueryParam("format"))
	switch format {
	case "":
		format = stream.FormatANSI
	case stream.FormatANSI, stream.FormatText, stream.FormatHTML, stream.FormatJSON:
	default:
		return httpapi.BadRequest("format %q: ansi, text, json or html are allowed", httpapi.Clip(string(format)))
	}
	body := httpapi.NewBodyWriter(c)
	if err := t.Hub().WriteSnapshot(c.Request().Context(), body, format, lines); err != nil {
		if body.Begun {
			panic(http.ErrAbortHandler) // the reply cannot be finished, and must not look whole
		}
		return err
	}
	return body.Finish()
}

// scrollbackOf is how many lines of history the request wants, -1 for all.
func scrollbackOf(c echo.Context) (int, error) {
	v := c.QueryParam("scrollback")
	if v == "" || v == "-1" {
		return -1, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > vt.MaxScrollback {
		return 0, httpapi.BadRequest("scrollback %q: -1 (all), or 0 to %d lines are allowed", httpapi.Clip(v),
			vt.MaxScrollback)
	}
	return n, nil
}
