package shelldir

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// FindMarker returns the rest of the name of a file that begins with a prefix.
func FindMarker(dir, prefix string) (tail string, ok bool) {
	list, _ := os.ReadDir(dir)
	return TailIn(list, prefix)
}

// TailIn is FindMarker in the files of a directory.
func TailIn(list []os.DirEntry, prefix string) (tail string, ok bool) {
	for _, f := range list {
		if tail, ok := strings.CutPrefix(f.Name(), prefix); ok {
			return tail, true
		}
	}
	return "", false
}

// FindNumber returns the number after a prefix in the name of a file.
func FindNumber(dir, prefix string) (int, bool) {
	tail, ok := FindMarker(dir, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(tail)
	return n, err == nil || tail == ""
}

// MakePrivate gives the files that a shell has made in a directory the mode 0600: the shell made
// them with the user's umask.
func MakePrivate(dir string) {
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if f.Type().IsRegular() && !slices.Contains(serverFiles, f.Name()) {
			_ = os.Chmod(filepath.Join(dir, f.Name()), 0o600)
		}
	}
}
