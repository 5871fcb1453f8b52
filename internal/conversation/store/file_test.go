package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/conversation"
)

func openFiles(t *testing.T, limit int64) (*Files, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "threads")
	f, err := OpenFiles(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func save(t *testing.T, f *Files, id string, b []byte) {
	t.Helper()
	if aside, err := keep(f, id, b); err != nil || aside != "" {
		t.Fatalf("saving %s: %q, %v", id, aside, err)
	}
}

func keep(f *Files, id string, b []byte) (aside string, err error) {
	return f.Save(id, b, time.Now(), true)
}

// loaded is a conversation as it was found in a file.
type loaded struct {
	conversation.Document
	Name    string // of the file
	Damaged error  // what was wrong with newer files of the conversation, with their names; nil when Name is the newest
}

// load reads ID.json or, when that is missing or damaged, the newest rotation that is good.
func load(f *Files, id string) (loaded, error) {
	var wrong error
	for n := range Rotations + 1 {
		name := rotated(id, n)
		d, err := decode(f, name)
		if err == nil {
			return loaded{Document: d, Name: name, Damaged: wrong}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			wrong = errors.Join(wrong, err)
		}
	}
	return loaded{}, wrong
}

func decode(f *Files, name string) (d conversation.Document, err error) {
	b, err := f.read(name)
	if err == nil {
		if d, err = conversation.DecodeDocument(b); err != nil {
			err = fmt.Errorf("%w: %s: %w", conversation.ErrDamaged, name, err)
		}
	}
	return d, err
}

// sized is a conversation of n bytes that tells its number.
func sized(number, n int) []byte {
	b := fmt.Sprintf(`{"session_id":"a","current_task":"%d","fill":"`, number)
	return []byte(b + strings.Repeat("x", max(0, n-len(b)-2)) + `"}`)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func want(t *testing.T, dir string, files ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, files) {
		t.Fatalf("the files are %v, want %v", got, files)
	}
}

// TestRotationAtSizeCap is the seed's: a limit of 250 bytes and six messages of about 130.
func TestRotationAtSizeCap(t *testing.T) {
	f, dir := openFiles(t, 250)
	d := conversation.Document{SessionID: "a"}
	for i := range 6 {
		d.Messages = append(d.Messages, conversation.Message{Role: conversation.RoleUser,
			Content: fmt.Sprintf("Message %d: %s", i, strings.Repeat("x", 120))})
		b, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		save(t, f, "a", b)
	}
	got := names(t, dir)
	if !slices.Contains(got, "a.json") || !slices.Contains(got, "a.1.json") {
		t.Fatalf("the files are %v", got)
	}
	l, err := load(f, "a")
	if err != nil || l.Name != "a.json" || l.Damaged != nil || len(l.Messages) != 6 {
		t.Fatalf("loaded %d messages of %s: %v, %v", len(l.Messages), l.Name, l.Damaged, err)
	}
	info, err := os.Stat(filepath.Join(dir, "a.1.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestRotationKeepsThree: after 100 saves that all rotate there are three old files, and they are
// the last three.
func TestRotationKeepsThree(t *testing.T) {
	f, dir := openFiles(t, 250)
	for i := range 100 {
		save(t, f, "a", sized(i, 250+125*i))
	}
	want(t, dir, "a.1.json", "a.2.json", "a.3.json", "a.json")
	for n, number := range []string{"99", "98", "97", "96"} {
		d, err := decode(f, rotated("a", n))
		if err != nil || *d.CurrentTask != number {
			t.Errorf("%s is number %s (%v), want %s", rotated("a", n), *d.CurrentTask, err, number)
		}
	}
}

// rotations saves sizes and tells which of the saves rotated.
func rotations(t *testing.T, f *Files, dir string, sizes []int) (at []int) {
	t.Helper()
	path := filepath.Join(dir, "a.1.json")
	last, _ := os.ReadFile(path)
	for i, size := range sizes {
		save(t, f, "a", sized(i, size))
		if now, _ := os.ReadFile(path); string(now) != string(last) {
			at, last = append(at, i), now
		}
	}
	return at
}

func TestRotationRule(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		at    []int
	}{
		{"below the limit", []int{100, 999, 500, 999}, nil},
		{"the first that reaches it", []int{100, 900, 1000}, []int{2}},
		{"too large from the first", []int{5000, 5001, 5002, 5003}, []int{1}},
		{"grown by half of the limit", []int{1000, 1001, 1400, 1500, 1501, 1999, 2000, 2001}, []int{1, 4, 7}},
		{"large and unchanged", []int{3000, 3000, 3000, 3000, 2900, 3100, 3000}, []int{1}},
		{"a compaction, and growth to the limit again", []int{3000, 3001, 200, 300, 900, 1000, 1200}, []int{1, 2, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, dir := openFiles(t, 1000)
			if at := rotations(t, f, dir, c.sizes); !slices.Equal(at, c.at) {
				t.Errorf("rotated at saves %v, want %v", at, c.at)
			}
		})
	}
}

// TestRotationOfALargeRecord: one that has outgrown the limit rotates once per limit/2 that it
// grows, whichever server saves it.
func TestRotationOfALargeRecord(t *testing.T) {
	f, dir := openFiles(t, 10_000)
	var sizes []int
	for i := range 400 {
		sizes = append(sizes, 10_000+100*i)
	}
	total := len(rotations(t, f, dir, sizes[:200]))
	f, err := OpenFiles(dir, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	total += len(rotations(t, f, dir, sizes[200:]))
	if total < 6 || total > 9 {
		t.Errorf("40 kB of growth in 400 saves, of which %d rotated; a rotation is due every 5 kB", total)
	}
}

// TestDamagedFile: a file that is no conversation is set aside once and then never touched; the
// older ones are what is loaded.
func TestDamagedFile(t *testing.T) {
	f, dir := openFiles(t, 100)
	save(t, f, "a", sized(0, 200))
	save(t, f, "a", sized(1, 300))
	spoil := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil(`{"half":`)
	l, err := load(f, "a")
	if err != nil || l.Name != "a.1.json" || *l.CurrentTask != "0" || !errors.Is(l.Damaged, conversation.ErrDamaged) ||
		!strings.Contains(l.Damaged.Error(), "a.json") {
		t.Fatalf("loaded %s (%v): %v", l.Name, l.Damaged, err)
	}
	if aside, err := keep(f, "a", sized(2, 50)); err != nil || aside != "a.damaged.json" {
		t.Fatalf("saved over a damaged file: %q, %v", aside, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.damaged.json")); string(b) != `{"half":` {
		t.Errorf("set aside is %q", b)
	}
	spoil("")
	if _, err := keep(f, "a", sized(3, 50)); !errors.Is(err, conversation.ErrDamaged) ||
		!strings.Contains(err.Error(), "a.damaged.json") {
		t.Errorf("a second damaged file: %v", err)
	}
	want(t, dir, "a.1.json", "a.damaged.json", "a.json")
	for n := range 2 {
		if err := os.WriteFile(filepath.Join(dir, rotated("a", n)), []byte("[]"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := load(f, "a"); !errors.Is(err, conversation.ErrDamaged) || !strings.Contains(err.Error(), "a.json") ||
		!strings.Contains(err.Error(), "a.1.json") {
		t.Errorf("nothing good: %v", err)
	}
	if err := f.Remove("a"); err != nil {
		t.Fatal(err)
	}
	want(t, dir)
}

// TestForeignFile: a good file that somebody else wrote is rotated like one of ours, never a link
// or a directory written through.
func TestForeignFile(t *testing.T) {
	f, dir := openFiles(t, 100)
	loader, err := os.ReadFile("../testdata/loader-v11.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), loader, 0o600); err != nil {
		t.Fatal(err)
	}
	save(t, f, "a", sized(1, 50))
	want(t, dir, "a.1.json", "a.json")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Symlink(outside, filepath.Join(dir, "b.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "c.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"b", "c"} {
		if _, err := keep(f, id, sized(1, 50)); !errors.Is(err, conversation.ErrDamaged) {
			t.Errorf("saving over %s: %v", id, err)
		}
		if _, err := load(f, id); !errors.Is(err, conversation.ErrDamaged) {
			t.Errorf("loading %s: %v", id, err)
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("the link was followed")
	}
}

func TestListAndSweep(t *testing.T) {
	f, dir := openFiles(t, 0)
	for _, id := range []string{"b", "20260407T120000Z-1a2b3c4d"} {
		save(t, f, id, sized(1, 60))
	}
	for _, name := range []string{".tmp-b", ".tmp-mine.txt", "notes.txt", "x.4.json", "only.2.json", "b.damaged.json",
		".json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenFiles(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	list, err := again.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range slices.Sorted(maps.Keys(list)) {
		got = append(got, fmt.Sprintf("%s %d %v", id, list[id].Bytes, list[id].Changed > 0))
	}
	if s := strings.Join(got, ", "); s != "20260407T120000Z-1a2b3c4d 60 true, b 60 true" {
		t.Errorf("listed %s", s)
	}
	want(t, dir, ".json", ".tmp-mine.txt", "20260407T120000Z-1a2b3c4d.json", "b.damaged.json", "b.json", "notes.txt",
		"only.2.json", "x.4.json")
}

func TestFileErrors(t *testing.T) {
	f, dir := openFiles(t, 0)
	if err := f.Remove("none"); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "../a", "a.1", "a b", "ä", strings.Repeat("a", 129), "a\x00"} {
		_, saved := keep(f, id, []byte("{}"))
		for _, err := range []error{saved, f.Remove(id), CheckID(id)} {
			if !errors.Is(err, conversation.ErrInvalid) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	if _, err := keep(f, "a", make([]byte, conversation.MaxDocument+1)); !errors.Is(err, conversation.ErrTooLarge) {
		t.Errorf("a long one: %v", err)
	}
	want(t, dir)
}

// TestReadersSeeWholeFiles: while a conversation is saved and rotated there is a whole file under
// its name at every moment, and it never goes back.
func TestReadersSeeWholeFiles(t *testing.T) {
	f, dir := openFiles(t, 500)
	save(t, f, "a", sized(0, 500))
	done := make(chan error)
	go func() {
		var err error
		for i := 1; i < 200 && err == nil; i++ {
			_, err = keep(f, "a", sized(i, 500+300*i))
		}
		done <- err
	}()
	last := -1
	for {
		b, err := os.ReadFile(filepath.Join(dir, "a.json"))
		if err != nil {
			t.Fatal(err)
		}
		var number int
		if _, err := fmt.Sscanf(string(b), `{"session_id":"a","current_task":"%d"`, &number); err != nil ||
			number < last || b[len(b)-1] != '}' {
			t.Fatalf("a reader saw %.60q after number %d", b, last)
		}
		last = number
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}
