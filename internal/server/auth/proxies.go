package auth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// trustUnix is the word of --trusted-proxy for whoever connects to the unix socket of --listen.
const trustUnix = "unix"

// proxies are the reverse proxies whose X-Forwarded-For, -Proto and -Host say who asked, how and for which host. The
// headers of everybody else are not looked at. It does not change once made.
type proxies struct {
	networks []netip.Prefix
	unix     bool
}

// parseProxies reads --trusted-proxy: networks, addresses, or the word unix. It fails with ErrSetting.
func parseProxies(given []string) (p proxies, err error) {
	for _, entry := range given {
		if entry == trustUnix {
			p.unix = true
			continue
		}
		network, err := netip.ParsePrefix(entry)
		if addr, noPrefix := netip.ParseAddr(entry); err != nil && noPrefix == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil || network.Addr().Is4In6() {
			return p, fmt.Errorf("%w: trusted-proxy %q is not a network or an address, such as 10.0.0.0/8, 127.0.0.1 or "+
				"fd00::/8, nor the word %s", ErrSetting, entry, trustUnix)
		}
		p.networks = append(p.networks, network.Masked())
	}
	return p, nil
}

// trusts reports whether an address, as net/http writes it, is of one of the proxies.
func (p *proxies) trusts(remote string) bool {
	if isUnixPeer(remote) {
		return p.unix
	}
	if at, err := netip.ParseAddrPort(remote); err == nil {
		return p.has(at.Addr())
	}
	return false
}

func (p *proxies) has(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, network := range p.networks {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// schemeKey holds in a request's context the scheme that a trusted proxy was asked by.
type schemeKey struct{}

// forward makes the request what the proxy got, when a trusted one sent it. It changes r: the router keeps the pointer.
func (p *proxies) forward(r *http.Request) {
	if !p.trusts(r.RemoteAddr) {
		return
	}
	ctx := r.Context()
	switch last(r.Header, "X-Forwarded-Proto") {
	case "https", "wss": // some proxies tell the scheme of a WebSocket
		ctx = context.WithValue(ctx, schemeKey{}, "https")
	case "http", "ws":
		ctx = context.WithValue(ctx, schemeKey{}, "http")
	}
	*r = *r.WithContext(ctx)
	if client, ok := p.client(r.Header); ok {
		r.RemoteAddr = netip.AddrPortFrom(client, 0).String() // the port is not told
	}
	if host := last(r.Header, "X-Forwarded-Host"); host != "" {
		r.Host = host
	}
}

// client is the address nearest to us that is no trusted proxy's: whatever is before it, anybody may have written.
func (p *proxies) client(h http.Header) (client netip.Addr, ok bool) {
	hops := strings.Split(strings.Join(h.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		addr, err := parseHop(strings.TrimSpace(hops[i]))
		if err != nil {
			return client, ok
		}
		client, ok = addr.Unmap(), true
		if !p.has(addr) {
			return client, true
		}
	}
	return client, ok
}

// parseHop reads an address of X-Forwarded-For, which some proxies write with a port.
func parseHop(s string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	return netip.ParseAddr(strings.Trim(s, "[]"))
}

// last is the value that the nearest proxy wrote.
func last(h http.Header, name string) string {
	values := h.Values(name)
	if len(values) == 0 {
		return ""
	}
	list := values[len(values)-1]
	return strings.ToLower(strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:]))
}

// schemeOf is the scheme that the client used: of the connection, or what a trusted proxy says.
func schemeOf(r *http.Request) string {
	if scheme, ok := r.Context().Value(schemeKey{}).(string); ok {
		return scheme
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// isUnixPeer reports whether a remote address is of a unix socket, which has none.
func isUnixPeer(remote string) bool { return remote == "" || remote == "@" }
