package threadapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

func (s *Service) getSandboxTypes(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.SandboxTypes{Types: s.Threads.SandboxTypes()})
}

func (s *Service) getSandboxSessions(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	q, err := leasePageOf(c)
	if err != nil {
		return err
	}
	list, next, err := s.Threads.SandboxSessions(q)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.SandboxSessions{Sessions: list, Next: next})
}
