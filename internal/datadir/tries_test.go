package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestTries: what was begun and not ended is counted for the same thing alone, whatever is in the file.
func TestTries(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	s.BeginTry("a", "x", 1)
	if n := s.Tries("a", "x"); n != 0 {
		t.Errorf("%d tries of an id with nothing", n)
	}
	if err := s.SaveMeta("a", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	s.BeginTry("a", "x 1", 2)
	if same, other := s.Tries("a", "x 1"), s.Tries("a", "x"); same != 2 || other != 0 {
		t.Errorf("%d tries of the same, %d of another", same, other)
	}
	s.EndTry("a")
	if n := s.Tries("a", "x 1"); n != 0 {
		t.Errorf("%d tries after the end", n)
	}
	name := filepath.Join(dir, "terminals", "a", triesFile)
	for _, text := range []string{"", "2", "x x 1\n", "\x00", "-"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := s.Tries("a", "x 1"); n != 0 {
			t.Errorf("%q: %d tries", text, n)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), name); err != nil {
		t.Fatal(err)
	}
	s.BeginTry("a", "x", 1)
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("a link was followed out of the directory")
	}
}

// TestUsageOf: what a terminal takes are its journal and its snapshots, of all and of one; an id with nothing is
// an error.
func TestUsageOf(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for _, id := range []string{"a", "b"} {
		if err := s.SaveMeta(id, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		for name, size := range map[string]int{"data.0": 10, "index.0": 20, "screen.3": 300, "other": 4000} {
			if err := os.WriteFile(filepath.Join(dir, "terminals", id, name), make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := Usage{"b", 30, 300}
	if u, err := s.UsageOf("b"); err != nil || u != want {
		t.Errorf("%+v, %v", u, err)
	}
	if err := s.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Usage(); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := s.UsageOf("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("of a removed one: %v", err)
	}
}
