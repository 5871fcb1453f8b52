package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/evertty/evertty/internal/conversation"
)

// maxID is how long the id of a conversation may be, in bytes; names of files end at 255.
const maxID = 128

// Parts of names. An id has no dot, so nothing else has the name of a conversation's file.
const (
	suffix  = ".json"
	damaged = ".damaged.json"
	partial = ".tmp-" // of a write that runs
)

// CheckID reports whether a conversation may have this id, which is the name of its file: 1 to 128
// letters, digits, "-" and "_". The error is ErrInvalid.
func CheckID(id string) error {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, bad) {
		return fmt.Errorf("%w: %.200q is no id of a record, which has 1 to %d letters, digits, \"-\" and \"_\"",
			conversation.ErrInvalid, id, maxID)
	}
	return nil
}

// rotated is the name of the nth old file of a conversation; the 0th is the one that is no old one.
func rotated(id string, n int) string {
	if n == 0 {
		return id + suffix
	}
	return fmt.Sprintf("%s.%d%s", id, n, suffix)
}

// Stored describes the file of a conversation.
type Stored struct {
	Bytes   int64
	Changed int64 // when it was written, in nanoseconds since 1970
}

// List returns the files ID.json by id.
func (f *Files) List() (map[string]Stored, error) {
	entries, err := f.entries()
	found := map[string]Stored{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || CheckID(id) != nil {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[id] = Stored{info.Size(), info.ModTime().UnixNano()}
	}
	return found, err
}

func (f *Files) sweep() error {
	entries, err := f.entries()
	for _, e := range entries {
		if id, ok := strings.CutPrefix(e.Name(), partial); ok && CheckID(id) == nil {
			err = errors.Join(err, f.dir.RemoveAll(e.Name()))
		}
	}
	return err
}

func (f *Files) entries() ([]fs.DirEntry, error) {
	d, err := f.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}
