// Package datadir is the data directory of a server: its lock, the directories of
// terminals and shells with metadata and snapshots, and the writing of files so
// that each is there whole or not at all.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// Errors of the Store. All that a Store returns wrap one of them or the
// operating system's own, and name the path.
var (
	ErrBadID    = errors.New("not a terminal id") // ids match ^[a-z0-9-]{1,64}$
	ErrNotFound = errors.New("nothing kept under this id")
	ErrNoSpace  = errors.New("no space left to write to the data directory") // disk, quota or file size limit
	ErrForeign  = errors.New("data directory of another user")
	ErrLoose    = errors.New("data directory that others can write to")
	ErrReadOnly = errors.New("data directory that cannot be written to")
	ErrLocked   = errors.New("data directory in use by another evertty")
)

// Store keeps what survives of terminals in a data directory:
//
//	DIR/terminals/ID/meta       the caller's metadata; meta.1 is the one before
//	DIR/terminals/ID/screen.N   snapshot files; the two with the highest N are kept
//	DIR/terminals/ID/typed      that a line is being typed, see SaveTyped
//	DIR/terminals/ID/holder     who alone types, see SaveHolder
//	DIR/tries                   which screens are made from the files, see Tries
//	DIR/shells/ID/              what package shell keeps of a shell
//	DIR/shells/ID.json          the caller's facts of it
//
// Directories are 0700 and files 0600 whatever the umask. Every file appears
// complete or not at all (written beside, synced, renamed), and no symbolic
// link inside the directory is ever followed. Open sweeps what interrupted
// writes (.tmp-…) and removals (.gone-…) left; other names are not touched,
// they belong to other parts of evertty.
//
// Calls for different ids may run at the same time, calls for one id must not.
// One process at a time may use a directory; see Lock.
type Store struct {
	terminals *os.Root
	shells    *os.Root
	path      string   // of terminals
	unsynced  sync.Map // ids whose directory was made and whose name was not synced; see syncName
	tries     tries
}

// Open opens the data directory dir and makes it when absent. It refuses a
// directory that belongs to another user (ErrForeign), that others can write to
// (ErrLoose) or that cannot be written to (ErrReadOnly). Close releases it.
func Open(dir string) (*Store, error) {
	root, err := openDataDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	terminals, err := openPart(root, "terminals")
	if err != nil {
		return nil, err
	}
	shells, err := openPart(root, "shells")
	if err != nil {
		_ = terminals.Close()
		return nil, err
	}
	s := &Store{terminals: terminals, shells: shells, path: terminals.Name()}
	if err := errors.Join(sweepCopies(root), s.sweep(), sweepShells(shells)); err != nil {
		_ = s.Close()
		return nil, refused(dir, err)
	}
	s.tries.begin(root, terminals)
	return s, nil
}

// OpenToRead opens the data directory dir as it is: it makes, checks and removes nothing, and nothing may be written.
// Close releases it. Errors: the operating system's, fs.ErrNotExist when there is no terminal or shell yet.
func OpenToRead(dir string) (*Store, error) {
	terminals, err := os.OpenRoot(filepath.Join(dir, "terminals"))
	if err != nil {
		return nil, err
	}
	shells, err := os.OpenRoot(filepath.Join(dir, "shells"))
	if err != nil {
		return nil, errors.Join(err, terminals.Close())
	}
	return &Store{terminals: terminals, shells: shells, path: terminals.Name()}, nil
}

// openPart opens a directory of the data directory and makes it when absent.
func openPart(root *os.Root, name string) (*os.Root, error) {
	if err := makeDir(root, name); err != nil {
		return nil, refused(root.Name(), err)
	}
	part, err := openDir(root, name)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", root.Name(), err)
	}
	return part, nil
}

// Close releases the directory. Nothing may be called after it.
func (s *Store) Close() error {
	return errors.Join(s.tries.close(), s.terminals.Close(), s.shells.Close())
}

// Dir is the directory, absolute and with all links followed.
func (s *Store) Dir() string {
	dir := filepath.Dir(s.path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// List returns the ids under which something is kept, ascending.
func (s *Store) List() ([]string, error) {
	entries, err := ReadDir(s.terminals)
	if err != nil {
		return nil, fmt.Errorf("datadir: list %s: %w", s.path, err)
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() && validID().MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Remove deletes all that is kept of id; it is no error when that is nothing.
// After a crash in the middle either all is there or the rest is swept by the
// next Open.
func (s *Store) Remove(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	s.unsynced.Delete(id)
	s.EndTry(id)
	if err := removeDir(s.terminals, id, func() error { return nil }); err != nil {
		return fmt.Errorf("datadir: remove %s: %w", id, err)
	}
	return nil
}

// removeDir deletes a directory in d, which first gets the name of a leftover; then more is called. None is no error.
func removeDir(d *os.Root, name string, more func() error) error {
	gone := GoneDir + name
	err := d.RemoveAll(gone)
	if err == nil {
		err = ignoreAbsent(d.Rename(name, gone))
	}
	if err == nil {
		err = errors.Join(more(), d.RemoveAll(gone))
	}
	if err == nil {
		err = SyncDir(d)
	}
	return err
}

// Size is the number of bytes that the files kept of id hold together.
func (s *Store) Size(id string) (int64, error) {
	d, err := s.Open(id)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	var n int64
	if err := eachFile(d, func(_ string, size int64) { n += size }); err != nil {
		return 0, fmt.Errorf("datadir: size of %s: %w", id, err)
	}
	return n, nil
}

// eachFile calls do with the regular files in d and their sizes in bytes.
func eachFile(d *os.Root, do func(name string, size int64)) error {
	entries, err := ReadDir(d)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			do(e.Name(), info.Size())
		}
	}
	return err
}

var validID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]{1,64}$`) })

// checkID refuses everything but ^[a-z0-9-]{1,64}$.
func checkID(id string) error {
	if validID().MatchString(id) {
		return nil
	}
	if len(id) > 64 {
		id = strings.ToValidUTF8(id[:64], "") + "…"
	}
	return fmt.Errorf("datadir: %w: %q", ErrBadID, id)
}

// Open opens the directory of id.
func (s *Store) Open(id string) (*os.Root, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	d, err := openDir(s.terminals, id)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("datadir: terminal %s: %w", id, err)
	}
	return d, nil
}

// Make opens the directory of id and makes it when absent. Its name is durable with the first SaveMeta or Save.
func (s *Store) Make(id string) (*os.Root, error) {
	d, err := s.Open(id)
	if !errors.Is(err, ErrNotFound) {
		return d, err
	}
	s.unsynced.Store(id, nil)
	if err = makeDir(s.terminals, id); err != nil {
		return nil, fmt.Errorf("datadir: terminal %s: %w", id, NoSpace(err))
	}
	return s.Open(id)
}

// syncName makes the name of a directory durable that Make has made.
func (s *Store) syncName(id string) error {
	if _, made := s.unsynced.Load(id); !made {
		return nil
	}
	err := SyncDir(s.terminals)
	if err == nil {
		s.unsynced.Delete(id)
	}
	return err
}

// sweep deletes what interrupted writes and removals left. What cannot be
// deleted stays: the next write replaces it.
func (s *Store) sweep() error {
	entries, err := ReadDir(s.terminals)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case Leftover(e.Name()):
			_ = s.terminals.RemoveAll(e.Name())
		case e.IsDir() && validID().MatchString(e.Name()):
			s.sweepTerminal(e.Name())
		}
	}
	return nil
}

// sweepCopies deletes the copies of the database that interrupted backups left.
func sweepCopies(root *os.Root) error {
	entries, err := ReadDir(root)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), copyPrefix) {
			_ = root.Remove(e.Name())
		}
	}
	return err
}

func (s *Store) sweepTerminal(id string) {
	d, err := openDir(s.terminals, id)
	if err != nil {
		return
	}
	defer d.Close()
	entries, _ := ReadDir(d)
	for _, e := range entries {
		if Leftover(e.Name()) {
			sweepDropped(d, e.Name())
			_ = d.RemoveAll(e.Name())
		}
	}
}

// Leftover reports whether a name is of a file that is being written or of a directory that is being removed.
func Leftover(name string) bool {
	return strings.HasPrefix(name, tmpFile) || strings.HasPrefix(name, GoneDir)
}

// NoSpace adds ErrNoSpace to an error that means it: disk full, quota, or the
// file size limit of the process.
func NoSpace(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
