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

// defaultLeases is how many leases a list has unless asked otherwise: each costs some questions to
// the database.
const defaultLeases = 100

// leasePageOf is which part of the leases is asked for.
func leasePageOf(c echo.Context) (thread.LeaseQuery, error) {
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, defaultLeases)
	return thread.LeaseQuery{Provider: c.QueryParam("provider"), After: c.QueryParam("after"), Limit: int(limit)}, err
}

func (s *Service) getLeases(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	q, err := leasePageOf(c)
	if err != nil {
		return err
	}
	list, next, err := s.Threads.ListLeases(q)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.LeaseList{Leases: httpapi.OrNone(list), Next: next})
}

// leaseRequest is the body of POST /api/leases. Config is for the provider alone and is never told
// again.
type leaseRequest struct {
	ID       string                     `json:"id"`
	Provider string                     `json:"provider_name"`
	Config   map[string]json.RawMessage `json:"config"`
}

func (s *Service) postLease(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	var req leaseRequest
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	config := ""
	if req.Config != nil {
		b, err := httpapi.Encode(req.Config)
		if err != nil {
			return err
		}
		config = string(b)
	}
	if p := req.Provider; p != "" && p != thread.Local {
		if err := s.Check(c.Request().Context(), "", permission.ToolLeaseCreate, permission.ProviderArgs{Provider: p}); err != nil {
			return err
		}
	}
	l, err := s.Threads.CreateLease(req.ID, req.Provider, config)
	if err != nil {
		return err
	}
	auth.SetTarget(c.Request().Context(), l.LeaseID)
	return httpapi.WriteJSON(c, http.StatusCreated, l)
}

func (s *Service) getLease(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	l, err := s.Threads.Lease(id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, l)
}

func (s *Service) deleteLease(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	if err := s.Threads.CheckLease(c.Request().Context(), id, permission.ToolLeaseDestroy); err != nil {
		return err
	}
	if err := s.Threads.DeleteLease(context.WithoutCancel(c.Request().Context()), id); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

// changeLease changes the lease that a path names and replies with it.
func changeLease(c echo.Context, do func(context.Context, string) (wire.Lease, error)) error {
	return changeNamed(c, do, func(l wire.Lease) any { return l })
}

// changeCheckedLease is changeLease for what the permissions of all threads of the lease allow.
func (s *Service) changeCheckedLease(c echo.Context, tool string,
	do func(context.Context, string) (wire.Lease, error)) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	if err := s.Threads.CheckLease(c.Request().Context(), id, tool); err != nil {
		return err
	}
	return changeLease(c, do)
}

func (s *Service) postLeasePause(c echo.Context) error {
	return s.changeCheckedLease(c, permission.ToolPause, s.Threads.PauseLease)
}

func (s *Service) postLeaseResume(c echo.Context) error {
	return s.changeCheckedLease(c, permission.ToolResume, s.Threads.ResumeLease)
}

func (s *Service) postLeaseDestroy(c echo.Context) error {
	return s.changeCheckedLease(c, permission.ToolLeaseDestroy, s.Threads.DestroyLease)
}

func (s *Service) postLeaseRefresh(c echo.Context) error {
	return changeLease(c, s.Threads.RefreshLease)
}

func (s *Service) getLeaseEvents(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	after, err := httpapi.NumberOf(c, "after", 0, httpapi.MaxNumber, 0)
	if err != nil {
		return err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, maxRows)
	if err != nil {
		return err
	}
	list, err := s.Threads.LeaseEvents(id, after, int(limit))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.LeaseEvents{LeaseID: id, Events: wired(list)})
}

func (s *Service) getLeaseMetrics(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	m, err := s.Threads.LeaseMetrics(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, m)
}
