package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/snapshot"
)

func shellNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "shells"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func makeShell(t *testing.T, s *Store, id, facts string) string {
	t.Helper()
	dir, err := s.MakeShell(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveShell(id, []byte(facts)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestStoreKeepsShells(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	made := makeShell(t, s, "one", `{"a":1}`)
	if i, err := os.Stat(made); err != nil || i.Mode().Perm() != 0o700 || !filepath.IsAbs(made) {
		t.Fatalf("%s: %v", made, err)
	}
	if _, err := s.MakeShell("one"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v, want that it exists", err)
	}
	if err := s.SaveShell("one", []byte(`{"a":2}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.MakeShell("half"); err != nil {
		t.Fatal(err)
	}
	makeShell(t, s, "hurt", "x")
	if err := os.WriteFile(filepath.Join(dir, "shells", "hurt.json"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	s = openStore(t, dir)
	list, err := s.Shells()
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v; want three", list, err)
	}
	if k := list[0]; k.ID != "half" || !errors.Is(k.Damage, ErrNotFound) {
		t.Errorf("%+v, want one without facts", k)
	}
	if k := list[1]; k.ID != "hurt" || !errors.Is(k.Damage, snapshot.ErrCorrupt) || k.Facts != nil {
		t.Errorf("%+v, want a damaged one", k)
	}
	if k := list[2]; k.ID != "one" || k.Dir != made || string(k.Facts) != `{"a":2}` || k.Damage != nil {
		t.Errorf("%+v, want the newest facts", k)
	}
	checkModes(t, dir)
	for _, k := range list {
		if err := s.RemoveShell(k.ID); err != nil {
			t.Error(err)
		}
	}
	if err := s.RemoveShell("never"); err != nil {
		t.Errorf("one that never was: %v", err)
	}
	if left := shellNames(t, dir); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	for _, id := range []string{"", "..", "a/b", "A", ".gone-x", "a.json"} {
		if _, err := s.MakeShell(id); !errors.Is(err, ErrBadID) {
			t.Errorf("make %q: %v, want ErrBadID", id, err)
		}
		if err := errors.Join(s.SaveShell(id, nil), s.RemoveShell(id)); !errors.Is(err, ErrBadID) {
			t.Errorf("save %q: %v, want ErrBadID", id, err)
		}
	}
}

// TestOpenStoreSweepsShells: what a crash in the middle of a write or a removal left is gone, nothing else is.
func TestOpenStoreSweepsShells(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	makeShell(t, s, "whole", "x")
	_ = s.Close()
	at := func(name string) string { return filepath.Join(dir, "shells", name) }
	for _, name := range []string{"orphan.json", ".tmp-whole.json", "Foreign.json", "foreign.txt"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(at(".gone-x/c/1"), 0o700); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir)
	got, want := shellNames(t, dir), []string{"Foreign.json", "foreign.txt", "whole", "whole.json"}
	if len(got) != len(want) {
		t.Fatalf("left are %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("left are %v, want %v", got, want)
		}
	}
}

func TestShellsFollowNoLink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	s := openStore(t, dir)
	if err := os.Symlink(elsewhere, filepath.Join(dir, "shells", "link")); err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(elsewhere, "keep")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Shells(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v; a link is no shell", list, err)
	}
	if err := s.RemoveShell("link"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(keep); err != nil {
		t.Errorf("what the link led to: %v", err)
	}
}
