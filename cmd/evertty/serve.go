//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/server/auth"
)

// takeoverTime is how long a server that is asked to leave may take: it has
// 5 s for its end. Then it is killed: it hangs.
const takeoverTime = 10 * time.Second

// serve runs a server until SIGTERM or SIGINT. In a log of JSON the error that ends it is a line too.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	log := f.logger(a.stderr)
	slog.SetDefault(log)
	err := a.serveUntil(ctx, f, log)
	if line := message(err); line != "" && f.logFormat == logJSON {
		log.Error("the server ends", "error", line)
		return codeError(exitCode(err))
	}
	return err
}

// serveUntil is serve with its logger.
func (a *app) serveUntil(ctx context.Context, f serveFlags, log *slog.Logger) error {
	// Keys of providers come in variables; programs in terminals are this server's descendants.
	if err := proc.Private(); err != nil {
		log.Warn("programs may be able to read the variables of the server", "error", err)
	}
	if err := f.takePassed(); err != nil {
		return err
	}
	if err := auth.CheckListen(f.auth.Mode, f.auth.Listen, f.insecure); err != nil {
		return usage(err)
	}
	base, err := auth.ParseBasePath(f.auth.BasePath)
	if err != nil {
		return usage(err)
	}
	f.auth.BasePath = base
	if f.terminals.Interval <= 0 {
		return usage(fmt.Errorf("snapshot_interval: got %v, allowed is more than 0", f.terminals.Interval))
	}
	if err := cmp.Or(f.policy.Check(), f.ssh.check(f.auth.Mode)); err != nil {
		return usage(err)
	}
	clean := &f.terminals.Clean
	clean.EndOldest = f.oldest == policyOldest
	for _, quota := range []*int64{&clean.TerminalQuota, &clean.JournalQuota, &clean.SnapshotQuota,
		&f.shells.LogQuota} {
		*quota = max(*quota, 1) // a configuration takes 0 for the default
	}
	rules, err := readRules(f.rules)
	if err != nil {
		return usage(err)
	}
	if err := f.readUsers(); err != nil {
		return usage(err)
	}
	again := make(chan os.Signal, 1)
	if f.users != "" {
		signal.Notify(again, syscall.SIGHUP)
		defer signal.Stop(again)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if f.background {
		proc.SetTag(proc.TagOf("server of " + dir)) // it does not end with the terminal that it was started in
	}
	unlock, err := a.lock(ctx, dir, f.takeover)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := a.dir(); err != nil { // another user may have made what was not there
		return err
	}
	f.before = f.addressBefore(dir)
	// What a server before left, if it was killed: who looks for this one finds it when it is ready.
	if err := os.Remove(filepath.Join(dir, placeName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s, err := a.newServer(f, dir, rules, log)
	if errors.Is(err, auth.ErrSetting) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	if f.background {
		if err := os.Chdir(dir); err != nil { // of the verb's directory it only needed the files of its settings
			return err
		}
	}
	if f.debug {
		defer serveDebug(dir, log)()
	}
	go s.rereadUsers(ctx, f.users, again)
	return s.run(ctx)
}

// addressBefore is where a server of the data directory listened that was killed, "" when there was none, or this one
// has an address of its own: pages that it served, and EVERTTY_URL of its programs, lead there.
func (f serveFlags) addressBefore(dir string) string {
	p, err := client.Find(dir)
	if err != nil || !f.background || f.auth.Listen != freePort {
		return ""
	}
	u, err := url.Parse(p.URL)
	if err != nil || u.Port() == "" || u.Hostname() != "127.0.0.1" {
		return ""
	}
	return u.Host
}

// lock makes the data directory this server's.
func (a *app) lock(ctx context.Context, dir string, takeover bool) (release func(), err error) {
	if !takeover {
		return datadir.LockAfter(dir)
	}
	ctx, cancel := context.WithTimeout(ctx, takeoverTime)
	defer cancel()
	release, killed, err := datadir.TakeLock(ctx, dir)
	if killed != 0 {
		slog.Warn("the server before did not leave in time and was killed; its terminals go on here", "pid", killed,
			"after", takeoverTime)
	}
	return release, err
}
