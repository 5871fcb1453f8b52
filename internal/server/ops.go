package server

import (
	_ "embed"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
)

//go:generate go run ../openapi/generate ../../wire openapi.json

//go:embed openapi.json
var openAPI []byte

func (s *Server) getOpenAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, openAPI)
}

// versionReply is the reply of GET /version.
type versionReply struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	API     int    `json:"api"`
}

func (s *Server) getVersion(c echo.Context) error {
	return c.JSON(http.StatusOK, versionReply{"evertty", s.config.Version, httpapi.APIVersion})
}

// healthReply is the reply of GET /healthz; without credentials it is only the
// status.
type healthReply struct {
	Status   string   `json:"status"` // ok or degraded
	Lossless *bool    `json:"lossless,omitempty"`
	Reasons  []string `json:"reasons,omitzero"`
	Damaged  *int     `json:"damaged,omitempty"`
	Version  string   `json:"version,omitempty"`
	PID      int      `json:"pid,omitempty"`
}

func (s *Server) getHealth(c echo.Context) error {
	h := s.Health()
	if err := s.config.Audit.Trouble(); err != nil {
		h.Reasons = append(h.Reasons, err.Error())
	}
	reply := healthReply{Status: "ok"}
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
	return c.JSON(http.StatusOK, healthReply{Status: "ok"})
}

func (s *Server) getMetrics(c echo.Context) error {
	promhttp.HandlerFor(s.config.Metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())
	return nil
}

// routeLine is a route in the list of GET /.
type routeLine struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Does   string `json:"does"`
}

func (s *Server) getRoot(c echo.Context) error {
	if httpapi.WantsHTML(c.Request()) {
		return s.getIndex(c)
	}
	lines := []routeLine{}
	for _, r := range s.routes() {
		lines = append(lines, routeLine{r.Method, r.Path, r.Does})
	}
	return c.JSON(http.StatusOK, map[string]any{"name": "evertty", "version": s.config.Version, "routes": lines})
}

func (s *Server) postTickets(c echo.Context) error { return s.config.Auth.HandleTickets(c) }
