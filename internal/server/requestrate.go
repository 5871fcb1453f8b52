package server

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"github.com/evertty/evertty/internal/server/httpapi"
)

const (
	// burstSeconds is how many seconds of requests a client may send at once: a page loads with a dozen.
	burstSeconds = 5
	// maxClients bounds the clients that are counted apart; further ones share one count.
	maxClients = 4096
	// forgetEvery is the shortest time between two looks for clients that may be forgotten.
	forgetEvery = time.Second
	// clientBits6 is how much of an IPv6 address is one client: a network of one household (RFC 6177).
	clientBits6 = 64
)

// requestRate limits how many requests a second each client may send, by address. It is safe for concurrent use.
type requestRate struct {
	each int // a second; 0 is no limit

	mu        sync.Mutex
	clients   map[netip.Addr]*rate.Limiter
	others    *rate.Limiter // of clients beyond maxClients
	forgotten time.Time
}

func newRequestRate(each int) *requestRate {
	l := &requestRate{each: each, clients: map[netip.Addr]*rate.Limiter{}}
	l.others = l.limiter()
	return l
}

func (l *requestRate) limiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(l.each), l.each*burstSeconds)
}

// limit answers 429 to a client that is too fast. Unix sockets, which only processes of this machine reach, are never.
func (l *requestRate) limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		from, err := netip.ParseAddrPort(c.Request().RemoteAddr)
		if l.each == 0 || err != nil {
			return next(c)
		}
		now := time.Now()
		if r := l.of(from.Addr(), now).ReserveN(now, 1); r.DelayFrom(now) > 0 {
			wait := r.DelayFrom(now)
			r.CancelAt(now)
			refused := httpapi.NewError(http.StatusTooManyRequests, "LIMIT",
				"more than %d requests a second came from this address (--request-rate); send them more slowly", l.each)
			refused.RetryAfter = wait
			return refused
		}
		return next(c)
	}
}

// of is the limiter of an address.
func (l *requestRate) of(addr netip.Addr, now time.Time) *rate.Limiter {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		network, _ := addr.Prefix(clientBits6)
		addr = network.Addr()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.clients[addr]; known != nil {
		return known
	}
	if len(l.clients) >= maxClients && now.Sub(l.forgotten) >= forgetEvery {
		l.forgotten = now
		for a, one := range l.clients {
			if one.TokensAt(now) >= float64(one.Burst()) { // as a new one
				delete(l.clients, a)
			}
		}
	}
	if len(l.clients) >= maxClients {
		return l.others
	}
	fresh := l.limiter()
	l.clients[addr] = fresh
	return fresh
}
