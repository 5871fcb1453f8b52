package datadir

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Usage is the size of one terminal's files, in bytes.
type Usage struct {
	ID                 string
	Journal, Snapshots int64
}

// Usage returns what every terminal takes, by id.
func (s *Store) Usage() ([]Usage, error) {
	ids, err := s.List()
	if err != nil {
		return nil, err
	}
	out := make([]Usage, 0, len(ids))
	for _, id := range ids {
		u, err := s.UsageOf(id)
		if err != nil && !errors.Is(err, ErrNotFound) { // removed meanwhile
			return nil, err
		}
		if err == nil {
			out = append(out, u)
		}
	}
	return out, nil
}

// UsageOf is Usage of one terminal. Errors: ErrNotFound.
func (s *Store) UsageOf(id string) (Usage, error) {
	u := Usage{ID: id}
	d, err := s.Open(id)
	if err != nil {
		return u, err
	}
	defer d.Close()
	err = eachFile(d, func(name string, size int64) {
		if journalFile(name) {
			u.Journal += size
		} else if strings.HasPrefix(name, screenPrefix) {
			u.Snapshots += size
		}
	})
	if err != nil {
		return u, fmt.Errorf("datadir: size of %s: %w", id, err)
	}
	return u, nil
}

// journalFile reports whether a file of that name belongs to a journal.
func journalFile(name string) bool {
	_, _, data := SegmentOffset(DataFile, name)
	_, _, index := SegmentOffset(IndexFile, name)
	return data || index
}

// dropFile deletes a file and returns the bytes it had.
func dropFile(d *os.Root, name string) (freed int64, err error) {
	info, err := d.Lstat(name)
	if err != nil {
		return 0, ignoreAbsent(err)
	}
	return info.Size(), d.RemoveAll(name)
}
