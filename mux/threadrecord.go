package mux

import (
	"context"
	"errors"
	"time"

	"github.com/evertty/evertty/record"
	"github.com/evertty/evertty/session"
)

// lastSaves bounds how long a server that leaves writes record files; the next one writes the rest.
const lastSaves = 5 * time.Second

// Record is the Manager of what harnesses keep of threads. With use it is for somebody who writes, and a thread that is not there is made as by any other first use; else the
// thread is there, or "" for what is about all. Errors: ErrNoRecords, session.ErrNotFound, those of CreateThread.
func (m *Mux) Record(ctx context.Context, thread string, use bool) (*record.Manager, error) {
	d, err := m.durable()
	if err != nil {
		return nil, err
	}
	if d.books == nil {
		return nil, wrapf(ErrNoRecords, "this server keeps none of harnesses")
	}
	if thread == "" {
		return d.books, nil
	}
	_, err = d.Manager.Thread(thread)
	if isMissing(err) && use {
		_, err = d.CreateThread(ctx, thread, session.Use{})
		if errors.Is(err, session.ErrConflict) {
			err = nil // somebody else was first
		}
	}
	if err != nil {
		return nil, err
	}
	if use { // what has happened on the thread's terminals comes before what is said now of it
		limit, cancel := context.WithTimeout(ctx, currentPatience)
		defer cancel()
		_ = d.flush(limit)
	}
	return d.books, nil
}

// openBooks makes the Manager of records, if the server has any.
func (d *durable) openBooks() {
	cfg := d.mux.cfg.Record
	if cfg.Store == nil {
		return
	}
	cfg.Notify = d.watchers.notify
	cfg.Failed = func(err error) { d.mux.cfg.Log.Error("trouble with the records of harnesses", "error", err) }
	d.books = record.NewManager(cfg)
}

// knowPermissions brings the permissions of threads into memory, from their copy where there is no database. Where neither can be read everything is denied.
func (d *durable) knowPermissions() {
	load := d.mux.guard.LoadCopy
	if d.books != nil {
		load = d.books.LoadPermissions
	}
	if err := load(); err != nil {
		d.mux.cfg.Log.Error("the permissions of threads cannot be read; everything is denied that they could forbid", "error", err)
		d.mux.guard.Blind(err)
	}
}

// beginBooks starts what saves record files.
func (d *durable) beginBooks() {
	if d.books != nil {
		d.mux.work.Go(func() { d.books.Run(d.mux.ctx) })
	}
}

// closeBooks saves what is left.
func (d *durable) closeBooks() {
	if d.books == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSaves)
	defer cancel()
	if err := d.books.Close(ctx); err != nil {
		d.mux.cfg.Log.Warn("the last record files are not saved", "error", err)
	}
}

// deleteRecords deletes a thread and what belongs to its records.
func (d *durable) deleteRecords(ctx context.Context, thread string) error {
	remove := func() error {
		err := d.DeleteThread(ctx, thread)
		if err == nil && d.books != nil {
			d.books.Forget(thread)
		}
		return err
	}
	if d.books == nil {
		return remove()
	}
	return d.books.DeleteThread(thread, remove)
}
