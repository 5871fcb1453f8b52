package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// directory makes a small data directory with a database.
func directory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for _, d := range []string{"terminals/a", "shells/b/c", "threads"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlite.Open(filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"terminals/a/meta": "m", "terminals/a/data.0": "output",
		"terminals/a/index.0": "i", "terminals/a/index.7": "of data that are gone", "shells/b/c/stdout": "out",
		"token": "secret", "permissions.json": "{}", "terminals/a/.tmp-meta": "half"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// written is a backup of dir, in a file.
func written(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "backup")
	_, err := WriteFile(t.Context(), name, func(w io.Writer) error { return Write(t.Context(), w, dir, "test") })
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// entries are the names in a directory tree.
func entries(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		list = append(list, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRestoreMakesTheDirectoryAgain(t *testing.T) {
	dir := directory(t)
	file := written(t, dir)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	to := filepath.Join(t.TempDir(), "a/b") // neither is there
	s, err := Restore(t.Context(), file, to)
	if err != nil || s.Terminals != 1 || s.Shells != 1 || s.Files != 6 || s.Release != "test" {
		t.Errorf("%+v, %v", s, err)
	}
	want := []string{".", "evertty.db", "identity", "permissions.json", "shells", "shells/b", "shells/b/c",
		"shells/b/c/stdout", "terminals", "terminals/a", "terminals/a/data.0", "terminals/a/index.0",
		"terminals/a/meta", "threads"}
	if got := entries(t, to); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
	i, err := datadir.Identify(to)
	if err != nil || !i.Copied || i.ID == "" {
		t.Errorf("its identity: %+v, %v", i, err)
	}
	if _, err := Restore(t.Context(), file, to); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("into what is there: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 6 {
		t.Errorf("beside the data: %v, %v", left, err)
	}
}

// TestRestoreTakesAnEmptyDirectory: one that an operator has made.
func TestRestoreTakesAnEmptyDirectory(t *testing.T) {
	to := t.TempDir()
	if _, err := Restore(t.Context(), written(t, directory(t)), to); err != nil {
		t.Fatal(err)
	}
}

// TestRestoreFollowsALink: to an empty directory, and not into nothing.
func TestRestoreFollowsALink(t *testing.T) {
	file, link, to := written(t, directory(t)), filepath.Join(t.TempDir(), "link"), t.TempDir()
	if err := os.Symlink(to, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, link); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(link); target != to || !slices.Contains(entries(t, to), "identity") {
		t.Errorf("%q, %v", target, err)
	}
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	_, err := Restore(t.Context(), file, link)
	if err == nil || !strings.Contains(err.Error(), "a link to what is not there") {
		t.Errorf("into nothing: %v", err)
	}
	if _, err := Restore(t.Context(), "-", to); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("of standard input: %v", err)
	}
}

// TestDamageIsFoundFirst: whatever byte is wrong or missing, nothing is made.
func TestDamageIsFoundFirst(t *testing.T) {
	b, err := os.ReadFile(written(t, directory(t)))
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, len(b)/60)
	for n := 0; n < len(b); n += step {
		flipped := bytes.Clone(b)
		flipped[n] ^= 0x55
		for what, bad := range map[string][]byte{"cut": b[:n], "flipped": flipped} {
			refused(t, fmt.Sprintf("%s at %d of %d", what, n, len(b)), bad, ErrDamaged)
		}
	}
	refused(t, "cut at the last byte", b[:len(b)-1], ErrDamaged)
	refused(t, "doubled", append(bytes.Clone(b), b...), ErrDamaged)
}

// refused checks that a file is not restored, and that nothing of it is left.
func refused(t *testing.T, what string, b []byte, want error) {
	t.Helper()
	top := t.TempDir()
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, filepath.Join(top, "data")); !errors.Is(err, want) {
		t.Errorf("%s: %v", what, err)
	}
	if left := entries(t, top); len(left) != 2 {
		t.Errorf("%s: left are %q", what, left)
	}
}

// hostile is an archive of whoever wants it, whose sums are right.
func hostile(t *testing.T, list ...tar.Header) []byte {
	t.Helper()
	var b, sums bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	add := func(h tar.Header, text string) {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, text)
	}
	head := `{"format":1}`
	add(tar.Header{Name: headName, Mode: 0o600, Size: int64(len(head))}, head)
	for _, h := range list {
		add(h, "")
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(nil), h.Name)
		if h.Size > 0 { // the archive ends here
			_ = w.Flush()
			_ = z.Close()
			return b.Bytes()
		}
	}
	add(tar.Header{Name: sumsName, Mode: 0o600, Size: int64(sums.Len())}, sums.String())
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHostileArchives(t *testing.T) {
	for _, name := range []string{"../x", "/etc/x", "terminals/../../x", "terminals/./x", "token", "lock", "identity",
		"terminals//x", "."} {
		refused(t, name, hostile(t, tar.Header{Name: name, Typeflag: tar.TypeReg}), ErrDamaged)
	}
	for _, kind := range []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeChar} {
		refused(t, string(kind), hostile(t, tar.Header{Name: "terminals", Typeflag: kind, Linkname: "/etc"}), ErrDamaged)
	}
	twice := tar.Header{Name: "evertty.db", Typeflag: tar.TypeReg}
	refused(t, "a name twice", hostile(t, twice, twice), os.ErrExist)
	refused(t, "no directory", hostile(t, tar.Header{Name: "terminals/x", Typeflag: tar.TypeReg}), os.ErrNotExist)
	refused(t, "a bomb", hostile(t, tar.Header{Name: "evertty.db", Typeflag: tar.TypeReg, Size: 1 << 50}), ErrNoRoom)
	refused(t, "another archive", []byte("PK\x03\x04"), ErrDamaged)
	refused(t, "nothing", nil, ErrDamaged)
}

// TestBackupWithoutADirectory: the error names the file that was given, not the one that is written first.
func TestBackupWithoutADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "absent", "b.tar.zst")
	_, err := WriteFile(t.Context(), file, func(io.Writer) error { return nil })
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), file+":") ||
		strings.Contains(err.Error(), partial) {
		t.Errorf("got %v", err)
	}
}

// TestAFailedBackupLeavesTheOlderOne, and nothing beside; what a kill left goes with the next one.
func TestAFailedBackupLeavesTheOlderOne(t *testing.T) {
	dir := directory(t)
	file := written(t, dir)
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	failed := errors.New("the disk is full")
	for what, write := range map[string]func(io.Writer) error{
		"an error":     func(io.Writer) error { return failed },
		"no backup":    func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err },
		"an interrupt": func(w io.Writer) error { stop(); return Write(ctx, w, dir, "") },
	} {
		if _, err := WriteFile(t.Context(), file, write); err == nil {
			t.Errorf("%s is no failure", what)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, old) {
			t.Errorf("%s: the older backup has changed, %v", what, err)
		}
	}
	left := filepath.Join(filepath.Dir(file), ".backup.123"+partial)
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = WriteFile(t.Context(), file, func(w io.Writer) error { return Write(t.Context(), w, dir, "") })
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(t, filepath.Dir(file)); len(got) != 2 {
		t.Errorf("left are %q", got)
	}
	if got, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(got) > 0 {
		t.Errorf("in the data directory are left %q, %v", got, err)
	}
}
