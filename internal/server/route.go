package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// route is one line of what the server offers.
type route struct {
	method, path string
	handle       echo.HandlerFunc
	effect       bool // needs the role write
	stream       bool // goes on for long: no deadline for the whole
	does         string
}

// bareCalls end the paths of calls that have no body.
var bareCalls = []string{"/touch", "/pause", "/resume", "/activate", "/clear", "/drain", "/destroy", "/refresh", "/kill-all"}

// bare tells whether the call has no body, though its method may have one.
func (r route) bare() bool {
	switch r.method {
	case http.MethodDelete:
		return !strings.HasPrefix(r.path, "/api/file/") // which name the file in it
	case http.MethodPost:
		return slices.ContainsFunc(bareCalls, func(end string) bool { return strings.HasSuffix(r.path, end) })
	}
	return false
}
