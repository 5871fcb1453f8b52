package installtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// release is a server with a release: an archive and its sum.
type release struct {
	*httptest.Server
	name string // of the archive
	sums string
}

// serveRelease serves an archive of the files, which are NAME: text. Its sum is that of the archive unless sum changes
// it; served changes what is sent.
func serveRelease(t *testing.T, files map[string]string, sum func(string) string, served func([]byte) []byte) *release {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		h := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	_ = z.Close()
	r := &release{name: fmt.Sprintf("evertty_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)}
	r.sums = sum(fmt.Sprintf("%x  %s\n%x  evertty_%s_plan9_mips.tar.gz\n", sha256.Sum256(b.Bytes()), r.name,
		sha256.Sum256(nil), version))
	mux := http.NewServeMux()
	for _, at := range []string{"/latest/download/", "/download/v" + version + "/"} {
		mux.HandleFunc(at+"checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(r.sums))
		})
		mux.HandleFunc(at+r.name, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(served(b.Bytes()))
		})
	}
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func same[T any](v T) T { return v }

// script runs the install script and returns its exit code and what it said.
func script(t *testing.T, home, base string, args ...string) (code int, said string) {
	t.Helper()
	c := exec.Command("sh", append([]string{"../../scripts/install.sh"}, args...)...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "EVERTTY_BASE_URL=" + base, "TMPDIR=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

const fake = "#!/bin/sh\necho a program that says $1\n"

// TestInstallScript: what a release has is where it belongs, and an older program is replaced.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	files := map[string]string{"evertty": fake, "man1/evertty.1.gz": "page", "completions/evertty.bash": "bash",
		"completions/evertty.fish": "fish", "completions/_evertty": "zsh"}
	r := serveRelease(t, files, same[string], same[[]byte])
	home, other := t.TempDir(), filepath.Join(t.TempDir(), "with space")
	for at, args := range map[string][]string{filepath.Join(home, ".local"): nil,
		other: {"--prefix", other, "--version", "v" + version}} {
		for range 2 {
			code, said := script(t, home, r.URL, args...)
			if code != 0 || !strings.Contains(said, "installed "+at+"/bin/evertty: a program that says version") ||
				!strings.Contains(said, "not on PATH") {
				t.Errorf("exit code %d: %s", code, said)
			}
		}
		for file, want := range map[string]string{"bin/evertty": fake, "share/man/man1/evertty.1.gz": "page",
			"share/bash-completion/completions/evertty":    "bash",
			"share/fish/vendor_completions.d/evertty.fish": "fish", "share/zsh/site-functions/_evertty": "zsh"} {
			if b, err := os.ReadFile(filepath.Join(at, file)); string(b) != want {
				t.Errorf("%s is %q, %v", file, b, err)
			}
		}
	}
}

// TestInstallScriptRefuses: and leaves nothing.
func TestInstallScriptRefuses(t *testing.T) {
	t.Parallel()
	files := map[string]string{"evertty": fake}
	for name, test := range map[string]struct {
		sum    func(string) string
		served func([]byte) []byte
		files  map[string]string
		want   string
	}{
		"another archive": {same[string], func(b []byte) []byte { return append([]byte{b[0] ^ 1}, b[1:]...) }, files,
			"the release says"},
		"a cut archive": {same[string], func(b []byte) []byte { return b[:len(b)/2] }, files, "the release says"},
		"no sum": {func(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest }, same[[]byte], files,
			"has no sum of an archive for"},
		"two sums":            {func(s string) string { return s + s }, same[[]byte], files, "several archives"},
		"a page for the sums": {func(string) string { return "<html>no</html>" }, same[[]byte], files, "has no sum"},
		"a program of another system": {same[string], same[[]byte],
			map[string]string{"evertty": "#!/bin/sh\nexit 1\n"}, "does not run here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, home := serveRelease(t, test.files, test.sum, test.served), t.TempDir()
			code, said := script(t, home, r.URL)
			if code != 1 || !strings.Contains(said, test.want) {
				t.Errorf("exit code %d: %s", code, said)
			}
			if left, _ := os.ReadDir(home); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
	home := t.TempDir()
	if code, said := script(t, home, "http://127.0.0.1:1"); code != 1 || !strings.Contains(said, "cannot download") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for _, args := range [][]string{{"--prefix"}, {"--prefix="}, {"now"}} {
		code, said := script(t, home, "http://127.0.0.1:1", args...)
		if code != 2 || !strings.Contains(said, "the use is") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
}
