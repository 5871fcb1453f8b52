package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// addRoutes adds all routes. HEAD is answered wherever GET is, by the same function: net/http drops
// the body. OPTIONS names the methods of every path (RFC 9110, 9.3.2 and 9.3.7), to those that may
// use them; it says nothing about other origins.
func (s *Server) addRoutes(e *echo.Echo) {
	s.routes = s.offered()
	methods := map[string][]string{}
	for _, r := range s.routes {
		e.Add(r.Method, r.Path, s.handler(r))
		methods[r.Path] = append(methods[r.Path], r.Method)
		if r.Method == http.MethodGet {
			e.Add(http.MethodHead, r.Path, s.handler(r))
			methods[r.Path] = append(methods[r.Path], http.MethodHead)
		}
	}
	for path, list := range methods {
		list = append(list, http.MethodOptions)
		slices.Sort(list)
		allow := strings.Join(slices.Compact(list), ", ")
		e.Add(http.MethodOptions, path, func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderAllow, allow)
			return c.NoContent(http.StatusNoContent)
		})
	}
}
