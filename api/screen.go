package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// place says which screen a reply shows.
type place struct {
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Seq  uint64 `json:"seq"`
}

// The replies of GET …/snapshot, by format.
type (
	ansiReply struct {
		Data string `json:"data"`
		place
	}
	textReply struct {
		Text string `json:"text"`
		place
	}
	htmlReply struct {
		HTML string `json:"html"`
		place
	}
	jsonReply struct {
		snapshot.Screen
		Seq uint64 `json:"seq"`
	}
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
	reply, err := screenOf(c.QueryParam("format"), t.Hub().Shot(), lines)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, reply)
}

// screenOf is the reply in the wanted format with the last lines of history,
// all of it when lines is negative.
func screenOf(format string, shot *stream.Shot, lines int) (any, error) {
	f := shot.Frame
	at := place{f.Cols, f.Rows, shot.Seq}
	switch format {
	case "", "ansi":
		return ansiReply{string(shot.Last(lines)), at}, nil
	case "text":
		return textReply{snapshot.Text(f, lines), at}, nil
	case "html":
		return htmlReply{snapshot.HTML(f, lines), at}, nil
	case "json":
		return jsonReply{snapshot.JSON(f, lines), shot.Seq}, nil
	}
	return nil, badRequest("format %q: ansi, text, json or html are allowed", clip(format))
}

// scrollbackOf is how many lines of history the request wants, -1 for all.
func scrollbackOf(c echo.Context) (int, error) {
	v := c.QueryParam("scrollback")
	if v == "" || v == "-1" {
		return -1, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > vt.MaxScrollback {
		return 0, badRequest("scrollback %q: 0 to %d lines are allowed", clip(v), vt.MaxScrollback)
	}
	return n, nil
}
