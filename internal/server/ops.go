package server

import (
	"context"
	_ "embed"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

//go:generate go run ../openapi/generate ../../wire openapi.json ../../webui/src/api/wire.gen.ts ../../client

//go:embed openapi.json
var openAPI []byte

func (s *Server) getOpenAPI(c echo.Context, _ wire.Nothing) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, openAPI)
}

func (s *Server) getVersion(context.Context, wire.Nothing) (wire.Version, error) {
	return wire.Version{Name: "evertty", Version: s.config.Version, API: httpapi.APIVersion}, nil
}

func (s *Server) getHealth(ctx context.Context, _ wire.Nothing) (wire.Health, error) {
	h := s.Health()
	if err := s.config.Audit.Trouble(); err != nil {
		h.Reasons = append(h.Reasons, err.Error())
	}
	reply := wire.Health{Status: "ok"}
	if len(h.Reasons) > 0 {
		reply.Status = "degraded"
	}
	if g := auth.GrantOf(ctx); g.Role != "" && g.Owner() == "" { // reasons name terminals
		reply.Damaged, reply.StartedAt = &h.Damaged, &s.started
		reply.Lossless, reply.Reasons, reply.Version, reply.PID = &h.Lossless, h.Reasons, s.config.Version, os.Getpid()
		if reply.Reasons == nil {
			reply.Reasons = []string{}
		}
	}
	return reply, nil
}

// getReady answers while requests are taken: the port is open only after the terminals were brought back, and closes
// first at the end.
func (s *Server) getReady(context.Context, wire.Nothing) (wire.Health, error) {
	return wire.Health{Status: "ok"}, nil
}

func (s *Server) getMetrics(c echo.Context, _ wire.Nothing) error {
	promhttp.HandlerFor(s.config.Metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())
	return nil
}

func (s *Server) getRoot(c echo.Context, _ wire.GetRoot) error {
	if httpapi.WantsHTML(c.Request()) {
		return s.getIndex(c)
	}
	list := wire.RouteList{Name: "evertty", Version: s.config.Version, Routes: []wire.RouteLine{}}
	for _, r := range s.routes {
		list.Routes = append(list.Routes, wire.RouteLine{Method: r.Method, Path: r.Path, Does: r.Does()})
	}
	return httpapi.WriteJSON(c, http.StatusOK, list)
}
