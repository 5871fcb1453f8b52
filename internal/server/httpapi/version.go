package httpapi

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// APIVersion grows when a name of the contract changes its meaning.
const APIVersion = 1

// versionHeader names the version of the contract: a reply says which the server
// speaks, a request may say which it was written for.
const versionHeader = "X-Evertty-API"

// SpeakVersion refuses requests for a version that this server does not speak, before
// they have any effect. A client of another time learns that at once, not by a field
// that means something else.
func SpeakVersion(next echo.HandlerFunc) echo.HandlerFunc {
	spoken := strconv.Itoa(APIVersion)
	return func(c echo.Context) error {
		for _, wanted := range c.Request().Header.Values(versionHeader) {
			if wanted != spoken {
				e := NewError(http.StatusBadRequest, "UNSUPPORTED_API_VERSION",
					"this server speaks version %s of its API, not %q; leave the header %s out or say %s", spoken,
					Clip(wanted), versionHeader, spoken)
				e.Details.Spoken = []int{APIVersion}
				return e
			}
		}
		return next(c)
	}
}
