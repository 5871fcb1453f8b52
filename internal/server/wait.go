package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// waitRequest is the body of POST …/wait: one condition, or any of several.
type waitRequest struct {
	waitCondition
	Any        []waitCondition `json:"any"`
	TimeoutMS  int64           `json:"timeout_ms"`
	Since      *uint64         `json:"since"`
	IgnoreEcho bool            `json:"ignore_echo"`
}

// waitCondition is what is waited for.
type waitCondition struct {
	For        string `json:"for"`
	Pattern    string `json:"pattern"`
	IdleMS     int64  `json:"idle_ms"`
	Not        bool   `json:"not"`
	ScreenOnly bool   `json:"screen_only"`
	X          *int   `json:"x"`
	Y          *int   `json:"y"`
	Mode       string `json:"mode"`
	Value      any    `json:"value"`
}

func (c waitCondition) empty() bool {
	return c.For == "" && c.Pattern == "" && c.IdleMS == 0 && !c.Not && !c.ScreenOnly && c.X == nil && c.Y == nil &&
		c.Mode == "" && c.Value == nil
}

// request is what r asks for. Errors say what is not allowed.
func (r waitRequest) request() (wait.Request, error) {
	w := wait.Request{Timeout: time.Duration(r.TimeoutMS) * time.Millisecond, Since: r.Since, IgnoreEcho: r.IgnoreEcho}
	if r.TimeoutMS < 0 || r.TimeoutMS > maxMS {
		return w, httpapi.BadRequest("timeout_ms %d: 0 to %d are allowed", r.TimeoutMS, maxMS)
	}
	list := r.Any
	switch {
	case list == nil:
		list = []waitCondition{r.waitCondition}
	case !r.empty():
		return w, httpapi.BadRequest(`"any" has all conditions: the others belong into it`)
	}
	for _, c := range list {
		if c.IdleMS < 0 || c.IdleMS > maxMS {
			return w, httpapi.BadRequest("idle_ms %d: 0 to %d are allowed", c.IdleMS, maxMS)
		}
		w.Any = append(w.Any, wait.Condition{For: c.For, Pattern: c.Pattern,
			Idle: time.Duration(c.IdleMS) * time.Millisecond,
			Not:  c.Not, ScreenOnly: c.ScreenOnly, X: c.X, Y: c.Y, Mode: c.Mode, Value: c.Value})
	}
	return w, nil
}

// waitReply says what was there when the condition came true.
type waitReply struct {
	Matched bool         `json:"matched"`
	Text    string       `json:"text"`
	Seq     uint64       `json:"seq"`
	Index   *int         `json:"index,omitempty"` // only of "any"
	Match   *wire.Match  `json:"match,omitempty"`
	Exit    *stream.Exit `json:"exit,omitempty"`
}

// maxMS bounds numbers of milliseconds before they become durations.
const maxMS = int64(wait.MaxTimeout / time.Millisecond)

func (s *Server) postWait(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req waitRequest
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	asked, err := req.request()
	if err != nil {
		return err
	}
	w, err := s.Waits.Wait(c.Request().Context(), t, asked)
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
	reply := waitReply{Matched: true, Text: w.Text, Seq: w.Seq, Exit: t.Info().Exit}
	if req.Any != nil {
		reply.Index = &w.Index
	}
	if m := w.Match; m != nil {
		reply.Match = &wire.Match{Text: m.Text, StartSeq: m.Start, EndSeq: m.End}
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}
