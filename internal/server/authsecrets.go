package server

import (
	"github.com/labstack/echo/v4"
)

// secretsParam asks, with GET, for the values of variables that are session.Hidden otherwise.
const secretsParam = "secrets"

// secretsShown tells whether the request asks for true values. Errors: ErrReadOnly for those that may not do everything; 400 for another value than 0 and 1.
func secretsShown(c echo.Context) (bool, error) {
	shown, err := switchOf(c, secretsParam)
	if err != nil || !shown {
		return false, err
	}
	if err := requireWrite(c); err != nil {
		return false, err
	}
	if grantOf(c).PTY != "" {
		return false, ErrReadOnly
	}
	return true, nil
}
