//go:build linux

package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	sdnotify "github.com/coreos/go-systemd/v22/daemon"

	"github.com/evertty/evertty/internal/localsocket"
)

// tellManager tells the service manager of this process a state (sd_notify(3)). Without one it does nothing.
func tellManager(state string) {
	if _, err := sdnotify.SdNotify(false, state); err != nil {
		slog.Warn("the service manager was not told", "state", state, "error", err)
	}
}

// watchdog tells the service manager that the server answers, twice in the time that WATCHDOG_USEC allows, until ctx
// ends. A server that hangs does not, and is started again; its programs do not notice. Without the variable it
// returns at once.
func (d *daemon) watchdog(ctx context.Context) {
	limit, err := sdnotify.SdWatchdogEnabled(false)
	if err != nil {
		slog.Warn("the service manager's watchdog is not told", "error", err)
	}
	if limit <= 0 {
		return
	}
	again := time.NewTicker(limit / 2)
	defer again.Stop()
	for d.tellAlive(ctx, limit/2) {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// tellAlive asks the server itself for its health, over its own socket, and tells the service manager when there is a
// reply, whatever it says: a full disk is no reason to start again. It returns false when ctx has ended.
func (d *daemon) tellAlive(ctx context.Context, limit time.Duration) bool {
	own := http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (c net.Conn, err error) {
			err = localsocket.At(filepath.Join(d.dir, localsocket.Name), func(short string) error {
				c, err = new(net.Dialer).DialContext(ctx, "unix", short)
				return err
			})
			return c, err
		}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/healthz", nil)
	if err == nil {
		var reply *http.Response
		if reply, err = own.Do(request); err == nil {
			_ = reply.Body.Close()
			tellManager(sdnotify.SdNotifyWatchdog)
		}
	}
	if err != nil && ctx.Err() == nil {
		slog.Warn("the server does not answer itself", "error", err)
	}
	return ctx.Err() == nil
}
