// Package server is the HTTP API: it joins the routes of its parts, has the routes of
// terminals and of the server itself, and serves the document of all.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/internal/supervisor"
)

const (
	// headerTimeout ends connections that send their request headers too
	// slowly on purpose.
	headerTimeout = 5 * time.Second

	// idleTimeout ends connections that are kept open without a request; see strangerIdle too.
	idleTimeout = 2 * time.Minute
	// maxHeader bounds the request headers, in bytes.
	maxHeader = 32 << 10
	// closeTimeout is how long viewers may take to say good-bye at the end.
	closeTimeout = time.Second
)

// Config is what a Server is made of.
type Config struct {
	*supervisor.Supervisor
	Metrics *metrics.Set
	Auth    *auth.Auth
	Version string
	Log     *slog.Logger
	Audit   *auth.AuditLog // for /healthz; Auth writes it
	TLS     *tls.Config    // of connections over TCP; nil is without
	// RequestRate is how many requests a second each address may send; 0 is any number.
	RequestRate int
	Dir         string // the data directory, for backups
	// MaxViewers bounds the streams, WebSockets and waits that are connected; 0 means MaxViewers.
	MaxViewers int
	// MaxOf bounds those of a user; nil, and 0, are no bound of their own.
	MaxOf func(user string) int
}

// Server answers HTTP requests. It is safe for concurrent use.
type Server struct {
	httpapi.Base
	config    Config
	routes    []httpapi.Route // all that it offers
	echo      *echo.Echo
	http      *http.Server
	once      sync.Once
	strangers *strangers
	started   time.Time
	viewers   viewers
	sockets   *viewer.Sockets
	ctx       context.Context // of every request
	cancel    context.CancelFunc
}

// New makes a server with all routes; Serve starts it.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	s := &Server{Base: httpapi.Base{Supervisor: c.Supervisor, Log: c.Log, Closing: make(chan struct{})}, config: c,
		echo: echo.New(), started: time.Now()}
	s.strangers = newStrangers(c.Auth.Trusts)
	s.sockets = viewer.NewSockets(s.Closing, func(p any) { _ = panicked(c.Log, p) })
	s.viewers = viewers{most: cmp.Or(c.MaxViewers, MaxViewers), mostOf: c.MaxOf, of: map[string]int{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = httpapi.HandleError
	e.Pre(httpapi.SecurityHeaders(), c.Auth.Front)
	e.Use(unescapeNames, recoverPanics(c.Log), s.strangers.settle,
		newRequestRate(c.RequestRate).limit, s.config.Auth.Middleware(), s.strangers.know, httpapi.SpeakVersion)
	s.addRoutes(e)
	s.http = &http.Server{
		Handler:           e,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		// OPTIONS * is checked as everything else is.
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return s.ctx },
		ConnContext:                  withConn,
		ConnState:                    s.strangers.moved,
		TLSConfig:                    c.TLS,
		Protocols:                    oneProtocol(),
		ErrorLog:                     slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// oneProtocol is HTTP/1.1, which WebSockets need.
func oneProtocol() *http.Protocols {
	p := &http.Protocols{}
	p.SetHTTP1(true)
	return p
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Serve answers the connections of l until Close. It returns nil then.
func (s *Server) Serve(l net.Listener) error {
	serve := s.http.Serve
	if s.config.TLS != nil && l.Addr().Network() == "tcp" {
		serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
	}
	if err := serve(newCrowded(l, s.strangers)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the viewers politely, then everything else that is still open. It
// takes at most closeTimeout.
func (s *Server) Close() {
	s.once.Do(func() { close(s.Closing) })
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	time.AfterFunc(closeTimeout/4, s.cancel) // streams and waits end with their context
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	s.cancel()
}

// handler runs a route's function after the checks that all have in common.
func (s *Server) handler(r httpapi.Route) echo.HandlerFunc {
	handle := s.viewers.count(r, r.Handler())
	return func(c echo.Context) (err error) {
		defer func() {
			s.audited(c, r, err)
			httpapi.Over(c)
		}()
		if err := mayUse(c.Request().Context(), r); err != nil {
			return err
		}
		if r.Stream && !r.Effect {
			if err := s.Terminals.RoomForViewer(); err != nil {
				return err
			}
		}
		if !r.Stream {
			deadline := time.Now().Add(httpapi.BodyTimeout)
			_ = http.NewResponseController(c.Response()).SetReadDeadline(deadline) // not every writer has deadlines
		}
		if auth.NeedsPage(c) {
			return s.handlePage(c, handle)
		}
		return handle(c)
	}
}

// mayUse checks the grant of a request against a route: effects need the role write, and a grant for one terminal or
// session reaches a few routes alone, each of which checks which one.
func mayUse(ctx context.Context, r httpapi.Route) error {
	if !auth.GrantOf(ctx).Reaches(r.Path) {
		return httpapi.ErrWrongTerminal
	}
	if r.Admin && auth.GrantOf(ctx).Owner() != "" {
		return httpapi.ErrScope
	}
	if r.Effect {
		return auth.RequireWrite(ctx)
	}
	return nil
}

// recoverPanics turns a panic of a handler into 500 and a log line: one request
// must not end everybody's terminals.
func recoverPanics(log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) (err error) {
			defer func() {
				switch p := recover(); p {
				case nil:
				case http.ErrAbortHandler:
					panic(p)
				default:
					err = panicked(log, p)
				}
			}()
			return next(c)
		}
	}
}
