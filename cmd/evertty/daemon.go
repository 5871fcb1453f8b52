//go:build linux

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

	sdnotify "github.com/coreos/go-systemd/v22/daemon"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/localsocket"
	"github.com/evertty/evertty/internal/memory"
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
	ssh    sshServer
	tls    *tls.Config // nil without TLS
	api    *server.Server
}

// newServer opens the port first, so that a busy one is known before anything
// else happens; requests wait until the terminals are back.
func (a *app) newServer(f serveFlags, dir string, rules permission.Rules, log *slog.Logger) (*daemon, error) {
	secure, err := f.tls.config()
	if err != nil {
		return nil, err
	}
	all, at, err := listen(cmp.Or(f.before, f.auth.Listen), dir, f.passed)
	if f.before != "" && errors.Is(err, syscall.EADDRINUSE) {
		all, at, err = listen(f.auth.Listen, dir, f.passed)
	}
	if err != nil {
		return nil, err
	}
	if secure != nil {
		at = strings.Replace(at, "http://", "https://", 1)
	}
	if strings.HasPrefix(at, "http") {
		at += f.auth.BasePath
	}
	forSSH, err := f.ssh.listen()
	if err != nil {
		closeAll(all)
		return nil, err
	}
	d := &daemon{app: a, dir: dir, all: all, at: at, tls: secure, ssh: sshServer{all: forSSH}}
	d.record.Enforcer = permission.NewEnforcer(rules).WithCopy(filepath.Join(dir, "permissions.json"))
	if err := d.build(f, log); err != nil {
		closeAll(append(all, forSSH...))
		return nil, err
	}
	return d, nil
}

// build starts the parts of the server.
func (d *daemon) build(f serveFlags, log *slog.Logger) error {
	var err error
	if f.auth.WebhookSecret, err = readSecret(f.webhookSecret); err != nil {
		return usage(err)
	}
	remotes, err := remoteProviders(cmp.Or(f.providers, filepath.Join(d.dir, "providers")), f.providers != "")
	if err != nil {
		return usage(err)
	}
	d.store, err = datadir.Open(d.dir)
	switch {
	case errors.Is(err, datadir.ErrForeign), errors.Is(err, datadir.ErrLoose):
		return usage(err)
	case err != nil:
		return err
	}
	identity, err := datadir.Identify(d.dir)
	if err != nil {
		return err
	}
	if identity.Copied {
		log.Warn("the data directory is a copy: its terminals and shells have no processes here, and those of the "+
			"first directory are left alone", "directory", d.dir)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	held, err := keeper.Connect(context.Background(), keeper.Config{Dir: d.dir, Release: keeperRelease(), Log: log,
		Command: []string{self, "keeper", "--data-dir", d.dir, "--idle", f.keeperIdle.String(), "--log-format",
			f.logFormat}})
	if err != nil {
		return err
	}
	t := f.terminals
	t.Engine, t.Memory, t.Store, t.Identity = engines[f.engine], int(f.memory), d.store, identity.ID
	t.Copied = identity.Copied
	t.Keeper, t.SpliceErr, t.Address = held, pty.ProbeSplice(d.dir), d.at
	t.Socket = filepath.Join(d.dir, localsocket.Name)
	records, noRecords := d.records(f.recordRotate, log)
	metrics := metrics.New()
	d.parts, err = supervisor.Start(supervisor.Config{Terminals: t, Shells: f.shells,
		Threads: service.Config{Store: records, NoStore: noRecords, Copied: identity.Copied, Conversations: d.record,
			Policy: &f.policy, PolicyChosen: f.sessionChosen, Providers: remotes, ProviderSetup: providerSetup(),
			Relay: service.Relay{Program: []string{self, "relay"}, Dir: filepath.Join(d.dir, "relay")}},
		Log: log, Metrics: metrics, Memory: memory.New(f.bound)})
	if err != nil {
		_ = held.Close()
		return err
	}
	if err := identity.Settle(d.dir); err != nil {
		log.Warn("the next server takes the data directory for a copy again", "error", err)
	}
	metrics.Registry.MustRegister(d.parts)
	return d.serveParts(f, metrics, log)
}

// serveParts makes the HTTP server of the parts.
func (d *daemon) serveParts(f serveFlags, metrics *metrics.Set, log *slog.Logger) (err error) {
	access := f.auth
	access.Audit, access.DataDir, access.TLS = auth.OpenAuditLog(d.dir, log), d.dir, d.tls != nil
	access.Log, access.Terminal = log, d.terminalID
	if d.auth, err = auth.New(access); err != nil {
		d.parts.Close()
		return err
	}
	d.api = server.New(server.Config{Supervisor: d.parts, Metrics: metrics, Auth: d.auth, Version: programVersion(),
		Log: log, Audit: access.Audit, TLS: d.tls, RequestRate: f.requestRate, Dir: d.dir, MaxViewers: f.maxViewers,
		MaxOf: func(user string) int { return f.auth.Users.LimitsOf(user).Viewers }})
	if err = d.openSSH(f.ssh, log); err != nil {
		d.parts.Close()
	}
	return err
}

// records opens the database of threads. A server without it has terminals and shells, and says so in /healthz: the
// error is why. It closes with the server.
func (d *daemon) records(rotate int64, log *slog.Logger) (service.Store, error) {
	db, err := sqlite.Open(filepath.Join(d.dir, "evertty.db"))
	if err != nil {
		log.Error("the database of threads cannot be used", "error", err)
		return nil, err
	}
	d.db = db
	d.record.Store = db.Conversations()
	if d.record.Files, err = store.OpenFiles(filepath.Join(d.dir, "threads"), rotate); err != nil {
		log.Error("records are kept without files", "error", err)
		d.record.NoFiles = err
	}
	return db, nil
}

func (d *daemon) terminalID(session, ref string) (string, error) {
	t, err := d.parts.Terminals.Find(session, ref)
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
func (d *daemon) run(ctx context.Context) error {
	defer d.store.Close()
	defer d.closeRecords()
	if err := d.announce(); err != nil {
		closeAll(append(d.all, d.ssh.all...))
		d.parts.Close()
		return err
	}
	defer os.Remove(d.placeFile())
	served := make(chan error, len(d.all))
	for _, l := range d.all {
		go func() { served <- d.api.Serve(l) }()
	}
	d.ssh.serve()
	tellManager(sdnotify.SdNotifyReady)
	go d.watchdog(ctx)
	var err error
	left := len(d.all)
	select {
	case <-ctx.Done():
	case err = <-served:
		left--
	}
	tellManager(sdnotify.SdNotifyStopping)
	d.ssh.close()
	d.api.Close()
	for range left {
		err = cmp.Or(err, <-served)
	}
	d.parts.Close()
	return err
}

func (d *daemon) closeRecords() {
	if d.db == nil {
		return
	}
	if err := d.db.Close(); err != nil {
		slog.Warn("closing the database of threads", "error", err)
	}
}

// announce writes DIR/server.json, by which the command line finds the server,
// and prints the one line that says that it is ready. Only a terminal is shown a login ticket.
func (d *daemon) announce() error {
	err := d.writePlace()
	if errors.Is(err, syscall.ENOSPC) && d.store.ReleaseReserve() {
		err = d.writePlace()
	}
	if errors.Is(err, syscall.ENOSPC) {
		slog.Warn("the command line will not find this server by itself", "error", err) // terminals come first
	} else if err != nil {
		return err
	}
	at := d.at
	switch {
	case !strings.HasPrefix(at, "http") || d.auth.TokenFile() == "":
	case !isTTY(d.stdout, d.stdout): // a log would keep the ticket
		slog.Info("evertty url logs a browser in")
	default:
		if at, err = d.auth.LoginURL(d.at); err != nil {
			return err
		}
	}
	if _, err = fmt.Fprintf(d.stdout, "listening on %s\n", at); errors.Is(err, syscall.ENOSPC) {
		return nil // a log that is on a full disk
	}
	return err
}
