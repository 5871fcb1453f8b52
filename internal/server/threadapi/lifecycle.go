package threadapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

func (s *Service) postThreadTouch(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	l, err := s.Threads.TouchThread(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return sendSession(c, l)
}

// changeThread changes the thread that a path names and replies with it.
func changeThread(c echo.Context, do func(context.Context, string) (thread.Layers, error)) error {
	return changeNamed(c, do, threadView)
}

// changeNamed does something to what a path names, also when the client hangs up, and replies with
// a view of it.
func changeNamed[T any](c echo.Context, do func(context.Context, string) (T, error), view func(T) any) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	v, err := do(context.WithoutCancel(c.Request().Context()), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, view(v))
}

func (s *Service) postThreadPause(c echo.Context) error {
	return s.changeCheckedThread(c, permission.ToolPause, s.Threads.PauseThread)
}

func (s *Service) postThreadResume(c echo.Context) error {
	return s.changeCheckedThread(c, permission.ToolResume, s.Threads.ResumeThread)
}

// changeCheckedThread is changeThread for what its permissions allow.
func (s *Service) changeCheckedThread(c echo.Context, tool string,
	do func(context.Context, string) (thread.Layers, error)) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), id, tool, permission.NoArgs{}); err != nil {
		return err
	}
	return changeThread(c, do)
}

func (s *Service) deleteThreadSandbox(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	if err := s.Threads.CheckEnd(c.Request().Context(), id); err != nil {
		return err
	}
	return changeThread(c, s.Threads.DestroyThread)
}

// policyRequest is a policy in a request. What is absent stays as it was; a budget is given as a
// whole.
type policyRequest struct {
	Idle   *float64       `json:"idle_seconds,omitempty"`
	Max    *float64       `json:"max_seconds,omitempty"`
	Budget *budgetRequest `json:"budget,omitempty"`
}

// budgetRequest is what a session may use; 0 of something is as much as it likes.
type budgetRequest struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	Commands   int64   `json:"commands"`
	Bytes      int64   `json:"bytes"`
}

// over is the policy p with what the request has.
func (r *policyRequest) over(p thread.Policy) (thread.Policy, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return p, err
	}
	return p, p.UnmarshalJSON(b)
}

func (s *Service) patchThreadPolicy(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	var req policyRequest
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	l, err := s.Threads.Thread(c.Request().Context(), id)
	if err != nil {
		return err
	}
	p, err := req.over(l.Thread.Policy)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), id, permission.ToolPolicy, req); err != nil {
		return err
	}
	if l, err = s.Threads.SetThreadPolicy(c.Request().Context(), id, p); err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, l.ThreadReply())
}

// threadTerminalsReply is the reply of GET …/terminals.
type threadTerminalsReply struct {
	Terminals []thread.TerminalReply `json:"terminals"`
	Next      string                 `json:"next,omitempty"`
}

func (s *Service) getThreadTerminals(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	after, limit, err := httpapi.PageOf(c)
	if err != nil {
		return err
	}
	list, next, err := s.Threads.ThreadTerminals(c.Request().Context(), id, after, limit)
	if err != nil {
		return err
	}
	if err := hideTerminals(c, list); err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, threadTerminalsReply{httpapi.OrNone(list), next})
}

func (s *Service) postTerminalActivate(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	l, err := s.Threads.ActivateTerminal(c.Request().Context(), id, c.Param("tid"))
	if err != nil {
		return err
	}
	reply := l.TerminalReply()
	reply.Env = thread.HideSecrets(reply.Env)
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

// stateReply is one version of a terminal's state, which has its number under both names.
type stateReply struct {
	thread.State
	Number int64 `json:"version"`
}

// historyReply is the reply of GET …/history.
type historyReply struct {
	States []stateReply `json:"states"`
}

func (s *Service) getTerminalHistory(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	list, err := s.Threads.TerminalHistory(c.Request().Context(), id, c.Param("tid"))
	if err != nil {
		return err
	}
	shown, err := auth.SecretsShown(c)
	if err != nil {
		return err
	}
	reply := historyReply{States: make([]stateReply, 0, len(list))}
	for _, state := range list {
		if !shown {
			state.Env = thread.HideSecrets(state.Env)
		}
		reply.States = append(reply.States, stateReply{state, state.Version})
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func (s *Service) postTerminalRollback(c echo.Context) error {
	var req wire.Rollback
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if req.Version == nil || *req.Version < 0 {
		return httpapi.BadRequest(`"version" is needed: the number of an earlier state, from 0`).With("field",
			"version")
	}
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), id, permission.ToolRollback,
		permission.RollbackArgs{Terminal: c.Param("tid"), Version: *req.Version}); err != nil {
		return err
	}
	reply, err := s.Threads.RollbackTerminal(context.WithoutCancel(c.Request().Context()), id, c.Param("tid"), *req.Version)
	if err != nil {
		return err
	}
	reply.Env = thread.HideSecrets(reply.Env)
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}
