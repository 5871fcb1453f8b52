package webui

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

var script = strings.Repeat("console.log('evertty');\n", 200)

func builtFiles() fstest.MapFS {
	return fstest.MapFS{
		".keep":                {},
		"index.html":           {Data: []byte("<!doctype html><title>evertty</title>")},
		"favicon.svg":          {Data: []byte("<svg/>")},
		"assets/index-abc1.js": {Data: []byte(script)},
	}
}

func request(t *testing.T, files fs.FS, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	newHandler(files).ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBuiltLooksForTheIndex(t *testing.T) {
	for name, c := range map[string]struct {
		files fs.FS
		want  bool
	}{
		"placeholder alone":  {fstest.MapFS{".keep": {}}, false},
		"nothing":            {fstest.MapFS{}, false},
		"index is a folder":  {fstest.MapFS{"index.html/x": {}}, false},
		"assets but no page": {fstest.MapFS{"assets/a.js": {}}, false},
		"a build":            {builtFiles(), true},
	} {
		if got := isBuilt(c.files); got != c.want {
			t.Errorf("%s: built %v, want %v", name, got, c.want)
		}
	}
}

// The embedded files are either the placeholder alone or a whole build: both must give a page at `/`.
func TestEmbeddedFilesServeAPage(t *testing.T) {
	if _, err := fs.Stat(Files(), ".keep"); err != nil {
		t.Errorf("the placeholder is gone, so a fresh clone would not build: %v", err)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	want := "web client was not built"
	if Built() {
		want = `<div id="app">`
	}
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
		t.Errorf("built %v: status %d, body %.80q", Built(), w.Code, w.Body.String())
	}
	if Built() {
		for _, forbidden := range []string{"<script>", "onload=", "http://", "https://"} {
			if strings.Contains(w.Body.String(), forbidden) {
				t.Errorf("the built page contains %q, which the Content-Security-Policy forbids", forbidden)
			}
		}
	}
}

func TestUnbuiltSaysHowToBuild(t *testing.T) {
	files := fstest.MapFS{".keep": {}}
	r := request(t, files, http.MethodGet, "/")
	if r.StatusCode != http.StatusOK || !strings.Contains(body(t, r.Body), "<pre>make</pre>") {
		t.Errorf("status %d", r.StatusCode)
	}
	for _, target := range []string{"/assets/x.js", "/.keep", "/anything"} {
		if r := request(t, files, http.MethodGet, target); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", target, r.StatusCode)
		}
	}
}

func TestHandlerServesFiles(t *testing.T) {
	for _, c := range []struct {
		target, contentType, cache, want string
	}{
		{"/", "text/html; charset=utf-8", revalidate, "<title>evertty"},
		{"/index.html", "text/html; charset=utf-8", revalidate, "<title>evertty"},
		{"/favicon.svg", "image/svg+xml", revalidate, "<svg/>"},
		{"/assets/index-abc1.js", "text/javascript; charset=utf-8", forever, script},
	} {
		r := request(t, builtFiles(), http.MethodGet, c.target)
		if r.StatusCode != http.StatusOK || !strings.Contains(body(t, r.Body), c.want) {
			t.Errorf("%s: status %d", c.target, r.StatusCode)
		}
		for name, want := range map[string]string{
			"Content-Type": c.contentType, "Cache-Control": c.cache,
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", c.target, name, got, want)
			}
		}
	}
}

func TestHandlerRefuses(t *testing.T) {
	for _, c := range []struct {
		method, target string
		want           int
	}{
		{http.MethodGet, "/.keep", http.StatusNotFound},
		{http.MethodGet, "/assets", http.StatusNotFound},
		{http.MethodGet, "/assets/", http.StatusNotFound},
		{http.MethodGet, "/../webui.go", http.StatusNotFound},
		{http.MethodGet, "/%2e%2e/webui.go", http.StatusNotFound},
		{http.MethodPost, "/", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/index.html", http.StatusMethodNotAllowed},
	} {
		if r := request(t, builtFiles(), c.method, c.target); r.StatusCode != c.want {
			t.Errorf("%s %s: status %d, want %d", c.method, c.target, r.StatusCode, c.want)
		}
	}
}

func TestHandlerCompresses(t *testing.T) {
	const target = "/assets/index-abc1.js"
	for accept, want := range map[string]string{
		"gzip": "gzip", "br;q=1, GZIP ;q=0.5": "gzip", "gzip;q=0": "", "gzip; q=0.0": "", "br": "", "": "", "xgzip": "",
	} {
		r := request(t, builtFiles(), http.MethodGet, target, "Accept-Encoding", accept)
		if got := r.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, want %q", accept, got, want)
		}
		content := io.Reader(r.Body)
		if want == "gzip" {
			zr, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			content = zr
		}
		if body(t, content) != script {
			t.Errorf("Accept-Encoding %q: another body", accept)
		}
	}
	if r := request(t, builtFiles(), http.MethodGet, "/favicon.svg", "Accept-Encoding",
		"gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Error("a small file was compressed")
	}
}

func TestHandlerRevalidates(t *testing.T) {
	first := request(t, builtFiles(), http.MethodGet, "/")
	etag := first.Header.Get("ETag")
	if again := request(t, builtFiles(), http.MethodGet, "/", "If-None-Match",
		etag); again.StatusCode != http.StatusNotModified || body(t, again.Body) != "" {
		t.Errorf("same content: status %d", again.StatusCode)
	}
	changed := builtFiles()
	changed["index.html"] = &fstest.MapFile{Data: []byte("<!doctype html><title>newer</title>")}
	if again := request(t, changed, http.MethodGet, "/", "If-None-Match", etag); again.StatusCode != http.StatusOK {
		t.Errorf("changed content: status %d", again.StatusCode)
	}
	if head := request(t, builtFiles(), http.MethodHead, "/"); head.StatusCode != http.StatusOK ||
		body(t, head.Body) != "" {
		t.Errorf("HEAD: status %d", head.StatusCode)
	}
}
