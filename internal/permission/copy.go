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

// maxGuardFile bounds the copy of permissions that is read, in bytes: a thousand threads with as many rules as one may have.
const maxGuardFile = 1000 * MaxRulesFile

// guardFormat is the version of the copy; a reader refuses another.
const guardFormat = 1

// fileCopy is the file: the permissions of all threads of which something is set, for a server that cannot read its database.
type fileCopy struct {
	Format  int          `json:"format"`
	Threads []threadCopy `json:"threads"`
}

type threadCopy struct {
	Thread string          `json:"thread_id"`
	Mode   string          `json:"mode"`
	Rules  json.RawMessage `json:"rules"`
}

// Save writes the copy, or removes it when there is nothing to say. The file is replaced at once: a reader has all of one or all of the other. Who is blind leaves it alone: what is in memory
// then is not all, and the copy would forget what the other threads forbid.
func (g *Enforcer) Save() error {
	if g.file == "" || g.FailedClosed() != nil {
		return nil //nolint:nilerr // who made it blind has told why
	}
	g.mu.RLock()
	c := fileCopy{Format: guardFormat}
	for _, p := range g.threads {
		rules, _ := json.Marshal(p.Rules) // cannot fail: texts
		c.Threads = append(c.Threads, threadCopy{p.Thread, p.Mode, rules})
	}
	g.mu.RUnlock()
	if len(c.Threads) == 0 {
		if err := os.Remove(g.file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	slices.SortFunc(c.Threads, func(a, b threadCopy) int { return strings.Compare(a.Thread, b.Thread) })
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	next := g.file + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a server that was killed; a link is not followed
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
	return os.Rename(next, g.file)
}

// LoadCopy brings what the copy has into memory, where there is no Store to ask. No file says that nobody has set anything. When it fails, nobody knows what is forbidden: see Blind.
func (g *Enforcer) LoadCopy() error {
	if g.file == "" {
		return nil
	}
	i, err := os.Lstat(g.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !i.Mode().IsRegular() || i.Size() > maxGuardFile:
		return fmt.Errorf("%w: %s is no file of at most %d bytes", ErrDamaged, g.file, maxGuardFile)
	}
	b, err := os.ReadFile(g.file)
	if err != nil {
		return err
	}
	list, err := parseCopy(b)
	if err != nil {
		return fmt.Errorf("%s: %w", g.file, err)
	}
	for _, p := range list {
		g.Set(p)
	}
	return nil
}

// parseCopy reads the copy. Errors: ErrDamaged.
func parseCopy(b []byte) ([]Permissions, error) {
	var c fileCopy
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if c.Format != guardFormat {
		return nil, fmt.Errorf("%w: format %d, this server reads format %d", ErrDamaged, c.Format, guardFormat)
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
