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
	url  string // https://HOST[:PORT][/PATH], as a browser writes it, without a slash at its end
	path string // "" or /PATH
	host hostPort
}

// parsePublicURL reads --public-url; "" is none. It fails with ErrSetting.
func parsePublicURL(given string) (publicURL, error) {
	if given == "" {
		return publicURL{}, nil
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "https" || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return publicURL{}, fmt.Errorf("%w: public-url %q is not https://HOST, https://HOST:PORT or one of them with "+
			"a path", ErrSetting, given)
	}
	base, err := ParseBasePath(u.EscapedPath())
	if err != nil {
		return publicURL{}, fmt.Errorf("public-url %q: %w", given, err)
	}
	host, ok := parseHostPort(u.Host)
	if !ok {
		return publicURL{}, fmt.Errorf("%w: public-url %q: %q is not a host name or address, with or without a port",
			ErrSetting, given, u.Host)
	}
	p := publicURL{host: host.onPort("https")}
	p.path, p.url = base, "https://"+p.host.text()+base
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

// publicPath is what browsers have before the paths of our routes: that of the public URL, else the base path.
func (a *Auth) publicPath() string {
	if a.public.url != "" {
		return a.public.path
	}
	return a.basePath
}

// baseURL is the server as the client of r calls it: the public URL, else a browser's Origin, which
// the middleware found to be ours, else the Host.
func (a *Auth) baseURL(r *http.Request) string {
	if a.public.url != "" {
		return a.public.url
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin + a.basePath
	}
	scheme := schemeOf(r)
	if a.tls {
		scheme = "https" // a unix socket has none
	}
	if _, ok := parseHostPort(r.Host); !ok {
		return scheme + "://localhost" + a.basePath
	}
	return scheme + "://" + r.Host + a.basePath
}
