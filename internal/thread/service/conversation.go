package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/thread"
)

// lastSaves bounds how long a server that leaves writes record files; the next one writes the rest.
const lastSaves = 5 * time.Second

// Record is the Manager of what harnesses keep of threads, for who reads. The thread is there, or "" for what is about all. Errors: ErrNoRecords, thread.ErrNotFound.
func (d *Service) Record(thread string) (*store.Manager, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if d.books == nil {
		return nil, fmt.Errorf("%w: this server keeps none of harnesses", ErrNoRecords)
	}
	if thread != "" {
		if _, err := d.Manager.Thread(thread); err != nil {
			return nil, err
		}
	}
	return d.books, nil
}

// WriteRecord is for who writes: do is called when what has happened on the thread's terminals before is in the records. A thread that is not there is made as by any other first use, but not for
// what is refused: do is tried before, and has to be told again. Errors: ErrNoRecords, those of do and of CreateThread.
func (d *Service) WriteRecord(ctx context.Context, threadID string, do func(*store.Manager) error) error {
	r, err := d.Record("")
	if err != nil {
		return err
	}
	if _, err = d.Manager.Thread(threadID); isMissing(err) {
		if err := do(r); !isMissing(err) {
			return err
		}
		if _, err = d.Manager.CreateThread(ctx, threadID, thread.Use{}); errors.Is(err, thread.ErrConflict) {
			err = nil // somebody else was first
		}
	}
	if err != nil {
		return err
	}
	return d.ChangeRecord(ctx, threadID, do)
}

// ChangeRecord is WriteRecord for what makes no thread. Errors: ErrNoRecords, thread.ErrNotFound, those of do.
func (d *Service) ChangeRecord(ctx context.Context, thread string, do func(*store.Manager) error) error {
	r, err := d.Record(thread)
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, currentPatience)
	defer cancel()
	_ = d.flush(limit)
	return do(r)
}

// openBooks makes the Manager of records, if the server has any.
func (d *Service) openBooks() {
	cfg := d.cfg.Record
	if cfg.Store == nil {
		return
	}
	cfg.Notify = d.watchers.notify
	cfg.Failed = func(err error) { d.cfg.Log.Error("trouble with the records of harnesses", "error", err) }
	d.books = store.NewManager(cfg)
}

// knowPermissions brings the permissions of threads into memory, from their copy where there is no database. Where neither can be read everything is denied.
func (d *Service) knowPermissions() {
	load := d.enforcer.LoadCopy
	if d.books != nil {
		load = d.books.LoadPermissions
	}
	if err := load(); err != nil {
		d.cfg.Log.Error("the permissions of threads cannot be read; everything is denied that they could forbid", "error", err)
		d.enforcer.FailClosed(err)
	}
}

// beginBooks starts what saves record files.
func (d *Service) beginBooks() {
	if d.books != nil {
		d.life.Go(func() { d.books.Run(d.ctx) })
	}
}

// closeBooks saves what is left.
func (d *Service) closeBooks() {
	if d.books == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSaves)
	defer cancel()
	if err := d.books.Close(ctx); err != nil {
		d.cfg.Log.Warn("the last record files are not saved", "error", err)
	}
}

// deleteRecords deletes a thread and what belongs to its records.
func (d *Service) deleteRecords(ctx context.Context, thread string) error {
	remove := func() error {
		err := d.Manager.DeleteThread(ctx, thread)
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
