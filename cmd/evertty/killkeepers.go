//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty/keeper"
)

// leaveTime is how long a keeper out of reach may take to end its programs and itself: SIGHUP, proc.KillGrace,
// SIGKILL, and the time for them to be gone.
const leaveTime = proc.KillGrace + 10*time.Second

// keepersOnly reports whether the server that is asked for could only be found by the data directory: then keepers
// without a server are looked for as well.
func keepersOnly(a *app) bool { return a.server == "" && os.Getenv(envServer) == "" }

// killKeepers ends what keepers hold that no server looks after: of the data directory's keeper, when there is no
// server, and of keepers out of reach, because their directory is gone. When a directory was named, others are
// left alone. found reports whether there was one.
func killKeepers(ctx context.Context, a *app, noServer bool) (found bool, err error) {
	dir, err := a.dir()
	if err != nil {
		return false, err
	}
	named := a.namedDir() != ""
	list, err := keeper.Processes()
	for _, p := range list {
		own := sameDir(p.Dir, dir)
		switch why := p.Reachable(); {
		case named && !own:
		case why != nil:
			if settled(p) {
				continue
			}
			found = true
			fmt.Fprintf(a.stderr, "evertty: ending the keeper %d of %s: %s\n", p.PID, p.Dir, printable(why.Error()))
			end, cancel := context.WithTimeout(ctx, leaveTime)
			err = errors.Join(err, p.End(end))
			cancel()
		case own && noServer:
			found = true
			err = errors.Join(err, endHeld(ctx, dir))
		}
	}
	return found, err
}

// A keeper that has just started, or whose socket is being removed and made again, has settleTries times settlePause to
// be in reach.
const (
	settleTries = 20
	settlePause = 100 * time.Millisecond
)

// settled reports whether a keeper is in reach a moment later: one that has just started, or whose socket is being made
// again.
func settled(p keeper.Process) bool {
	for range settleTries {
		if p.Reachable() == nil {
			return true
		}
		if _, err := os.Stat(p.Dir); errors.Is(err, fs.ErrNotExist) {
			return false
		}
		<-time.After(settlePause)
	}
	return p.Reachable() == nil
}

// sameDir reports whether two paths are of one directory; of one that is gone, whether they are the same.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// endHeld ends all that the keeper of a directory without a server holds. The next server finds its terminals lost,
// with their last screens.
func endHeld(ctx context.Context, dir string) error {
	unlock, err := datadir.Lock(dir) // no server begins meanwhile
	if err != nil {
		return err
	}
	defer unlock()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	held, err := keeper.Connect(ctx, keeper.Config{Dir: dir, Release: keeperRelease(),
		Command: []string{self, "keeper", "--data-dir", dir}})
	if err != nil {
		return err
	}
	defer held.Close()
	terminals, err := held.Take(ctx)
	programs, errPrograms := held.TakePrograms(ctx)
	err = errors.Join(err, errPrograms)
	identity := datadir.IDOf(dir)
	err = errors.Join(err, atOnce(terminals, func(k *keeper.Held) error {
		defer held.Release(k.ID)
		return errors.Join(k.Process.KillTagged(ctx, terminal.TagOf(identity, k.ID)), k.Process.Close(), k.Pipe.Close())
	}))
	var tags []uint64
	for _, p := range programs {
		if p.Child != nil {
			if tag := proc.Tag(p.Child.PID()); tag != 0 {
				tags = append(tags, tag)
			}
		}
	}
	err = errors.Join(err, atOnce(programs, func(p *keeper.Program) error {
		if p.Child == nil {
			return nil
		}
		return p.Child.Kill(ctx, nil)
	}))
	if len(tags) > 0 {
		_, e := proc.KillTagged(ctx, held.PID(), tags...)
		err = errors.Join(err, e)
	}
	for _, p := range programs {
		for _, f := range p.Files {
			_ = f.Close()
		}
		held.Release(p.ID)
	}
	return err
}
