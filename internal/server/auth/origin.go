package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// hostPort is a host and a port as a browser writes them: the name in lower
// case, an address in its shortest form without brackets, "" for no port.
type hostPort struct{ name, port string }

// parseHostPort reads the Host syntax (RFC 9110 section 7.2) strictly: no empty
// port, no user, no zone, no trailing dot, nothing a browser would not send.
func parseHostPort(s string) (hostPort, bool) {
	name, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		name, port = s[:i], s[i+1:]
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' {
			return hostPort{}, false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return hostPort{}, false
		}
		return hostPort{addr.String(), port}, true
	}
	if name == "" || strings.HasSuffix(name, ".") || strings.ContainsFunc(name, notNameRune) {
		return hostPort{}, false
	}
	return hostPort{strings.ToLower(name), port}, true
}

// notNameRune is what no host name or IPv4 address contains. International
// names arrive in their ASCII form (RFC 5891).
func notNameRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r))
}

// onPort fills in the scheme's own port where none was written.
func (h hostPort) onPort(scheme string) hostPort {
	switch {
	case h.port != "":
	case scheme == "https":
		h.port = "443"
	default:
		h.port = "80"
	}
	return h
}

func (h hostPort) isLoopback() bool {
	addr, err := netip.ParseAddr(h.name)
	return h.name == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// hosts decides whom the server answers: by Host against DNS rebinding (a
// foreign name that resolves to us), by Origin and Sec-Fetch-Site against other
// sites' pages in our user's browser. It does not change once made.
type hosts struct {
	listen  string     // name or address we were told to listen on
	allowed []hostPort // --allowed-host; no port means any
	public  hostPort   // of --public-url, with its port; zero without one
}

// newHosts makes the allow-list; it fails with ErrSetting.
func newHosts(listen string, allowed []string) (*hosts, error) {
	where, err := parseListen(listen)
	if err != nil {
		return nil, err
	}
	h := &hosts{listen: where.host}
	for _, entry := range allowed {
		parsed, ok := parseHostPort(entry)
		if !ok {
			return nil, fmt.Errorf("%w: allowed-host %q is not a host name or address, with or without a port, such "+
				"as term.example.com or 10.0.0.5:3000",
				ErrSetting, entry)
		}
		h.allowed = append(h.allowed, parsed)
	}
	return h, nil
}

// checkHost refuses requests for a name that is not ours. Only local processes and proxies that they run connect to a
// unix socket: there any name is.
func (h *hosts) checkHost(r *http.Request) error {
	if _, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); ok {
		return nil
	}
	if host, ok := parseHostPort(r.Host); ok && h.isOurs(host, r) {
		return nil
	}
	return httpapi.NewError(http.StatusForbidden, "FORBIDDEN_HOST",
		"this server does not answer for the host %q; start it with --allowed-host and that name if it is meant to",
		httpapi.Clip(r.Host))
}

func (h *hosts) isOurs(host hostPort, r *http.Request) bool {
	if host.isLoopback() || host.name == h.listen || host.name == h.public.name || host.name == arrivedAt(r) {
		return true
	}
	return slices.ContainsFunc(h.allowed, func(a hostPort) bool {
		return a.name == host.name && (a.port == "" || a.port == host.onPort(schemeOf(r)).port)
	})
}

// arrivedAt is our own address of the request's connection. An address as Host
// cannot be the work of DNS rebinding.
func arrivedAt(r *http.Request) string {
	tcp, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return ""
	}
	addr, _ := netip.AddrFromSlice(tcp.IP)
	return addr.Unmap().String()
}

// checkOrigin refuses what another site's page sent. An Origin that is there
// must be ours whatever the request. Where nothing is said about the origin,
// programs pass; a browser's request that has effects or opens a stream passes
// when Sec-Fetch-Site says that it began with us or with the user. The path is
// the matched route's.
func (h *hosts) checkOrigin(r *http.Request, path string) error {
	origins, sites := r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")
	switch {
	case len(origins) > 1, len(origins) == 1 && !h.isOurOrigin(origins[0], r):
		return forbiddenOrigin(strings.Join(origins, ", "))
	case !isGuarded(r, path), len(sites) == 0:
		return nil
	case len(sites) == 1 && (sites[0] == "same-origin" || sites[0] == "none"):
		return nil
	}
	return forbiddenOrigin("Sec-Fetch-Site: " + strings.Join(sites, ", "))
}

func forbiddenOrigin(from string) *httpapi.Error {
	return httpapi.NewError(http.StatusForbidden, "FORBIDDEN_ORIGIN",
		"pages of another origin (%s) may not use this server; behind a proxy start it with --allowed-host and the "+
			"name the browser shows", httpapi.Clip(from))
}

// isOurOrigin compares an Origin (RFC 6454 section 6.2) with the request's own scheme, host and
// port, and with the allowed hosts: a proxy may serve those with TLS and under another Host.
// Browsers write an origin in one way only; other spellings are refused.
func (h *hosts) isOurOrigin(origin string, r *http.Request) bool {
	scheme, rest, ok := strings.Cut(origin, "://")
	if !ok || scheme != "http" && scheme != "https" || rest != strings.ToLower(rest) {
		return false
	}
	parsed, ok := parseHostPort(rest)
	if !ok {
		return false
	}
	from := parsed.onPort(scheme)
	if from.name == h.public.name {
		return scheme == "https" && from == h.public // never a page that came without TLS
	}
	host, hostOK := parseHostPort(r.Host)
	if hostOK && scheme == schemeOf(r) && from == host.onPort(scheme) {
		return true
	}
	return slices.ContainsFunc(h.allowed, func(a hostPort) bool {
		if a.port != "" {
			return from == a
		}
		return from == a.onPort(scheme) || from.name == a.name && from == host
	})
}

// isGuarded says whether a request has effects or opens a stream.
func isGuarded(r *http.Request, path string) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		return true
	}
	return IsUpgrade(r) || strings.HasSuffix(path, "/stream") || strings.HasSuffix(path, "/ws") ||
		strings.HasSuffix(path, "/logs") || strings.HasSuffix(path, "/events") ||
		slices.ContainsFunc(r.Header.Values("Accept"), func(v string) bool {
			return strings.Contains(strings.ToLower(v), "text/event-stream")
		})
}

// IsUpgrade recognises a WebSocket handshake, and anything that resembles one.
func IsUpgrade(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }
