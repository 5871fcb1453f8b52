package sqlite

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestAKilledServersDeletionIsErased: what a server deleted and could not erase before it was killed is in no file
// once the next one has looked for what is left.
func TestAKilledServersDeletionIsErased(t *testing.T) {
	t.Parallel()
	dir, killed := t.TempDir(), t.TempDir()
	s, err := Open(filepath.Join(dir, "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	crowd(t, s, 3)
	if err := s.View(func(tx *Tx) error { // holds the WAL
		if _, err := tx.Threads("", "", 0); err != nil {
			return err
		}
		leave(t, s, 3)
		return os.CopyFS(killed, os.DirFS(dir))
	}); err != nil {
		t.Fatal(err)
	}
	if len(filesWith(t, killed, "xxxx")) == 0 {
		t.Fatal("nothing is left to erase")
	}
	next, err := Open(filepath.Join(killed, "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	next.eraseRest() // the first look of shrinkLoop
	if list := filesWith(t, killed, "xxxx"); len(list) > 0 {
		t.Errorf("it is in %v", list)
	}
}

// filesWith are the files of a directory that have a text.
func filesWith(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			list = append(list, f.Name())
		}
	}
	return list
}
