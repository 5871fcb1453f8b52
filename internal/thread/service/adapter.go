package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
)

// providerAdapter is a provider as leases need it.
type providerAdapter struct {
	Place
	pauses *pauses
}

// initTime bounds the first commands of an instance together: they install things.
const initTime = 10 * time.Minute

// undoTime bounds the end of an instance that is of no use.
const undoTime = 30 * time.Second

// Create makes an instance with the lease's name, by which orphans can be found, and runs the first commands in it. One in which they fail is destroyed.
func (r providerAdapter) Create(ctx context.Context, l thread.Lease) (string, error) {
	i, err := r.Provider.Create(ctx, provider.CreateRequest{Name: l.ID})
	if err != nil {
		return "", told(err)
	}
	limit, cancel := context.WithTimeout(ctx, initTime)
	defer cancel()
	for _, text := range r.Init {
		if err := r.init(limit, i.ID, text); err != nil {
			undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
			defer cancel()
			return "", errors.Join(err, told(r.Provider.Destroy(undo, i.ID)))
		}
	}
	r.pauses.freeze(l.ID, false)
	return i.ID, nil
}

func (r providerAdapter) init(ctx context.Context, id, text string) error {
	result, err := r.Provider.Exec(ctx, id, provider.ExecRequest{Command: text}, io.Discard, io.Discard)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("exit code %d", result.ExitCode)
	}
	if err != nil {
		return fmt.Errorf("init command %.80q: %w", text, told(err))
	}
	return nil
}

func (r providerAdapter) Pause(ctx context.Context, l thread.Lease, instance string) error {
	r.pauses.freeze(l.ID, true)
	err := r.Provider.Pause(ctx, instance)
	if err != nil {
		r.pauses.freeze(l.ID, false)
	}
	return told(err)
}

func (r providerAdapter) Resume(ctx context.Context, l thread.Lease, instance string) error {
	err := r.Provider.Resume(ctx, instance)
	if err == nil {
		r.pauses.freeze(l.ID, false)
	}
	return told(err)
}

func (r providerAdapter) Destroy(ctx context.Context, l thread.Lease, instance string) error {
	err := r.Provider.Destroy(ctx, instance)
	if err == nil {
		r.pauses.freeze(l.ID, false)
	}
	return told(err)
}

func (r providerAdapter) Status(ctx context.Context, l thread.Lease, instance string) (thread.Observed, error) {
	s, err := r.Provider.Status(ctx, instance)
	if err == nil {
		r.pauses.freeze(l.ID, thread.Observed(s) == thread.Frozen)
	}
	return thread.Observed(s), told(err)
}

// told gives an error of a provider the name that session has for it.
func told(err error) error {
	if errors.Is(err, provider.ErrCannot) {
		return errors.Join(thread.ErrUnsupported, err)
	}
	return err
}
