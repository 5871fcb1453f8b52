package datadir

import (
	"errors"
	"fmt"
)

// typedFile says that something was typed in a terminal and not submitted.
const typedFile = "typed"

// maxTyped bounds that file, in bytes.
const maxTyped = 4 << 10

// SaveTyped keeps p, at most 4 KiB, as what the next server needs to know of a line that is
// being typed in terminal id; without p nothing is kept. It may run beside other calls for the
// terminal. The system has it when it returns; it is not synced, because no program outlives a
// crash of the machine. Errors: ErrNotFound, ErrNoSpace.
func (s *Store) SaveTyped(id string, p []byte) error {
	d, err := s.Open(id)
	if err != nil {
		return err
	}
	defer d.Close()
	if len(p) == 0 {
		err = ignoreAbsent(d.Remove(typedFile))
	} else if f, e := CreateFile(d, typedFile); e != nil {
		err = e
	} else {
		_, e = f.Write(p)
		err = errors.Join(e, f.Close())
	}
	if err != nil {
		return fmt.Errorf("datadir: line of terminal %s: %w", id, NoSpace(err))
	}
	return nil
}

// LoadTyped returns what SaveTyped keeps; nil for nothing. Errors: ErrNotFound without the
// terminal, ErrCorrupt.
func (s *Store) LoadTyped(id string) ([]byte, error) {
	d, err := s.Open(id)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	p, err := ReadFile(d, typedFile, maxTyped)
	return p, ignoreAbsent(err)
}
