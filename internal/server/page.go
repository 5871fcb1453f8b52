package server

import (
	"io/fs"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/webui"
	"github.com/evertty/evertty/wire"
)

// pageFiles serves the web page, or one that says how to build it. It reads its
// files once, for the first request.
var pageFiles = webui.Handler()

// getIndex sends the page itself.
func (s *Server) getIndex(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderVary, echo.HeaderAccept)
	pageFiles.ServeHTTP(c.Response(), c.Request())
	return nil
}

// getPageFile sends a file that belongs to the page.
func (s *Server) getPageFile(c echo.Context, _ wire.GetAsset) error {
	name := strings.TrimPrefix(path.Clean("/"+c.Request().URL.Path), "/")
	if info, err := fs.Stat(webui.Files(), name); err != nil || !info.Mode().IsRegular() {
		return echo.ErrNotFound
	}
	pageFiles.ServeHTTP(c.Response(), c.Request())
	return nil
}
