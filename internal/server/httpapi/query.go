package httpapi

import (
	"slices"
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

// MaxPage bounds what a client may ask for with `limit`.
const MaxPage = 1000

// PageOf is which part of a list is asked for: at most limit, 0 is all, behind the one with the id after, "" is the
// first.
func PageOf(c echo.Context) (after string, limit int, err error) {
	n, err := NumberOf(c, "limit", 1, MaxPage, 0)
	return c.QueryParam("after"), int(n), err
}

// PartOf is that part of a list, and the after of the next one, "" at the end. ok is false when the list has no such
// id.
func PartOf[T any](list []T, after string, limit int, id func(T) string) (part []T, next string, ok bool) {
	if after != "" {
		i := slices.IndexFunc(list, func(v T) bool { return id(v) == after })
		if i < 0 {
			return nil, "", false
		}
		list = list[i+1:]
	}
	if limit > 0 && limit < len(list) {
		return list[:limit], id(list[limit-1]), true
	}
	return list, "", true
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
