package server

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/auth"
)

const (
	// strangerIdle is how long a connection may be idle that never showed credentials, before its first request, after
	// one, and while the rest of a refused one is awaited.
	strangerIdle = 5 * time.Second
	// maxStrangers is how many of those an address has: a browser opens six, a proxy has some for each worker. The
	// oldest makes room for one more, when it is as old as strangerGrace.
	maxStrangers = 128
	// strangerGrace is how long every connection may take to show credentials: a hundred viewers behind one proxy come
	// back at the same moment, and all are strangers then.
	strangerGrace = 2 * time.Second
)

// strangers are the connections that never showed credentials, but those of unix sockets, which only this user can
// connect to. It is safe for concurrent use.
type strangers struct {
	mu   sync.Mutex
	conn map[net.Conn]*stranger
	all  *list.List            // of *stranger, the oldest first
	of   map[string]*list.List // the same of an address
	// trusts names the proxies, whose connections are of many clients and not limited by address.
	trusts func(remote string) bool
}

// stranger is one of them. The fields are guarded by strangers.mu.
type stranger struct {
	conn       net.Conn
	address    string
	inAll, own *list.Element
	begin      time.Time
	idle       *time.Timer
	grace      *time.Timer // nil unless it makes room
}

func newStrangers(trusts func(remote string) bool) *strangers {
	return &strangers{trusts: trusts, conn: map[net.Conn]*stranger{}, all: list.New(), of: map[string]*list.List{}}
}

// moved is http.Server.ConnState.
func (s *strangers) moved(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch v := s.conn[c]; {
	case state == http.StateNew:
		s.add(c)
	case v == nil:
	case state == http.StateActive:
		v.idle.Stop()
	case state == http.StateIdle:
		v.idle.Reset(strangerIdle)
	default:
		s.remove(v)
	}
}

// add notes a new connection. s.mu is held.
func (s *strangers) add(c net.Conn) {
	if c.RemoteAddr().Network() == "unix" {
		return
	}
	address, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	own := s.of[address]
	if own == nil {
		own = list.New()
		s.of[address] = own
	}
	v := &stranger{conn: c, address: address, begin: time.Now()}
	v.idle = time.AfterFunc(strangerIdle, v.close)
	v.inAll, v.own, s.conn[c] = s.all.PushBack(v), own.PushBack(v), v
	if own.Len() > maxStrangers && !s.trusts(c.RemoteAddr().String()) {
		oldest := own.Remove(own.Front()).(*stranger)
		oldest.grace = time.AfterFunc(time.Until(oldest.begin.Add(strangerGrace)), oldest.close)
	}
}

func (v *stranger) close() { _ = v.conn.Close() }

// remove forgets a connection. s.mu is held.
func (s *strangers) remove(v *stranger) {
	v.idle.Stop()
	if v.grace != nil {
		v.grace.Stop()
	}
	delete(s.conn, v.conn)
	s.all.Remove(v.inAll)
	if own := s.of[v.address]; own != nil {
		own.Remove(v.own) // one that makes room is in none
		if own.Len() == 0 {
			delete(s.of, v.address)
		}
	}
}

// makeRoom closes the oldest of all, and reports whether there was one.
func (s *strangers) makeRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all.Len() == 0 {
		return false
	}
	v := s.all.Front().Value.(*stranger)
	s.remove(v)
	go v.close() // nothing waits for it here
	return true
}

// connKey is the key of a request's net.Conn in its context.
type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// settle gives the connection of a request that is refused strangerIdle for what the client still sends. It stands
// before the check of credentials, and know behind it.
func (s *strangers) settle(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		if v := s.request(c); v != nil {
			v.idle.Reset(strangerIdle)
		}
		return err
	}
}

// know notes that a connection showed credentials.
func (s *strangers) know(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if auth.GrantOf(c.Request().Context()) != (auth.Grant{}) {
			s.mu.Lock()
			if v := s.request(c); v != nil {
				s.remove(v)
			}
			s.mu.Unlock()
		}
		return next(c)
	}
}

// request is the stranger that a request is of, nil for none. s.mu is held.
func (s *strangers) request(c echo.Context) *stranger {
	conn, _ := c.Request().Context().Value(connKey{}).(net.Conn)
	return s.conn[conn]
}
