//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/snapshot"
)

// checkDatabase reads every page of the database, for checkLimit at most.
func checkDatabase(ctx context.Context, t examined) check {
	c := check{Name: "database", Text: "there is none yet"}
	path := filepath.Join(t.dir, "evertty.db")
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return c
	}
	c.Text = path
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	switch err := sqlite.Check(limited, path); {
	case err != nil && limited.Err() != nil:
		c.Text += ", large: it was not read to its end"
	case err != nil:
		c.finding = problem(err.Error(), "put the one of a backup in its place (evertty restore), or move it away: "+
			"threads begin anew, terminals stay")
	}
	return c
}

// checkTerminals asks the server for damaged terminals, or reads their metadata, snapshots and indexes where none runs.
func checkTerminals(ctx context.Context, t examined) check {
	c := check{Name: "journals and snapshots"}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	look := damagedFiles
	if t.server != nil {
		look = damagedTerminals
	}
	damaged, checked, err := look(ctx, t.dir)
	if err != nil {
		c.Text, c.finding = "they cannot be read", problem(err.Error(), "mend what is named above first")
		return c
	}
	c.Text = fmt.Sprintf("terminals checked: %s, damaged: %d", checked, len(damaged))
	if len(damaged) > 0 {
		c.finding = problem(firstOf(damaged), "what is left can be read; evertty restore has the rest from a "+
			"backup, evertty kill --purge ID forgets the terminal")
	}
	return c
}

// damagedTerminals are the damages that the server knows of, one sentence each. checked says how many it looked at.
func damagedTerminals(ctx context.Context, dir string) (damaged []string, checked string, err error) {
	server, err := client.Discover(dir)
	if err != nil {
		return nil, "", err
	}
	defer server.Close()
	list, err := server.List(ctx, "")
	for _, t := range list {
		if t.Damage != "" {
			damaged = append(damaged, t.ID+": "+t.Damage)
		}
	}
	return damaged, part(len(list), len(list)), err
}

// damagedFiles is damagedTerminals without a server, from the files: first what is small of each, then their output,
// until ctx ends.
func damagedFiles(ctx context.Context, dir string) (damaged []string, checked string, err error) {
	store, err := datadir.OpenToRead(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, part(0, 0), nil
	}
	if err != nil {
		return nil, "", err
	}
	defer store.Close()
	ids, err := store.List()
	whole := 0
	for _, look := range []func(context.Context, *datadir.Store, string) error{readKept, readOutput} {
		whole = 0
		for _, id := range ids {
			if ctx.Err() != nil {
				break
			}
			if err := look(ctx, store, id); err != nil {
				damaged = append(damaged, id+": "+err.Error())
			}
			whole++
		}
	}
	return damaged, part(whole, len(ids)), err
}

// readKept reads the metadata, a snapshot and the indexes of a terminal, and returns their damage.
func readKept(_ context.Context, store *datadir.Store, id string) error {
	_, damage, err := store.LoadMeta(id)
	errs := []error{damage, unlessAbsent(err)}
	loaded, err := store.Load(id)
	errs = append(errs, loaded.Damage, unlessAbsent(err))
	j, err := journal.Read(store, id)
	errs = append(errs, unlessAbsent(err))
	if err == nil {
		errs = append(errs, j.Damage(), j.Losses(), j.Close())
	}
	return errors.Join(errs...)
}

// unlessAbsent is err, nil when it says that something was never there.
func unlessAbsent(err error) error {
	if errors.Is(err, datadir.ErrNotFound) && !errors.Is(err, snapshot.ErrCorrupt) {
		return nil
	}
	return err
}

// readOutput reads what a terminal has printed, and returns the damage that its journal has not noticed before. It
// returns early when ctx ends.
func readOutput(ctx context.Context, store *datadir.Store, id string) error {
	j, err := journal.Read(store, id)
	if err != nil || j.Damage() != nil || j.Losses() != nil { // readKept has told
		return nil
	}
	defer j.Close()
	r, err := j.Read(j.Start())
	if err != nil {
		return err
	}
	defer r.Close()
	for err == nil && ctx.Err() == nil {
		_, err = r.Next()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, j.Losses())
}
