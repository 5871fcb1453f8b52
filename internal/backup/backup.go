// Package backup writes what a data directory keeps into one file, also while a server uses the directory, and makes a
// new directory of such a file.
//
// The file is a tar archive compressed by zstd. Its first entry is Head as JSON, its last one SHA256SUMS: a line for
// each file between them, as sha256sum(1) checks it. Names are relative to the data directory.
//
// Every file of a data directory is good at each instant: replaced as a whole or only appended to. A copy of the files
// in the right order is therefore as good as the directory after a kill of the server at that instant, and is recovered
// in the same way. The database is copied by SQLite.
package backup

import (
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// Errors of the package. Others are the operating system's and the database's.
var (
	ErrDamaged  = errors.New("this is no backup, or a damaged or incomplete one")
	ErrNewer    = errors.New("the backup was made by a newer release")
	ErrNotEmpty = errors.New("the directory is not empty")
	ErrNoRoom   = errors.New("the file system has no room for what is in the backup")
	ErrChanged  = errors.New("a file became shorter while it was copied; try again")
)

const (
	// format is the version of the archive: what a reader has to know.
	format = 1
	// window is how far back the compression refers, in bytes. It takes a few times as much memory on both sides.
	window = 1 << 20
	// maxWindow bounds the memory that a file may ask for to be read, in bytes.
	maxWindow = 8 << 20
	// maxHead bounds the first entry, in bytes.
	maxHead = 4 << 10
)

// Names in the archive.
const (
	headName     = "evertty-backup.json"
	sumsName     = "SHA256SUMS"
	databaseName = "evertty.db"
)

// parts are the names in a data directory that a backup has, in this order. Everything else is bound to one server, one
// machine or one login: sockets, locks, the token, tickets, the audit log, jobs of relays.
var parts = []string{databaseName, "permissions.json", "providers", "threads", "shells", "terminals"}

// Head is the first entry of the archive.
type Head struct {
	Format  int       `json:"format"`
	Release string    `json:"release"` // of the program that wrote it
	Created time.Time `json:"created"`
}

// Summary is what an archive holds.
type Summary struct {
	Head
	Terminals, Shells, Files int
	Bytes                    int64 // of the files
}

// add counts an entry.
func (s *Summary) add(name string, size int64, dir bool) {
	switch parent, _ := path.Split(name); {
	case !dir:
		s.Files++
		s.Bytes += size
	case parent == "terminals/":
		s.Terminals++
	case parent == "shells/":
		s.Shells++
	}
}

// known reports whether an archive may have an entry of this name: a clean relative path to one of the parts.
func known(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return slices.Contains(parts, first) && path.Clean(name) == name
}
