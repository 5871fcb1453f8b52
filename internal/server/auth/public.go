package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// publicURL is where a proxy with TLS offers the server, "" and the zero host without one.
type publicURL struct {
	origin string // https://HOST[:PORT], as a browser writes it
	host   hostPort
}

// parsePublicURL reads --public-url; "" is none. It fails with ErrSetting.
func parsePublicURL(given string) (publicURL, error) {
	if given == "" {
		return publicURL{}, nil
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "https" || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return publicURL{}, fmt.Errorf("%w: public-url %q is not https://HOST or https://HOST:PORT", ErrSetting, given)
	}
	if u.Path != "" && u.Path != "/" {
		return publicURL{}, fmt.Errorf("%w: public-url %q has the path %q; the server is at the root of its host, so "+
			"give it a host of its own", ErrSetting, given, u.Path)
	}
	host, ok := parseHostPort(u.Host)
	if !ok {
		return publicURL{}, fmt.Errorf("%w: public-url %q: %q is not a host name or address, with or without a port",
			ErrSetting, given, u.Host)
	}
	p := publicURL{host: host.onPort("https")}
	p.origin = (&url.URL{Scheme: "https", Host: p.host.text()}).String()
	return p, nil
}

// text is a host on a port as a browser writes it for https.
func (h hostPort) text() string {
	if h.port != "443" {
		return net.JoinHostPort(h.name, h.port)
	}
	if strings.Contains(h.name, ":") {
		return "[" + h.name + "]"
	}
	return h.name
}

// strictTransport has browsers come back by TLS only, for a year.
const strictTransport = "max-age=31536000"

// baseURL is the server as the client of r calls it: the public URL, else a browser's Origin, which
// the middleware found to be ours, else the Host.
func (a *Auth) baseURL(r *http.Request) string {
	if a.public.origin != "" {
		return a.public.origin
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin
	}
	scheme := schemeOf(r)
	if a.tls {
		scheme = "https" // a unix socket has none
	}
	if _, ok := parseHostPort(r.Host); !ok {
		return scheme + "://localhost"
	}
	return scheme + "://" + r.Host
}
