// Package auth decides who may do what: tokens, tickets, cookies, hosts and origins. It
// writes the audit log.
package auth

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// The values of --auth.
const (
	ModeToken = "token" // every request shows the token, a session or a ticket
	ModeNone  = "none"  // whoever can connect may do everything; see CheckListen
)

const (
	// failureBurst and failureRate (a second) bound the failed credentials that
	// get an honest 401; what comes faster gets 429. A client with a stale token
	// that tries every route and method stays below the burst. Right
	// credentials are never limited.
	failureBurst = 1000
	failureRate  = 10
	// auditBurst and auditRate (a second) bound the log lines about refusals.
	auditBurst = 100
	auditRate  = 10
)

// Config is what an Auth needs to know.
type Config struct {
	Mode         string   // ModeToken or ModeNone
	DataDir      string   // where the token file is; must exist in ModeToken
	Listen       string   // HOST:PORT or unix:///PATH, as configured
	AllowedHosts []string // more names (HOST or HOST:PORT) we are reached under
	PublicURL    string   // https://HOST[:PORT][/PATH] of a proxy with TLS; "" for none
	BasePath     string   // /PATH that every route is below; "" for none
	// TrustedProxies are networks, addresses or "unix", whose X-Forwarded headers count.
	TrustedProxies []string
	TLS            bool // connections over TCP are TLS
	OpenMetrics    bool // GET /metrics needs no credentials
	// WebhookSecret authenticates providers. With "" they need the usual credentials.
	WebhookSecret string
	// Users have tokens of their own; nil is none. Not with ModeNone.
	Users *Users
	// Terminal returns the id of a terminal that is given by id or by its name
	// in session (see owner.In), or the error for an absent or deleted one. It is called by many
	// goroutines, and must not call the Auth.
	Terminal func(session, idOrName string) (id string, err error)
	Now      func() time.Time // nil means time.Now
	Log      *slog.Logger     // nil means slog.Default
	Audit    *AuditLog        // nil writes nothing down
}

// Auth decides who may do what: Middleware stands before every route. It is
// safe for concurrent use and has no goroutine. In ModeToken the token is read
// once, when the Auth is made; a change of the file takes effect at the next
// start and ends every browser's session.
type Auth struct {
	mode        string
	openMetrics bool
	Webhooks    *digest // of the secret; nil without one
	hooks       hooks
	token       digest
	hosts       *hosts
	public      publicURL
	basePath    string // "" or /PATH
	proxies     proxies
	tls         bool // of connections over TCP
	tickets     *tickets
	shares      *shares
	sessions    *sessions // nil in ModeNone
	opened      openedRequests
	users       *Users // nil without
	guests      guests
	terminal    func(session, idOrName string) (string, error)
	now         func() time.Time
	log         *slog.Logger
	failures    *rate.Limiter
	audits      *rate.Limiter
	auditLog    *AuditLog
	refusals    *rate.Limiter // of auditLog
	skipped     atomic.Int64  // refusals that it left out
}

// New reads the token, or makes one. It fails with ErrSetting or
// ErrTokenFile.
func New(config Config) (*Auth, error) {
	if err := CheckListen(config.Mode, config.Listen, true); err != nil {
		return nil, err
	}
	if config.Users != nil && config.Mode == ModeNone {
		return nil, fmt.Errorf("%w: users: with --auth none there are no tokens to tell users apart; leave one of "+
			"the two out", ErrSetting)
	}
	hosts, err := newHosts(config.Listen, config.AllowedHosts)
	if err != nil {
		return nil, err
	}
	public, err := parsePublicURL(config.PublicURL)
	if err != nil {
		return nil, err
	}
	hosts.public = public.host
	basePath, err := ParseBasePath(config.BasePath)
	if err != nil {
		return nil, err
	}
	proxies, err := parseProxies(config.TrustedProxies)
	if err != nil {
		return nil, err
	}
	a := &Auth{
		mode:        config.Mode,
		openMetrics: config.OpenMetrics,
		hosts:       hosts,
		public:      public,
		basePath:    basePath,
		proxies:     proxies,
		tls:         config.TLS,
		users:       config.Users,
		terminal:    config.Terminal,
		now:         config.Now,
		log:         config.Log,
		failures:    rate.NewLimiter(failureRate, failureBurst),
		audits:      rate.NewLimiter(auditRate, auditBurst),
		auditLog:    config.Audit,
		refusals:    rate.NewLimiter(failureRate, failureBurst),
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.log == nil {
		a.log = slog.Default()
	}
	if config.WebhookSecret != "" {
		secret := DigestOf(config.WebhookSecret)
		a.Webhooks, a.hooks.key = &secret, []byte(config.WebhookSecret)
	}
	a.opened.all, a.guests.all = map[*opened]struct{}{}, map[digest]*Guest{}
	a.tickets = newTickets(a.now, a.log)
	a.tickets.there = func(pty string) bool {
		_, err := a.findTerminal("", pty)
		return err == nil
	}
	a.shares = newShares(a.now, a.log, a.tickets.there)
	if a.mode == ModeNone {
		if config.DataDir != "" {
			a.tickets.keep(config.DataDir, "", "")
			a.shares.keep(config.DataDir, "", "")
		}
		return a, nil
	}
	if err := a.load(config.DataDir); err != nil {
		return nil, err
	}
	return a, nil
}

// load reads what the servers before have left in the data directory: the token, logins, tickets and shares.
func (a *Auth) load(dir string) error {
	token, err := loadToken(dir)
	if err != nil {
		return err
	}
	a.token = DigestOf(token)
	ended := loadEnded(dir, a.log)
	if a.sessions, err = newSessions(token, ended, a.users, a.secure()); err != nil {
		return err
	}
	a.tickets.keep(dir, token, ended.Epoch)
	a.shares.keep(dir, token, ended.Epoch)
	return nil
}

// secure reports whether browsers reach the server by TLS only.
func (a *Auth) secure() bool { return a.tls || a.public.url != "" }

// LoginURL returns a URL below base (scheme://host:port, base path), or below the public URL, that logs a browser
// in once within ticketTTL; in ModeNone it is the page itself. It fails like tickets.issue.
func (a *Auth) LoginURL(base string) (string, error) {
	base = cmp.Or(a.public.url, base)
	if a.mode == ModeNone {
		return base + "/", nil
	}
	secret, _, err := a.tickets.issue(Grant{Role: Write}, ticketTTL, 1)
	if err != nil {
		return "", fmt.Errorf("server: login ticket: %w", err)
	}
	return loginURL(base, secret), nil
}

// TokenFile is the name of the file in the data directory that holds the token, "" in ModeNone.
func (a *Auth) TokenFile() string {
	if a.mode == ModeNone {
		return ""
	}
	return tokenFile
}
