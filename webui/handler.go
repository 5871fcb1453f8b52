package webui

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

const (
	// forever lets browsers keep files under assets/, whose names carry a hash of their content.
	forever = "public, max-age=31536000, immutable"
	// revalidate makes browsers ask each time, and cost them only a 304 while the file is the same.
	revalidate = "no-cache"
	// minGzip is the smallest file sent compressed, in bytes: below it the header costs more than is saved.
	minGzip = 1024
)

// page is one file ready to be sent. It is never changed after it was made.
type page struct {
	contentType string
	cache       string
	etag        string
	body        []byte
	gzipped     []byte // nil when compression does not pay
}

// Handler serves the client at `/` and its files below it to GET and HEAD; everything else is 404 or 405. When the
// client was not built, `/` is a page that says how to build it. All files are read and compressed once, for the first
// request: it takes 40 ms, and most processes of the program (keepers, relays, commands of the CLI) serve no page. The
// handler is safe for concurrent use and leaves the security headers to its caller: the page needs own scripts and
// connections, inline styles (xterm.js sets them) and data: images.
func Handler() http.Handler { return newHandler(Files()) }

func newHandler(files fs.FS) http.Handler {
	load := sync.OnceValue(func() map[string]*page {
		if isBuilt(files) {
			return readPages(files)
		}
		return map[string]*page{indexName: newPage(indexName, unbuilt)}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = indexName
		}
		p, ok := load()[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		p.serve(w, r)
	})
}

// readPages loads every file of the client except dotfiles such as the placeholder.
func readPages(files fs.FS) map[string]*page {
	pages := make(map[string]*page)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err == nil {
			pages[name] = newPage(name, body)
		}
		return err
	})
	if err != nil {
		panic("invariant violation: webui: embedded files cannot be read: " + err.Error())
	}
	return pages
}

func newPage(name string, body []byte) *page {
	sum := sha256.Sum256(body)
	p := &page{contentType: contentType(name), cache: revalidate, etag: `"` + hex.EncodeToString(sum[:8]) + `"`,
		body: body}
	if strings.HasPrefix(name, "assets/") {
		p.cache = forever
	}
	if small := compress(body); len(small) < len(body) {
		p.gzipped = small
	}
	return p
}

// builtTypes are the types a build produces. They do not depend on the machine's mime.types: with nosniff a script of
// the wrong type would not run.
var builtTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".md": "text/plain; charset=utf-8",
}

func contentType(name string) string {
	ext := path.Ext(name)
	return cmp.Or(builtTypes[ext], mime.TypeByExtension(ext), "application/octet-stream")
}

func compress(body []byte) []byte {
	if len(body) < minGzip {
		return body
	}
	var out bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = zw.Write(body)                                    // a bytes.Buffer does not fail
	_ = zw.Close()
	return out.Bytes()
}

func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Cache-Control", p.cache)
	h.Set("ETag", p.etag)
	h.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), p.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", p.contentType)
	body := p.body
	if p.gzipped != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = p.gzipped
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client may have left
	}
}

// acceptsGzip reads Accept-Encoding (RFC 9110 12.5.3): gzip counts unless it is refused with q=0.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			refused := []string{"q=0", "q=0.0", "q=0.00", "q=0.000"}
			return !slices.Contains(refused, strings.ReplaceAll(params, " ", ""))
		}
	}
	return false
}
