package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// shellFacts ends the name of the file with what the caller knows of a shell. It stands beside the shell's
// directory, whose content is package shell's alone.
const shellFacts = ".json"

// KeptShell is one shell of a Store.
type KeptShell struct {
	ID  string
	Dir string // absolute
	// Facts are what SaveShell kept, nil when nothing good is there; Damage says why, ErrNotFound when SaveShell was
	// never called.
	Facts  []byte
	Damage error
}

// MakeShell makes the directory of a new shell, empty and of mode 0700, and returns its absolute path. The shell counts
// as half made until SaveShell. Errors: ErrBadID, fs.ErrExist, ErrNoSpace.
func (s *Store) MakeShell(id string) (dir string, err error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	err = s.shells.Mkdir(id, 0o700)
	if err == nil {
		err = errors.Join(s.shells.Chmod(id, 0o700), SyncDir(s.shells))
	}
	if err != nil {
		return "", fmt.Errorf("datadir: shell %s: %w", id, NoSpace(err))
	}
	return filepath.Join(s.shells.Name(), id), nil
}

// SaveShell keeps p, at most 4 MiB, as the facts of a shell and syncs it to disk; a crash at any instant leaves the
// facts before or these. Errors: ErrBadID, ErrNoSpace.
func (s *Store) SaveShell(id string, p []byte) error {
	if err := checkID(id); err != nil {
		return err
	}
	if len(p) > maxMeta {
		return fmt.Errorf("datadir: facts of shell %s: %d bytes are more than %d", id, len(p), maxMeta)
	}
	if err := writeFile(s.shells, id+shellFacts, sealMeta(p)); err != nil {
		return fmt.Errorf("datadir: save facts of shell %s: %w", id, err)
	}
	return nil
}

// Shells returns the shells in the directory, by ID. Damage of one leaves the others.
func (s *Store) Shells() ([]KeptShell, error) {
	entries, err := ReadDir(s.shells)
	if err != nil {
		return nil, fmt.Errorf("datadir: list %s: %w", s.shells.Name(), err)
	}
	var list []KeptShell
	for _, e := range entries {
		if e.IsDir() && validID().MatchString(e.Name()) {
			list = append(list, s.loadShell(e.Name()))
		}
	}
	return list, nil
}

func (s *Store) loadShell(id string) KeptShell {
	k := KeptShell{ID: id, Dir: filepath.Join(s.shells.Name(), id)}
	k.Facts, k.Damage = loadMeta(s.shells, id+shellFacts)
	if errors.Is(k.Damage, fs.ErrNotExist) {
		k.Damage = ErrNotFound
	}
	if k.Damage != nil {
		k.Damage = fmt.Errorf("datadir: facts of shell %s: %w", id, k.Damage)
	}
	return k
}

// RemoveShell deletes the directory and the facts of a shell; it is no error when there are none. After a crash in
// the middle either all is there or the rest is swept by the next Open. Errors: ErrBadID.
func (s *Store) RemoveShell(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	err := removeDir(s.shells, id, func() error { return ignoreAbsent(s.shells.Remove(id + shellFacts)) })
	if err != nil {
		return fmt.Errorf("datadir: remove shell %s: %w", id, err)
	}
	return nil
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweepShells deletes what interrupted writes and removals left: facts without a directory are
// of a shell that was being removed. It drops errors: a leftover does no harm.
func sweepShells(shells *os.Root) error {
	entries, err := ReadDir(shells)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, isFacts := strings.CutSuffix(e.Name(), shellFacts)
		if isFacts = isFacts && validID().MatchString(id); isFacts {
			_, err := shells.Lstat(id)
			isFacts = errors.Is(err, fs.ErrNotExist)
		}
		if Leftover(e.Name()) || isFacts {
			_ = shells.RemoveAll(e.Name())
		}
	}
	return nil
}
