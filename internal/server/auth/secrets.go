package auth

import (
	"context"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// SecretsParam asks, with GET, for the values of variables that are session.Hidden otherwise.
const SecretsParam = "secrets"

// CheckSecrets fails with ErrReadOnly when a request asks for the values of secret variables without full access.
func CheckSecrets(ctx context.Context, asked bool) error {
	if !asked {
		return nil
	}
	if !GrantOf(ctx).Everything() {
		return httpapi.ErrReadOnly
	}
	return RequireWrite(ctx)
}
