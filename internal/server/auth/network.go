package auth

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
)

// networkURL is the server for other machines: baseURL with an address of this one, where it listens on all of them and
// the client of r called it by a loopback address. "" where that is not so, or the machine has no such address.
func (a *Auth) networkURL(r *http.Request) string {
	u, err := url.Parse(a.baseURL(r))
	if err != nil || !a.hosts.everywhere() || !(hostPort{name: u.Hostname()}).isLoopback() {
		return ""
	}
	port := u.Port()
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		port = strconv.Itoa(at.Port) // the port of the Host header may be forwarded
	}
	interfaces, _ := net.Interfaces() // without them there is none
	addr := addressForOthers(interfaces, a.hosts.listen)
	if !addr.IsValid() || port == "" {
		return ""
	}
	u.Host = net.JoinHostPort(addr.String(), port)
	return u.String()
}

// everywhere reports whether the server listens on every address of the machine.
func (h *hosts) everywhere() bool {
	addr, err := netip.ParseAddr(h.listen)
	return h.listen == "" || err == nil && addr.IsUnspecified()
}

// addressForOthers is the first unicast address of an interface that is up which other machines reach: of version 4,
// else of version 6 unless only 0.0.0.0 is listened on. It is not valid when there is none.
func addressForOthers(interfaces []net.Interface, listen string) (other netip.Addr) {
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		list, _ := i.Addrs() // one that is gone has none
		for _, a := range list {
			prefix, err := netip.ParsePrefix(a.String())
			addr := prefix.Addr()
			switch {
			case err != nil || !addr.IsGlobalUnicast():
			case addr.Is4():
				return addr
			case listen != "0.0.0.0" && !other.IsValid():
				other = addr
			}
		}
	}
	return other
}
