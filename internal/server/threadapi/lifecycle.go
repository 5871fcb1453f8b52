package threadapi

import (
	"context"
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
	return httpapi.WriteJSON(c, http.StatusOK, l.WireSession())
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

// policyCall is wire.SetPolicy as permissions and approvals see it: a budget is whole, with its zeros.
type policyCall struct {
	Idle   *float64    `json:"idle_seconds,omitempty"`
	Max    *float64    `json:"max_seconds,omitempty"`
	Budget *budgetCall `json:"budget,omitempty"`
}

type budgetCall struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	Commands   int64   `json:"commands"`
	Bytes      int64   `json:"bytes"`
}

func (s *Service) patchThreadPolicy(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	var req wire.SetPolicy
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	l, err := s.Threads.Thread(c.Request().Context(), id)
	if err != nil {
		return err
	}
	p, err := l.Thread.Policy.With(req)
	if err != nil {
		return err
	}
	call := policyCall{req.IdleSeconds, req.MaxSeconds, (*budgetCall)(req.Budget)}
	if err := s.Check(c.Request().Context(), id, permission.ToolPolicy, call); err != nil {
		return err
	}
	if l, err = s.Threads.SetThreadPolicy(c.Request().Context(), id, p); err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, l.Wire())
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
	return httpapi.WriteJSON(c, http.StatusOK, wire.ThreadTerminals{Terminals: httpapi.OrNone(list), Next: next})
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
	reply := l.WireTerminal()
	reply.EnvDelta = thread.HideSecrets(reply.EnvDelta)
	return httpapi.WriteJSON(c, http.StatusOK, reply)
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
	states := wired(list)
	for i := range states {
		if !shown {
			states[i].EnvDelta = thread.HideSecrets(states[i].EnvDelta)
		}
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.TerminalStates{States: states})
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
	reply.EnvDelta = thread.HideSecrets(reply.EnvDelta)
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}
