package server

import (
	"strconv"

	"github.com/labstack/echo/v4"
)

// switchOf is a parameter of the query that is 0 or 1; absent is 0.
func switchOf(c echo.Context, name string) (bool, error) {
	switch v := c.QueryParam(name); v {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	default:
		return false, badRequest("%s %q: 0 or 1 are allowed", name, clip(v))
	}
}

// numberOf is a whole number in the query.
func numberOf(c echo.Context, name string, low, high, otherwise int64) (int64, error) {
	q := c.QueryParam(name)
	if q == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(q, 10, 64)
	if err != nil || n < low || n > high {
		return 0, badRequest("%s %q: %d to %d are allowed", name, clip(q), low, high)
	}
	return n, nil
}

// orNone is a list that is [] in JSON when it is empty.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// maxNumber bounds what numbers of events and entries may be, so that one more still is a number in JSON.
const maxNumber = 1 << 53
