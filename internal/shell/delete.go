package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/stdio"
)

// Delete ends all processes that any process of the shell has started, releases what the keeper holds, and removes
// Dir. Commands that wait or run fail with ErrDeleted. It returns when nothing is left, or with an error about
// survivors.
func (s *Shell) Delete(ctx context.Context) error {
	s.mu.Lock()
	again := s.deleted
	s.deleted = true
	proc := s.proc
	s.mu.Unlock()
	if !again {
		s.cancel(ErrDeleted)
	}
	var err error
	if proc != nil && !shelldir.Closed(proc.Ended) {
		if killErr := proc.End(ctx); killErr != nil {
			err = fmt.Errorf("shell: delete %s: %w", s.spec.ID, killErr)
		}
		<-proc.Ended
	}
	if !again {
		s.shutDown(ErrDeleted) // nobody starts anything after this
	}
	err = errors.Join(err, proctree.Sweep(ctx, s.spec.Dir, s.config.Keeper.LastPID()))
	s.mu.Lock()
	list := s.all
	for _, e := range s.queue.commands(true) {
		if e.internal() {
			list = append(slices.Clip(list), e)
		}
	}
	s.mu.Unlock()
	s.queue.remove(nil) // changes
	for _, e := range list {
		s.queue.remove(e)
		if !e.hasEnded() {
			e.end(Failed, nil, ErrDeleted)
		}
		e.outputs[0].Finish()
		e.outputs[1].Finish()
		s.config.Keeper.Release(e.holdID())
		if e.stdinOpen() { // the server's own end is closed already, the keeper's is not
			s.config.Keeper.Release(stdio.InputID(e.holdID()))
		}
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.spec.Dir); err != nil {
		return fmt.Errorf("shell: delete %s: %w", s.spec.ID, err)
	}
	for _, e := range list {
		e.outputs[0].Forget()
		e.outputs[1].Forget()
	}
	return nil
}
