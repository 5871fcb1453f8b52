package httpapi

import (
	"strconv"

	"github.com/labstack/echo/v4"
)

// SwitchOf is a parameter of the query that is 0 or 1; absent is 0.
func SwitchOf(c echo.Context, name string) (bool, error) {
	switch v := c.QueryParam(name); v {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	default:
		return false, BadRequest("%s %q: 0, 1, false or true are allowed", name, Clip(v))
	}
}

// NumberOf is a whole number in the query.
func NumberOf(c echo.Context, name string, low, high, otherwise int64) (int64, error) {
	q := c.QueryParam(name)
	if q == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(q, 10, 64)
	if err != nil || n < low || n > high {
		return 0, BadRequest("%s %q: %d to %d are allowed", name, Clip(q), low, high)
	}
	return n, nil
}

// OrNone is a list that is [] in JSON when it is empty.
func OrNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MaxNumber bounds what numbers of events and entries may be, so that one more still is a number in
// JSON.
const MaxNumber = 1 << 53
