// Package startdir finds the directory in which a program starts.
package startdir

import (
	"os"
	"os/user"
	"path/filepath"

	"github.com/evertty/evertty/pty"
)

// Home is where a program starts by default: HOME of this process's environment, else the home of
// its user in the user database, else "/". It is absolute, and was a directory when Home looked.
func Home() string {
	if dir := os.Getenv("HOME"); Exists(dir) {
		return filepath.Clean(dir)
	}
	if u, err := user.Current(); err == nil && Exists(u.HomeDir) {
		return u.HomeDir
	}
	return "/"
}

// InHome is dir as an absolute path: a relative one is relative to the user's home, "" is the home
// itself.
func InHome(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(Home(), dir)
}

// Exists reports whether path is absolute and a directory, links followed.
func Exists(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.IsDir() && filepath.IsAbs(path)
}

// Resolve is path with all links followed, as the system names a directory; "" when there is none.
func Resolve(path string) string {
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return p
}

// Nearest is dir, or when no program can start there (it is gone, or may not be entered) the
// nearest directory above it in which one can; moved is dir then. "" is the user's home.
func Nearest(dir string) (living, moved string) {
	if dir == "" {
		return Home(), ""
	}
	for d := dir; ; d = filepath.Dir(d) {
		if Exists(d) && pty.CheckDir(d) == nil {
			if d == dir {
				return d, ""
			}
			return d, dir
		}
		if d == filepath.Dir(d) {
			return Home(), dir
		}
	}
}
