package auth

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// WebhookPath is the route for reports of providers about their instances.
const WebhookPath = "/api/webhooks/:provider"

// webhookHeader carries the secret that only this server and its providers know.
const webhookHeader = "X-Webhook-Secret"

var errBadSecret = errors.New("the header " + webhookHeader + " has not this server's secret for webhooks")

// isWebhook reports whether the webhook secret may authenticate the request.
func (a *Auth) isWebhook(c echo.Context) bool {
	return a.Webhooks != nil && c.Path() == WebhookPath && c.Request().Method == http.MethodPost
}

// AllowWebhook refuses a provider without the secret. If none is configured, the usual credentials
// decide.
func (a *Auth) AllowWebhook(c echo.Context) error {
	if a.Webhooks == nil {
		return RequireWrite(c)
	}
	if given := c.Request().Header.Values(webhookHeader); len(given) != 1 || !a.Webhooks.equal(DigestOf(given[0])) {
		return a.refuse(c, errBadSecret)
	}
	return nil
}
