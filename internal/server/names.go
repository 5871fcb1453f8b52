package server

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// unescapeNames gives handlers the names in the path as they are. The router leaves
// them escaped when a path holds an escaped slash (net/url, URL.RawPath).
func unescapeNames(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().URL.RawPath == "" {
			return next(c)
		}
		names := c.ParamValues()
		for i, name := range names {
			plain, err := url.PathUnescape(name)
			if err != nil {
				return httpapi.BadRequest("the path: %v", err)
			}
			names[i] = plain
		}
		c.SetParamValues(names...)
		return next(c)
	}
}
