package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/mux"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
)

// waitRequest is the body of POST …/wait.
type waitRequest struct {
	For       string  `json:"for"`
	Pattern   string  `json:"pattern"`
	IdleMS    int64   `json:"idle_ms"`
	TimeoutMS int64   `json:"timeout_ms"`
	Since     *uint64 `json:"since"`
}

// waitReply says what was there when the condition came true.
type waitReply struct {
	Matched bool         `json:"matched"`
	Text    string       `json:"text"`
	Seq     uint64       `json:"seq"`
	Exit    *stream.Exit `json:"exit,omitempty"`
}

// maxMS bounds numbers of milliseconds before they become durations.
const maxMS = int64(mux.MaxWait / time.Millisecond)

func (s *Server) postWait(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req waitRequest
	if err := bind(c, &req); err != nil {
		return err
	}
	if req.IdleMS < 0 || req.IdleMS > maxMS || req.TimeoutMS < 0 || req.TimeoutMS > maxMS {
		return badRequest("idle_ms %d, timeout_ms %d: 0 to %d are allowed", req.IdleMS, req.TimeoutMS, maxMS)
	}
	w, err := t.Wait(c.Request().Context(), mux.Condition{For: req.For, Pattern: req.Pattern, Since: req.Since,
		Idle: time.Duration(req.IdleMS) * time.Millisecond, Timeout: time.Duration(req.TimeoutMS) * time.Millisecond})
	if errors.Is(err, mux.ErrTimeout) || errors.Is(err, mux.ErrExited) {
		return errorFor(err, c).with("text", w.Text).with("seq", w.Seq)
	}
	if errors.Is(err, snapshot.ErrNotKept) {
		if j, err := t.Journal(); err == nil {
			return notKept(c, "since", *req.Since, j)
		}
	}
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, waitReply{true, w.Text, w.Seq, t.Info().Exit})
}
