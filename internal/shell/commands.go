package shell

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/evertty/evertty/internal/shell/history"
)

// commandList has the commands of a shell that wait, run, or are kept after their end, in the order of submission.
type commandList struct {
	history *history.Store

	pruning sync.Mutex // held over the disk, taken before mu

	mu     sync.Mutex // guards what follows; a leaf
	all    []*Exec
	byID   map[string]*Exec
	pruned int // how many of all were left at the last look for those beyond the history's bounds
}

// Commands returns the newest limit commands (0 is all) before the one with the id before ("" is none), in the order
// of submission.
func (l *commandList) Commands(limit int, before string) []Info {
	list := l.Execs()
	if at := slices.IndexFunc(list, func(e *Exec) bool { return e.id == before }); at >= 0 {
		list = list[:at]
	}
	if limit > 0 {
		list = list[max(0, len(list)-limit):]
	}
	infos := make([]Info, len(list))
	for i, e := range list {
		infos[i] = e.Info()
	}
	return infos
}

// Execs returns all commands of the history, in the order of submission.
func (l *commandList) Execs() []*Exec {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// Terminals are the enrolled commands. After a restart of the server their caller goes on with those that run.
func (l *commandList) Terminals() []*Exec {
	return slices.DeleteFunc(l.Execs(), func(e *Exec) bool { return !e.spec().TTY })
}

// Command finds a command. Errors: ErrNotFound.
func (l *commandList) Command(id string) (*Exec, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byID[id]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("shell: command %.80q: %w", id, ErrNotFound)
}

func (l *commandList) add(e *Exec) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
	l.byID[e.id] = e
}

// pruneIfDue removes the oldest commands beyond the history's bounds, after every pruneEvery commands.
func (l *commandList) pruneIfDue() {
	l.mu.Lock()
	due := len(l.all)-l.pruned >= pruneEvery
	if due {
		l.pruned = len(l.all)
	}
	l.mu.Unlock()
	if !due {
		return
	}
	l.pruning.Lock()
	defer l.pruning.Unlock()
	list := l.Execs()
	var ended []Info
	for _, e := range list {
		if e.isComplete() {
			ended = append(ended, e.Info())
		}
	}
	if gone := l.history.Prune(ended, len(list)); len(gone) > 0 {
		l.remove(gone)
	}
}

// Forget removes a command that has ended from the history, with its text and output. Errors: ErrUnended.
func (l *commandList) Forget(e *Exec) error {
	l.pruning.Lock()
	defer l.pruning.Unlock()
	if !e.isComplete() {
		return fmt.Errorf("shell: forget %s: %w", e.id, ErrUnended)
	}
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("shell: forget %s: %w", e.id, err)
	}
	l.remove([]string{e.id})
	return nil
}

// remove takes the commands with the ids, whose files are removed, out of the list.
func (l *commandList) remove(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if e := l.byID[id]; e != nil {
			e.forget()
			delete(l.byID, id)
		}
	}
	l.all = slices.DeleteFunc(l.all, func(e *Exec) bool { return l.byID[e.id] != e })
	l.pruned = min(l.pruned, len(l.all))
}
