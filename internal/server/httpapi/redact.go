package httpapi

import (
	"net/url"
	"slices"
	"strings"
)

// secretParams are query parameters whose values never reach a log: ours, and
// the ones by which people wrongly send a token.
var secretParams = []string{"ticket", "token", "access_token", "auth", "authorization", "key", "password"}

// sharePath begins paths whose next part is a ticket.
const sharePath = "/t/"

// RedactURL returns path and query of u as a log may have them: clipped, with
// every secret replaced. It works on the raw query, because a malformed one is
// logged too.
func RedactURL(u *url.URL) string {
	path := u.EscapedPath()
	if n := len(sharePath); len(path) > n && strings.EqualFold(path[:n], sharePath) {
		path = sharePath + "REDACTED"
	}
	if u.RawQuery == "" {
		return Clip(path)
	}
	pairs := strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' })
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || slices.Contains(secretParams, strings.ToLower(plain)) {
			pairs[i] = name + "=REDACTED"
		}
	}
	return Clip(path + "?" + strings.Join(pairs, "&"))
}
