package installtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// releaseDir is the directory that `make release` has made; the test of it skips without one.
func releaseDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EVERTTY_TEST_RELEASE")
	if dir == "" {
		t.Skip("make release sets EVERTTY_TEST_RELEASE")
	}
	return dir
}

// sums are the lines of checksums.txt, by name.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(b)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		list[name] = sum
	}
	return list
}

// TestReleaseSums: each file that people download has its sum, and it is right.
func TestReleaseSums(t *testing.T) {
	dir := releaseDir(t)
	list := sums(t, dir)
	for _, pattern := range []string{"*.tar.gz", "*.zip", "*.deb", "*.rpm"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(found) == 0 {
			t.Errorf("no %s", pattern)
		}
		for _, file := range found {
			if list[filepath.Base(file)] == "" {
				t.Errorf("%s has no sum", file)
			}
		}
	}
	for name, want := range list {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if name == "install.sh" {
			b, err = os.ReadFile("../../scripts/install.sh")
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || got != want {
			t.Errorf("%s: %v, %s instead of %s", name, err, got, want)
		}
	}
	if list["install.sh"] == "" {
		t.Error("the install script has no sum")
	}
}

// TestReleaseArchives: what is in them, with which mode.
func TestReleaseArchives(t *testing.T) {
	dir := releaseDir(t)
	for system, own := range map[string][]string{"linux": {"CHANGELOG.md", "licenses-of-the-page.md",
		"systemd/user/evertty.service", "systemd/system/evertty.service", "systemd/system/evertty.socket"},
		"darwin": nil, "windows": nil} {
		for _, arch := range []string{"amd64", "arm64"} {
			program, read, end := "evertty", tarModes, ".tar.gz"
			if system == "windows" {
				program, read, end = "evertty.exe", zipModes, ".zip"
			}
			found, _ := filepath.Glob(filepath.Join(dir, "evertty_*_"+system+"_"+arch+end))
			if len(found) != 1 {
				t.Errorf("archives for %s on %s: %v", system, arch, found)
				continue
			}
			modes, err := read(found[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range append([]string{program, "LICENSE", "README.md", "completions/evertty.bash",
				"completions/evertty.fish", "completions/_evertty", "man1/evertty.1.gz"}, own...) {
				if _, ok := modes[name]; !ok {
					t.Errorf("%s has no %s", found[0], name)
				}
			}
			for name, mode := range modes {
				if want := fs.FileMode(0o644); name != program && mode != want || name == program && mode != 0o755 {
					t.Errorf("%s: %s has mode %o", found[0], name, mode)
				}
			}
		}
	}
}

func tarModes(file string) (map[string]fs.FileMode, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	modes := map[string]fs.FileMode{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return modes, nil
		}
		if err != nil {
			return nil, err
		}
		modes[path.Clean(h.Name)] = h.FileInfo().Mode()
	}
}

func zipModes(file string) (map[string]fs.FileMode, error) {
	r, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	modes := map[string]fs.FileMode{}
	for _, f := range r.File {
		modes[f.Name] = f.Mode()
	}
	return modes, nil
}

// TestReleasePackages: the files of a package for Debian and one for Fedora, with mode and owner.
func TestReleasePackages(t *testing.T) {
	dir := releaseDir(t)
	for end, list := range map[string][]string{".deb": {"dpkg-deb", "--contents"}, ".rpm": {"rpm", "-qvlp"}} {
		found, _ := filepath.Glob(filepath.Join(dir, "*"+end))
		if len(found) != 2 {
			t.Errorf("packages: %v", found)
		}
		if _, err := exec.LookPath(list[0]); err != nil {
			t.Logf("no %s: what is in %v is not looked at", list[0], found)
			continue
		}
		for _, file := range found {
			out, err := exec.Command(list[0], append(list[1:], file)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"/usr/bin/evertty", "/usr/lib/systemd/system/evertty.service",
				"/usr/lib/systemd/user/evertty.socket", "/usr/lib/sysusers.d/evertty.conf",
				"/usr/share/bash-completion/completions/evertty", "/usr/share/man/man1/evertty.1.gz"}
			for line := range strings.Lines(string(out)) {
				fields := strings.Fields(line)
				name := "/" + strings.TrimPrefix(strings.TrimPrefix(fields[len(fields)-1], "."), "/")
				mode := "-rw-r--r--"
				switch {
				case name == "/usr/bin/evertty":
					mode = "-rwxr-xr-x"
				case fields[0][0] == 'd':
					mode = "drwxr-xr-x"
				}
				if fields[0] != mode || !strings.Contains(line, "root") {
					t.Errorf("%s: %s", file, line)
				}
				want = slices.DeleteFunc(want, func(w string) bool { return w == name })
			}
			if len(want) > 0 {
				t.Errorf("%s has no %v", file, want)
			}
		}
	}
}

// TestReleaseInstalls: the script installs this system's archive from a server with the release, and nothing when the
// sum is another.
func TestReleaseInstalls(t *testing.T) {
	dir := releaseDir(t)
	wrong := false
	files := http.StripPrefix("/latest/download/", http.FileServer(http.Dir(dir)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !wrong || path.Base(r.URL.Path) != "checksums.txt" {
			files.ServeHTTP(w, r)
			return
		}
		for name, sum := range sums(t, dir) {
			_, _ = fmt.Fprintf(w, "%s  %s\n", strings.Repeat("0", len(sum)), name)
		}
	}))
	defer s.Close()
	home := t.TempDir()
	if code, said := script(t, home, s.URL); code != 0 || !strings.Contains(said, "installed "+home) {
		t.Errorf("exit code %d: %s", code, said)
	}
	program := filepath.Join(home, ".local/bin/evertty")
	archive, _ := filepath.Glob(filepath.Join(dir, "evertty_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	out, err := exec.Command(program, "version").Output()
	if err != nil || len(archive) != 1 || !strings.Contains(filepath.Base(archive[0]), "_"+versionIn(string(out))+"_") {
		t.Errorf("%v: %s of %v", err, out, archive)
	}
	wrong, home = true, t.TempDir()
	if code, said := script(t, home, s.URL); code != 1 || !strings.Contains(said, "nothing was installed") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// versionIn is the version in what `evertty version` prints, without its v.
func versionIn(text string) string {
	for _, word := range strings.Fields(text) {
		if v, ok := strings.CutPrefix(word, "v"); ok && v != "" && v[0] >= '0' && v[0] <= '9' {
			return v
		}
	}
	return "none"
}
