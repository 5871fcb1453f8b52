package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// smallFrame has something of most.
func smallFrame() *vt.Frame {
	f := &vt.Frame{Cols: 8, Rows: 2, Unicode: vt.Unicode15Graphemes, Modes: vt.DefaultModes(), Title: "title",
		Pending: []byte("\x1b[")}
	var p vt.Packer
	p.Char('x', 1, vt.Style{Attr: vt.Bold})
	l := p.Line(true)
	f.History = vt.LinesOf(l)
	f.Main = vt.Screen{Lines: []vt.Line{l, {}}, X: 1, Bottom: 1}
	return f
}

// titled is a frame that can be told from others.
func titled(title string) *vt.Frame {
	f := smallFrame()
	f.Title = title
	return f
}

func mustSave(t testing.TB, s *Store, id, title string) {
	t.Helper()
	if err := s.Save(id, snapshot.Header{Seq: uint64(len(title))}, titled(title)); err != nil {
		t.Fatal(err)
	}
}

// files returns the names in a terminal's directory.
func files(t testing.TB, dir, id string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "terminals", id))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestStoreKeepsTwo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := openStore(t, dir)
	if _, err := s.Load("a-1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("load of nothing: %v", err)
	}
	for i := range 12 {
		title := fmt.Sprint("screen ", i)
		mustSave(t, s, "a-1", title)
		got, err := s.Load("a-1")
		if err != nil || got.Frame.Title != title || got.Damage != nil || got.Header.Seq != uint64(len(title)) {
			t.Fatalf("after save %d: %+v, %v", i, got, err)
		}
	}
	if got, want := files(t, dir, "a-1"), []string{"screen.11", "screen.12"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	must(t, syscall.Mkfifo(filepath.Join(dir, "terminals", "a-1", "fifo"), 0o600)) // of somebody else: it has no size
	must(t, os.Mkdir(filepath.Join(dir, "terminals", "a-1", "folder"), 0o700))
	if n, err := s.Size("a-1"); err != nil || n < 200 || n > 2000 {
		t.Errorf("size %d, %v", n, err)
	}
}

func TestStoreListAndRemove(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for _, id := range []string{"b", "a", "c-2"} {
		mustSave(t, s, id, id)
	}
	must(t, os.WriteFile(filepath.Join(dir, "terminals", "file"), nil, 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "terminals", "Not-An-Id"), 0o700))
	if got, err := s.List(); err != nil || !slices.Equal(got, []string{"a", "b", "c-2"}) {
		t.Errorf("list %q, %v", got, err)
	}
	for range 2 {
		if err := s.Remove("b"); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if _, err := s.Load("b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("load of what was removed: %v", err)
	}
	if got, _ := s.List(); !slices.Equal(got, []string{"a", "c-2"}) {
		t.Errorf("list %q", got)
	}
}

func TestStoreMeta(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "b", "x")
	if _, _, err := s.LoadMeta("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no terminal: %v", err)
	}
	if _, _, err := s.LoadMeta("b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no metadata: %v", err)
	}
	for _, p := range []string{`{"a":1}`, "", "other"} {
		if err := s.SaveMeta("a", []byte(p)); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.LoadMeta("a"); err != nil || string(got) != p {
			t.Errorf("got %q, %v, want %q", got, err, p)
		}
	}
	if err := s.SaveMeta("a", make([]byte, maxMeta+1)); err == nil {
		t.Error("metadata without limit")
	}
	if got := files(t, dir, "a"); !slices.Equal(got, []string{"meta", "meta.1"}) {
		t.Errorf("files %q", got)
	}
}

func TestStoreRefusesOtherIDs(t *testing.T) {
	s := openStore(t, t.TempDir())
	for _, id := range []string{"", ".", "..", "a/b", "../a", "/etc", "A", "a_b", "a.b", ".gone-a", "a\x00", "a\n", "ä",
		"．．", strings.Repeat("a", 65), strings.Repeat("x", 10_000)} {
		_, _, loadMeta := s.LoadMeta(id)
		_, load := s.Load(id)
		_, size := s.Size(id)
		for op, err := range map[string]error{
			"SaveMeta": s.SaveMeta(id, nil), "LoadMeta": loadMeta, "Save": s.Save(id, snapshot.Header{}, smallFrame()),
			"Load": load, "Size": size, "Remove": s.Remove(id),
		} {
			if !errors.Is(err, ErrBadID) {
				t.Errorf("%s(%.20q): %v", op, id, err)
			} else if len(err.Error()) > 400 || !utf8.ValidString(err.Error()) {
				t.Errorf("%s: error of %d bytes", op, len(err.Error()))
			}
		}
	}
	if err := s.SaveMeta(strings.Repeat("a", 64), nil); err != nil {
		t.Error(err)
	}
}

// TestStoreFallsBack damages the newest snapshot in every way a disk or a crash
// may, and gets the older one with a word about the damage.
func TestStoreFallsBack(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "a", "old")
	mustSave(t, s, "a", "new")
	path := filepath.Join(dir, "terminals", "a", "screen.2")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, damaged []byte) {
		t.Helper()
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load("a")
		if err != nil || got.Frame.Title != "old" || !errors.Is(got.Damage, snapshot.ErrCorrupt) ||
			!strings.Contains(got.Damage.Error(), "a/screen.2") {
			t.Errorf("%s: %v, %v", what, got.Damage, err)
		}
	}
	for i := range good {
		check(fmt.Sprint("cut to ", i), good[:i])
		flipped := bytes.Clone(good)
		flipped[i] ^= 1 << (i % 8)
		check(fmt.Sprint("flipped in ", i), flipped)
	}
	if err := os.Truncate(path, snapshot.MaxFile+1); err != nil { // sparse
		t.Fatal(err)
	}
	if got, err := s.Load("a"); err != nil || got.Damage == nil {
		t.Errorf("larger than any snapshot: %v, %v", got.Damage, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "terminals", "a", "screen.1"), nil, 0o600))
	if _, err := s.Load("a"); !errors.Is(err, snapshot.ErrCorrupt) || errors.Is(err, ErrNotFound) {
		t.Errorf("none good: %v", err)
	}
	mustSave(t, s, "a", "again")
	if got, err := s.Load("a"); err != nil || got.Frame.Title != "again" || got.Damage != nil {
		t.Errorf("after a new one: %v, %v", got.Damage, err)
	}
}

// TestStoreFollowsNoLink plants links, a pipe and a directory where files belong.
func TestStoreFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "a", "good")
	mustSave(t, s, "b", "other")
	secret := filepath.Join(dir, "token")
	outside := filepath.Join(t.TempDir(), "outside")
	for _, p := range []string{secret, outside} {
		if err := os.WriteFile(p, snapshot.Encode(snapshot.Header{}, titled("secret")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, "terminals", "a", name) }
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, at("screen.5"))
	link("../b/screen.1", at("screen.6"))
	link("../../token", at("screen.7"))
	if err := syscall.Mkfifo(at("screen.8"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("screen.9/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load("a")
	if err != nil || got.Frame.Title != "good" || strings.Count(fmt.Sprint(got.Damage), "screen.") < 5 {
		t.Errorf("load: %v, %v", got.Damage, err)
	}
	link(outside, at("meta"))
	link(outside, at(".tmp-meta"))
	link(outside, at(".tmp-screen.10"))
	if _, _, err := s.LoadMeta("a"); err == nil {
		t.Error("metadata read through a link")
	}
	if err := s.SaveMeta("a", []byte("mine")); err != nil {
		t.Error(err)
	}
	mustSave(t, s, "a", "newest")
	for _, p := range []string{secret, outside} {
		if b, err := os.ReadFile(p); err != nil ||
			!bytes.Equal(b, snapshot.Encode(snapshot.Header{}, titled("secret"))) {
			t.Errorf("%s was written through a link", p)
		}
	}
	if got, _, err := s.LoadMeta("a"); string(got) != "mine" {
		t.Errorf("metadata %q, %v", got, err)
	}
	if got, err := s.Load("a"); err != nil || got.Frame.Title != "newest" {
		t.Errorf("%+v, %v", got, err)
	}
	link(filepath.Dir(outside), filepath.Join(dir, "terminals", "c"))
	link("b", filepath.Join(dir, "terminals", "d"))
	for _, id := range []string{"c", "d"} {
		if err := s.Save(id, snapshot.Header{}, smallFrame()); err == nil {
			t.Errorf("saved through a link to a directory (%s)", id)
		}
		if _, err := s.Load(id); err == nil {
			t.Errorf("loaded through a link to a directory (%s)", id)
		}
	}
	if ids, _ := s.List(); !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("list %q", ids)
	}
	if err := s.Remove("d"); err != nil {
		t.Error(err)
	}
	if _, err := s.Load("b"); err != nil {
		t.Errorf("removing a link removed its target: %v", err)
	}
}

func TestOpenStoreSweeps(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "a", "kept")
	for _, name := range []string{"terminals/.gone-b/screen.1/x", "terminals/a/.tmp-screen.9", "terminals/a/journal",
		"terminals/.other", "other"} {
		p := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(p), 0o700))
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openStore(t, dir)
	for name, want := range map[string]bool{"terminals/.gone-b": false, "terminals/a/.tmp-screen.9": false,
		"terminals/a/journal": true, "terminals/.other": true, "other": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := s.Load("a"); err != nil || got.Frame.Title != "kept" {
		t.Error(err)
	}
}

func TestStoreServesManyAtOnce(t *testing.T) {
	before := openFiles(t)
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			id := fmt.Sprint("terminal-", w)
			for i := range 15 {
				title := fmt.Sprint(id, " ", i)
				if err := errors.Join(s.Save(id, snapshot.Header{}, titled(title)),
					s.SaveMeta(id, []byte(title))); err != nil {
					t.Error(err)
				}
				got, err := s.Load(id)
				meta, _, err2 := s.LoadMeta(id)
				if err != nil || err2 != nil || got.Frame.Title != title || string(meta) != title || got.Damage != nil {
					t.Errorf("%s: %v %v %v", title, err, err2, got.Damage)
				}
				if _, err := s.List(); err != nil {
					t.Error(err)
				}
			}
			if err := s.Remove(id); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ids, err := s.List(); err != nil || len(ids) != 0 {
		t.Errorf("left %q, %v", ids, err)
	}
	must(t, s.Close())
	if after := openFiles(t); after > before {
		t.Errorf("%d files open, %d before", after, before)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// checkModes checks every file and directory below dir.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n++
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil || n < 6 {
		t.Errorf("%d files: %v", n, err)
	}
}

func TestStoreRefusesDirectories(t *testing.T) {
	loose := t.TempDir()
	must(t, os.Chmod(loose, 0o777))
	open := func(dir string) error {
		s, err := Open(dir)
		if err == nil {
			must(t, s.Close())
		}
		release, lockErr := Lock(dir)
		if lockErr == nil {
			release()
		}
		if (err == nil) != (lockErr == nil) {
			t.Errorf("OpenStore: %v, Lock: %v", err, lockErr)
		}
		return err
	}
	if err := open(loose); !errors.Is(err, ErrLoose) || !strings.Contains(err.Error(), loose) ||
		!strings.Contains(err.Error(), "0777") {
		t.Errorf("writable for all: %v", err)
	}
	foreign := "/" // of root
	if os.Geteuid() == 0 {
		foreign = t.TempDir()
		if err := os.Chown(foreign, 54321, -1); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(foreign); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), foreign) {
		t.Errorf("of another user: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if err := open(dir); !errors.Is(err, syscall.ENOTDIR) &&
			(err == nil || !strings.Contains(err.Error(), "not a directory")) {
			t.Errorf("%s is a file: %v", dir, err)
		}
	}
	mine := t.TempDir()
	must(t, os.Chmod(mine, 0o755))
	if err := open(mine); err != nil {
		t.Errorf("readable for all: %v", err)
	}
	if info, _ := os.Stat(mine); info.Mode().Perm() != 0o700 {
		t.Errorf("stays at mode %04o", info.Mode().Perm())
	}
}

// deadline is how long a test waits for what must happen.
const deadline = time.Minute

// TestReserve: it is made once, made again when it is short, and given back once.
func TestReserve(t *testing.T) {
	s := openStore(t, t.TempDir())
	old := time.Unix(1, 0)
	hold := func() (made bool) {
		t.Helper()
		if err := s.HoldReserve(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.reserve())
		if err != nil || info.Size() != ReserveBytes {
			t.Fatalf("%v, %v", info, err)
		}
		return !info.ModTime().Equal(old)
	}
	hold()
	if err := os.Chtimes(s.reserve(), old, old); err != nil {
		t.Fatal(err)
	}
	if hold() {
		t.Error("a reserve that is whole is written again")
	}
	if err := os.Truncate(s.reserve(), 1); err != nil {
		t.Fatal(err)
	}
	if !hold() {
		t.Error("a short one stays")
	}
	if !s.ReleaseReserve() || s.ReleaseReserve() {
		t.Error("it is not given back once")
	}
}

// TestTyped: what is typed and not submitted is kept until there is nothing, and goes with its terminal.
func TestTyped(t *testing.T) {
	s := openStore(t, t.TempDir())
	mustSave(t, s, "one", "")
	for _, want := range []string{"", "ls", "a longer line", ""} {
		must(t, s.SaveTyped("one", []byte(want)))
		if got, err := s.LoadTyped("one"); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for _, n := range []int{maxTyped, maxTyped + 1} {
		must(t, s.SaveTyped("one", make([]byte, n)))
		if got, err := s.LoadTyped("one"); (err == nil) != (n == maxTyped) || err == nil && len(got) != n {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
	}
	if err := s.SaveTyped("absent", []byte("x")); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.LoadTyped("absent"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// TestReserveThatCannotBeHeld: nothing of half a reserve is left.
func TestReserveThatCannotBeHeld(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, os.Mkdir(s.reserve(), 0o700))
	if err := s.HoldReserve(); err == nil {
		t.Error("a directory is taken for the reserve")
	}
	if _, err := os.Stat(s.reserve()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if free, err := s.FreeSpace(); err != nil || free <= 0 {
		t.Errorf("free: %d, %v", free, err)
	}
}
