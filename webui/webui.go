// Package webui holds the web client: the files of dist/, built from src/ by Vite and embedded into the binary.
//
// A fresh clone has no built files, only a placeholder that lets go:embed succeed. The package then serves one page
// that says how to build the client, so that `go build` alone always gives a working server.
package webui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var embedded embed.FS

//go:embed unbuilt.html
var unbuilt []byte

// indexName is the page of the client; it exists in dist only after a build.
const indexName = "index.html"

// Files returns the built client: index.html, assets/ and favicon.svg. When the client was not built it holds only
// the placeholder. The file system is read-only and safe for concurrent use.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic("invariant violation: webui: dist is not embedded: " + err.Error())
	}
	return files
}

// Built says whether the binary carries the built client.
func Built() bool { return isBuilt(Files()) }

func isBuilt(files fs.FS) bool {
	info, err := fs.Stat(files, indexName)
	return err == nil && info.Mode().IsRegular()
}
