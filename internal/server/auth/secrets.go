package auth

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// SecretsParam asks, with GET, for the values of variables that are session.Hidden otherwise.
const SecretsParam = "secrets"

// CheckSecrets fails with ErrReadOnly when a request asks for the values of secret variables without full access.
func CheckSecrets(ctx context.Context, asked bool) error {
	if !asked {
		return nil
	}
	if GrantOf(ctx).PTY != "" {
		return httpapi.ErrReadOnly
	}
	return RequireWrite(ctx)
}

// SecretsShown is CheckSecrets for a request whose query says it.
func SecretsShown(c echo.Context) (bool, error) {
	shown, err := httpapi.SwitchOf(c, SecretsParam)
	if err != nil {
		return false, err
	}
	return shown, CheckSecrets(c.Request().Context(), shown)
}
