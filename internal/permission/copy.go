package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// maxCopy bounds the copy of permissions that is read, in bytes: a thousand threads with as many
// rules as one may have.
const maxCopy = 1000 * MaxRulesFile

// copyFormat is the version of the copy; a reader refuses another.
const copyFormat = 1

// fileCopy is the file: the permissions of all threads that have some, for a server that cannot read
// its database.
type fileCopy struct {
	Format  int          `json:"format"`
	Threads []threadCopy `json:"threads"`
}

type threadCopy struct {
	Thread string          `json:"thread_id"`
	Mode   string          `json:"mode"`
	Rules  json.RawMessage `json:"rules"`
}

// Save writes the copy, or removes it when no thread has permissions. It replaces the file
// atomically. After FailClosed it leaves the file alone: memory is incomplete then, and the copy
// would lose the denials of other threads.
func (e *Enforcer) Save() error {
	if e.file == "" || e.FailedClosed() != nil {
		return nil //nolint:nilerr // the caller of FailClosed logs it
	}
	e.mu.RLock()
	c := fileCopy{Format: copyFormat}
	for _, p := range e.threads {
		rules, _ := json.Marshal(p.Rules) // cannot fail: texts
		c.Threads = append(c.Threads, threadCopy{p.Thread, p.Mode, rules})
	}
	e.mu.RUnlock()
	if len(c.Threads) == 0 {
		if err := os.Remove(e.file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	slices.SortFunc(c.Threads, func(a, b threadCopy) int { return strings.Compare(a.Thread, b.Thread) })
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	next := e.file + ".new"
	// of a server that was killed; a link is not followed
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(next, e.file)
}

// LoadCopy reads the copy into memory, for a server without its database. A missing file means
// default permissions everywhere. On an error the caller must call FailClosed.
func (e *Enforcer) LoadCopy() error {
	if e.file == "" {
		return nil
	}
	i, err := os.Lstat(e.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !i.Mode().IsRegular() || i.Size() > maxCopy:
		return fmt.Errorf("%w: %s is no file of at most %d bytes", ErrDamaged, e.file, maxCopy)
	}
	b, err := os.ReadFile(e.file)
	if err != nil {
		return err
	}
	list, err := parseCopy(b)
	if err != nil {
		return fmt.Errorf("%s: %w", e.file, err)
	}
	for _, p := range list {
		e.Set(p)
	}
	return nil
}

// parseCopy reads the copy. Errors: ErrDamaged.
func parseCopy(b []byte) ([]Permissions, error) {
	var c fileCopy
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if c.Format != copyFormat {
		return nil, fmt.Errorf("%w: format %d, this server reads format %d", ErrDamaged, c.Format, copyFormat)
	}
	list := make([]Permissions, 0, len(c.Threads))
	for _, t := range c.Threads {
		p := Permissions{Thread: t.Thread, Mode: t.Mode}
		var err error
		if p.Rules, err = ParseRules(t.Rules); err != nil || CheckMode(t.Mode) != nil {
			p.Mode = ModeUnreadable
		}
		list = append(list, p)
	}
	return list, nil
}
