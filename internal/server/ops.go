package server

import (
	_ "embed"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

//go:generate go run ../openapi/generate ../../wire openapi.json ../../webui/src/api/wire.gen.ts

//go:embed openapi.json
var openAPI []byte

func (s *Server) getOpenAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, openAPI)
}

func (s *Server) getVersion(c echo.Context) error {
	return c.JSON(http.StatusOK, wire.Version{Name: "evertty", Version: s.config.Version, API: httpapi.APIVersion})
}

func (s *Server) getHealth(c echo.Context) error {
	h := s.Health()
	if err := s.config.Audit.Trouble(); err != nil {
		h.Reasons = append(h.Reasons, err.Error())
	}
	reply := wire.Health{Status: "ok"}
	if len(h.Reasons) > 0 {
		reply.Status = "degraded"
	}
	if auth.GrantOf(c).Role != "" {
		reply.Damaged = &h.Damaged
		reply.Lossless, reply.Reasons, reply.Version, reply.PID = &h.Lossless, h.Reasons, s.config.Version, os.Getpid()
		if reply.Reasons == nil {
			reply.Reasons = []string{}
		}
	}
	return c.JSON(http.StatusOK, reply)
}

// getReady answers 200 while requests are taken: the port is open only after
// the terminals were brought back, and closes first at the end.
func (s *Server) getReady(c echo.Context) error {
	return c.JSON(http.StatusOK, wire.Health{Status: "ok"})
}

func (s *Server) getMetrics(c echo.Context) error {
	promhttp.HandlerFor(s.config.Metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())
	return nil
}

func (s *Server) getRoot(c echo.Context) error {
	if httpapi.WantsHTML(c.Request()) {
		return s.getIndex(c)
	}
	lines := []wire.RouteLine{}
	for _, r := range s.routes() {
		lines = append(lines, wire.RouteLine{Method: r.Method, Path: r.Path, Does: r.Does})
	}
	return c.JSON(http.StatusOK, map[string]any{"name": "evertty", "version": s.config.Version, "routes": lines})
}

func (s *Server) postTickets(c echo.Context) error { return s.config.Auth.HandleTickets(c) }

func (s *Server) deleteTickets(c echo.Context) error { return s.config.Auth.HandleEndTickets(c) }

func (s *Server) postLogout(c echo.Context) error { return s.config.Auth.HandleLogout(c) }
