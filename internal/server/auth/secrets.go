package auth

import (
	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// SecretsParam asks, with GET, for the values of variables that are session.Hidden otherwise.
const SecretsParam = "secrets"

// SecretsShown reports whether the request asks for the values of secret variables. Errors:
// ErrReadOnly without full access; 400 for a value other than 0 and 1.
func SecretsShown(c echo.Context) (bool, error) {
	shown, err := httpapi.SwitchOf(c, SecretsParam)
	if err != nil || !shown {
		return false, err
	}
	if err := RequireWrite(c); err != nil {
		return false, err
	}
	if GrantOf(c).PTY != "" {
		return false, httpapi.ErrReadOnly
	}
	return true, nil
}
