package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTries: what was begun and not ended is counted for the same thing alone, also by the next server, whatever else
// is in the file.
func TestTries(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, "a", "b", "c")
	s.BeginTry("b", "y", 1)
	s.BeginTry("a", "x 1", 2)
	wantTries(t, s, "a", "x 1", 2)
	wantTries(t, s, "a", "x", 0)
	s.EndTry("b")
	s.BeginTry("c", "z", 7) // in the place of b
	name := filepath.Join(dir, triesFile)
	if info, err := os.Stat(name); err != nil || info.Size() != 2*trySize {
		t.Errorf("%v, %v", info, err)
	}

	s = openStore(t, dir)
	wantTries(t, s, "a", "x 1", 2)
	wantTries(t, s, "b", "y", 0)
	wantTries(t, s, "c", "z", 7)
	s.EndTry("a")
	wantTries(t, s, "a", "x 1", 0)
	if err := s.Remove("c"); err != nil {
		t.Fatal(err)
	}
	wantTries(t, openStore(t, dir), "c", "z", 0)
}

func wantTries(t *testing.T, s *Store, id, what string, want int) {
	t.Helper()
	if n := s.Tries(id, what); n != want {
		t.Errorf("%d tries of %s with %s, want %d", n, what, id, want)
	}
}

// TestTriesOfADamagedFile: what is no try is a free place; a link is replaced.
func TestTriesOfADamagedFile(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, "a", "b")
	name := filepath.Join(dir, triesFile)
	good := string(append([]byte("3 a x 1\n"), make([]byte, trySize-8)...))
	for text, want := range map[string]int{"": 0, "2": 0, "x a x 1\n": 0, "\x00": 0, "-": 0, good[:8]: 3, good: 3,
		strings.Repeat("\x00", 2*maxTries*trySize): 0, strings.Repeat("\xff", trySize) + good: 3} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, dir)
		wantTries(t, s, "a", "x 1", want)
		s.BeginTry("b", "y", 4)
		wantTries(t, openStore(t, dir), "b", "y", 4)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), name); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir).BeginTry("a", "x", 1)
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("a link was followed out of the directory")
	}
	wantTries(t, openStore(t, dir), "a", "x", 1)
}

// TestTriesWithoutAFile: what cannot be noted is not counted, until it can. A directory of that name stays.
func TestTriesWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, triesFile)
	if err := os.MkdirAll(filepath.Join(name, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := openWith(t, dir, "a")
	s.BeginTry("a", "x", 1)
	wantTries(t, openStore(t, dir), "a", "x", 0)
	if err := os.Remove(filepath.Join(name, "mine")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	s.BeginTry("a", "x", 2)
	wantTries(t, openStore(t, dir), "a", "x", 2)
}

// TestManyTries: of more at once than there is room for the others are not counted. Terminals that have gone leave
// room.
func TestManyTries(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, "0", "200")
	for i := range 2 * maxTries {
		s.BeginTry(strconv.Itoa(i), "x", 1)
	}
	for i := range 2 * maxTries {
		wantTries(t, s, strconv.Itoa(i), "x", 1-i/maxTries)
	}
	s = openStore(t, dir)
	s.BeginTry("a", "x", 1)
	for id, want := range map[string]int{"0": 1, "1": 0, "200": 1, "201": 0, "a": 1} {
		wantTries(t, s, id, "x", want)
	}
}

// openWith is openStore with terminals.
func openWith(t *testing.T, dir string, ids ...string) *Store {
	t.Helper()
	s := openStore(t, dir)
	for _, id := range ids {
		if err := s.SaveMeta(id, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	return s
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
