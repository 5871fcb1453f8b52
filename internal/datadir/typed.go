package datadir

import (
	"errors"
	"fmt"
)

const (
	// typedFile says that something was typed in a terminal and not submitted.
	typedFile = "typed"
	// holderFile says who alone types in a terminal.
	holderFile = "holder"
	// maxTyped bounds these files, in bytes.
	maxTyped = 4 << 10
)

// SaveTyped keeps p, at most 4 KiB, as what the next server needs to know of a line that is
// being typed in terminal id; without p nothing is kept. It may run beside other calls for the
// terminal. The system has it when it returns; it is not synced, because no program outlives a
// crash of the machine. Errors: ErrNotFound, ErrNoSpace.
func (s *Store) SaveTyped(id string, p []byte) error { return s.saveNote(id, typedFile, p) }

// SaveHolder is SaveTyped of who alone types in terminal id.
func (s *Store) SaveHolder(id string, p []byte) error { return s.saveNote(id, holderFile, p) }

// saveNote writes a small file of a terminal, or removes it.
func (s *Store) saveNote(id, file string, p []byte) error {
	d, err := s.Open(id)
	if err != nil {
		return err
	}
	defer d.Close()
	if len(p) == 0 {
		err = ignoreAbsent(d.Remove(file))
	} else if f, e := CreateFile(d, file); e != nil {
		err = e
	} else {
		_, e = f.Write(p)
		err = errors.Join(e, f.Close())
	}
	if err != nil {
		return fmt.Errorf("datadir: file %s of terminal %s: %w", file, id, NoSpace(err))
	}
	return nil
}

// LoadTyped returns what SaveTyped keeps; nil for nothing. Errors: ErrNotFound without the
// terminal, ErrCorrupt.
func (s *Store) LoadTyped(id string) ([]byte, error) { return s.loadNote(id, typedFile) }

// LoadHolder is LoadTyped of what SaveHolder keeps.
func (s *Store) LoadHolder(id string) ([]byte, error) { return s.loadNote(id, holderFile) }

func (s *Store) loadNote(id, file string) ([]byte, error) {
	d, err := s.Open(id)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	p, err := ReadFile(d, file, maxTyped)
	return p, ignoreAbsent(err)
}
