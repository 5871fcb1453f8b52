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

// FindNumber returns the number after a prefix in the name of a file. Unused markers do not count.
func FindNumber(dir, prefix string) (int, bool) {
	list, _ := os.ReadDir(dir)
	tail, ok := TailIn(slices.DeleteFunc(list, isUnused), prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(tail)
	return n, err == nil || tail == ""
}

// unusedSize is the size in bytes of a marker that is there and tells nothing yet: the redirection
// that is to make it makes it empty.
const unusedSize = 1

func isUnused(f os.DirEntry) bool {
	if !strings.HasPrefix(f.Name(), AgainName) {
		return false
	}
	info, err := f.Info()
	return err == nil && info.Size() == unusedSize
}

// MarkUnused makes a marker one that tells nothing, whose name begins with AgainName.
func MarkUnused(path string) error {
	if os.Truncate(path, unusedSize) == nil {
		return nil
	}
	return Rewrite(path, "\n") // there is none yet
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
