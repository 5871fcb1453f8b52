package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// daemon is a server on its way up: what run starts and ends.
type daemon struct {
	*app
	dir    string
	at     string // how it is reached: http://HOST:PORT or unix:///path
	all    []net.Listener
	store  *datadir.Store
	db     *sqlite.Store // nil when it could not be opened
	record store.Config  // its Store is of db
	parts  *supervisor.Supervisor
	auth   *auth.Auth
	tls    *tls.Config // nil without TLS
	api    *server.Server
}

// newServer opens the port first, so that a busy one is known before anything
// else happens; requests wait until the terminals are back.
func (a *app) newServer(f serveFlags, dir string, rules permission.Rules) (*daemon, error) {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(f.logLevel)) // the flag takes level names only
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	slog.SetDefault(log)
	secure, err := f.tls.config()
	if err != nil {
		return nil, err
	}
	all, at, err := listen(f.auth.Listen, dir)
	if err != nil {
		return nil, err
	}
	if secure != nil {
		at = strings.Replace(at, "http://", "https://", 1)
	}
	s := &daemon{app: a, dir: dir, all: all, at: at, tls: secure}
	s.record.Enforcer = permission.NewEnforcer(rules).WithCopy(filepath.Join(dir, "permissions.json"))
	if err := s.build(f, log); err != nil {
		closeAll(all)
		return nil, err
	}
	return s, nil
}

// build starts the parts of the server.
func (s *daemon) build(f serveFlags, log *slog.Logger) error {
	var err error
	if f.auth.WebhookSecret, err = readSecret(f.webhookSecret); err != nil {
		return usage(err)
	}
	remotes, err := remoteProviders(cmp.Or(f.providers, filepath.Join(s.dir, "providers")), f.providers != "")
	if err != nil {
		return usage(err)
	}
	if s.store, err = datadir.Open(s.dir); err != nil {
		return err
	}
	identity, err := datadir.Identify(s.dir)
	if err != nil {
		return err
	}
	if identity.Copied {
		log.Warn("the data directory is a copy: its terminals and shells have no processes here, and those of the "+
			"first directory are left alone", "directory", s.dir)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	held, err := keeper.Connect(context.Background(), keeper.Config{Dir: s.dir, Release: keeperRelease(), Log: log,
		Command: []string{self, "keeper", "--data-dir", s.dir, "--idle", f.keeperIdle.String()}})
	if err != nil {
		return err
	}
	t := f.terminals
	t.Engine, t.Memory, t.Store, t.Identity = engines[f.engine], int(f.memory), s.store, identity.ID
	t.Keeper, t.SpliceErr, t.Address = held, pty.ProbeSplice(s.dir), s.at
	records, noRecords := s.records(f.recordRotate, log)
	metrics := metrics.New()
	s.parts, err = supervisor.Start(supervisor.Config{Terminals: t, Shells: f.shells,
		Threads: service.Config{Store: records, NoStore: noRecords, Copied: identity.Copied, Conversations: s.record,
			Policy: &f.policy, PolicyChosen: f.sessionChosen, Providers: remotes, ProviderSetup: providerSetup(),
			Relay: service.Relay{Program: []string{self, "relay"}, Dir: filepath.Join(s.dir, "relay")}},
		Log: log, Metrics: metrics})
	if err != nil {
		_ = held.Close()
		return err
	}
	if err := identity.Settle(s.dir); err != nil {
		log.Warn("the next server takes the data directory for a copy again", "error", err)
	}
	metrics.Registry.MustRegister(s.parts)
	return s.serveParts(f.auth, metrics, log)
}

// serveParts makes the HTTP server of the parts.
func (s *daemon) serveParts(access auth.Config, metrics *metrics.Set, log *slog.Logger) (err error) {
	access.Audit, access.DataDir, access.TLS = auth.OpenAuditLog(s.dir, log), s.dir, s.tls != nil
	access.Log, access.Terminal = log, s.terminalID
	if s.auth, err = auth.New(access); err != nil {
		s.parts.Close()
		return err
	}
	s.api = server.New(server.Config{Supervisor: s.parts, Metrics: metrics, Auth: s.auth, Version: programVersion(),
		Log: log, Audit: access.Audit, TLS: s.tls})
	return nil
}

// records opens the database of threads. A server without it has terminals and shells, and says so in /healthz: the
// error is why. It closes with the server.
func (s *daemon) records(rotate int64, log *slog.Logger) (service.Store, error) {
	db, err := sqlite.Open(filepath.Join(s.dir, "evertty.db"))
	if err != nil {
		log.Error("the database of threads cannot be used", "error", err)
		return nil, err
	}
	s.db = db
	s.record.Store = db.Conversations()
	if s.record.Files, err = store.OpenFiles(filepath.Join(s.dir, "threads"), rotate); err != nil {
		log.Error("records are kept without files", "error", err)
		s.record.NoFiles = err
	}
	return db, nil
}

func (s *daemon) terminalID(session, ref string) (string, error) {
	t, err := s.parts.Terminals.Find(session, ref)
	if err == nil && t.Deleted() {
		err = fmt.Errorf("%w: %s was deleted", terminal.ErrNotFound, t.ID)
	}
	if err != nil {
		return "", err
	}
	return t.ID, nil
}

// run says that the server is ready and answers requests until ctx ends. Then
// viewers are sent away and screens written, in this order. Programs go on.
func (s *daemon) run(ctx context.Context) error {
	defer s.store.Close()
	defer s.closeRecords()
	if err := s.announce(); err != nil {
		closeAll(s.all)
		s.parts.Close()
		return err
	}
	defer os.Remove(s.placeFile())
	served := make(chan error, len(s.all))
	for _, l := range s.all {
		go func() { served <- s.api.Serve(l) }()
	}
	var err error
	left := len(s.all)
	select {
	case <-ctx.Done():
	case err = <-served:
		left--
	}
	s.api.Close()
	for range left {
		err = cmp.Or(err, <-served)
	}
	s.parts.Close()
	return err
}

func (s *daemon) closeRecords() {
	if s.db == nil {
		return
	}
	if err := s.db.Close(); err != nil {
		slog.Warn("closing the database of threads", "error", err)
	}
}

// announce writes DIR/server.json, by which the command line finds the server,
// and prints the one line that says that it is ready. Only a terminal is shown a login ticket.
func (s *daemon) announce() error {
	if err := s.writePlace(); errors.Is(err, syscall.ENOSPC) {
		slog.Warn("the command line will not find this server by itself", "error", err) // terminals come first
	} else if err != nil {
		return err
	}
	at := s.at
	switch {
	case !strings.HasPrefix(at, "http") || s.auth.TokenFile() == "":
	case !isTTY(s.stdout, s.stdout): // a log would keep the ticket
		slog.Info("evertty url logs a browser in")
	default:
		var err error
		if at, err = s.auth.LoginURL(s.at); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(s.stdout, "listening on %s\n", at)
	return err
}
