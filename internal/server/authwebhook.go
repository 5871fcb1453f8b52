package server

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// webhookPath is where providers tell what happened to an instance.
const webhookPath = "/api/webhooks/:provider"

// webhookHeader carries the secret that only this server and its providers know.
const webhookHeader = "X-Webhook-Secret"

var errBadSecret = errors.New("the header " + webhookHeader + " has not this server's secret for webhooks")

// isWebhook tells whether a request may come with the secret of webhooks in place of credentials.
func (a *Auth) isWebhook(c echo.Context) bool {
	return a.webhooks != nil && c.Path() == webhookPath && c.Request().Method == http.MethodPost
}

// allowWebhook refuses a provider that does not know the secret. Without a secret the usual credentials decide.
func (a *Auth) allowWebhook(c echo.Context) error {
	if a.webhooks == nil {
		return requireWrite(c)
	}
	if given := c.Request().Header.Values(webhookHeader); len(given) != 1 || !a.webhooks.equal(digestOf(given[0])) {
		return a.refuse(c, errBadSecret)
	}
	return nil
}
