//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// examined is the data directory that the checks are about, with what runs on it.
type examined struct {
	dir      string
	server   *serverReport // nil when none runs
	keeper   *keeperReport // in reach or not; nil when none runs
	settings serveSettings
	files    lookedAt
}

// checkLimit is how long one check of files may take; a large directory is checked in part.
const checkLimit = 2 * time.Second

// examinedOf finds what runs on the directory of a diagnosis.
func examinedOf(d diagnosis) examined {
	t := examined{dir: d.Dir}
	for i, s := range d.Servers {
		if s.Dir != "" && sameDir(s.Dir, t.dir) {
			t.server = &d.Servers[i]
		}
	}
	for i, k := range d.Keepers {
		if sameDir(k.Dir, t.dir) {
			t.keeper = &d.Keepers[i]
		}
	}
	pid := 0
	if t.server != nil {
		pid = t.server.PID
	}
	t.settings, t.files = settingsOf(pid), lookAt(t.dir)
	return t
}

// checks are those of the directory and of what uses it. None changes anything.
func (t examined) checks(ctx context.Context) []check {
	return []check{checkTLS(t), checkSSH(t), checkAccess(t), checkDatabase(ctx, t), checkTerminals(ctx, t),
		checkClock(t), checkSocket(ctx, t), checkLocks(t), checkLeftProcesses(t), checkLeftFiles(t), checkUnits()}
}

// serveSettings are the settings of a server that doctor looks at. Paths are absolute.
type serveSettings struct {
	tls    tlsFlags
	ssh    sshFlags
	listen string
	names  []string // that browsers reach it by, besides its address
}

// settingsOf reads the command line of a server, and the variables and the file that one started from here would have:
// a server hides its own variables. 0 is no server. What cannot be read is as if it were not set.
func settingsOf(pid int) (s serveSettings) {
	c := (&app{}).newServe()
	c.FParseErrWhitelist.UnknownFlags = true // those of all verbs
	cwd := ""
	if words := commandLine(pid); pid != 0 && len(words) > 1 {
		cwd, _ = os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		_ = c.ParseFlags(words[2:])
	}
	value := func(name string) string { return c.Flags().Lookup(name).Value.String() }
	absolute := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(cwd, path)
	}
	_ = applyConfig(c, absolute(value("config"))) // checkConfig tells
	s.tls = tlsFlags{absolute(value("tls-cert")), absolute(value("tls-key"))}
	s.ssh = sshFlags{address: value("ssh"), keys: absolute(value("ssh-authorized-keys")),
		tokens: value("ssh-token-password") == "true"}
	s.listen = value("listen")
	s.names, _ = c.Flags().GetStringSlice("allowed-host")
	return s
}

// part says how much of something was checked.
func part(done, all int) string {
	if done == all {
		return strconv.Itoa(all)
	}
	return fmt.Sprintf("%d of %d", done, all)
}
