package api

import (
	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/webui"
)

// pageFiles serves the web page, or one that says how to build it. It reads its
// files once, when the program starts.
var pageFiles = webui.Handler()

// getPageFile sends a file of the web page; `/` is the page itself.
func (s *Server) getPageFile(c echo.Context) error {
	pageFiles.ServeHTTP(c.Response(), c.Request())
	return nil
}
