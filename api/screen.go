package api

import (
	"fmt"
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
	shot, format := t.Hub().Shot(), c.QueryParam("format")
	if format == "" || format == "ansi" {
		return writeBody(c, http.StatusOK, ansiReply(shot, lines))
	}
	reply, err := screenOf(format, shot, lines)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, reply)
}

// ansiReply is {"data","cols","rows","seq"}. It is put together by hand, because
// the snapshot is escaped already for the viewers and may have a megabyte.
func ansiReply(shot *stream.Shot, lines int) []byte {
	b := shot.AppendQuoted([]byte(`{"data":`), lines)
	return fmt.Appendf(b, `,"cols":%d,"rows":%d,"seq":%d}`+"\n", shot.Frame.Cols, shot.Frame.Rows, shot.Seq)
}

// screenOf is the reply in a format besides ansi, with the last lines of history,
// all of it when lines is negative.
func screenOf(format string, shot *stream.Shot, lines int) (any, error) {
	f := shot.Frame
	at := place{f.Cols, f.Rows, shot.Seq}
	switch format {
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
