package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// openDataDir opens dir, making it and its parents when absent, and refuses one
// that other users control. What it checks is the directory it opened, whatever
// happens to the name meanwhile.
func openDataDir(dir string) (*os.Root, error) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, refused(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, refused(dir, err)
	}
	if err := checkDataDir(root, dir); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// checkDataDir checks owner, mode and that files can be made, and closes the
// directory to others.
func checkDataDir(root *os.Root, dir string) error {
	info, err := root.Stat(".")
	if err != nil {
		return refused(dir, err)
	}
	mode := info.Mode().Perm()
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("datadir: %w: %s (mode %04o) belongs to %s, evertty runs as %s; choose another directory, "+
			"or: chown -R %s %s",
			ErrForeign, dir, mode, userName(int(st.Uid)), userName(os.Geteuid()), userName(os.Geteuid()), dir)
	}
	if mode&0o022 != 0 {
		return fmt.Errorf("datadir: %w: %s (owner %s) has mode %04o; look through it, then: chmod 700 %s",
			ErrLoose, dir, userName(os.Geteuid()), mode, dir)
	}
	// Another server that starts at this moment may make or remove the file in between. Its lock decides later.
	if err := writeNew(root, tmpFile+"probe", bytesTo(nil)); err != nil && !errors.Is(err, fs.ErrExist) {
		return refused(dir, err)
	}
	if err := root.Remove(tmpFile + "probe"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refused(dir, err)
	}
	if mode != 0o700 {
		if err := root.Chmod(".", 0o700); err != nil {
			return refused(dir, err)
		}
	}
	return nil
}

// refused explains why dir cannot be used.
func refused(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		what := "it does not exist yet"
		if info, e := os.Stat(dir); e == nil {
			what = fmt.Sprintf("mode %04o", info.Mode().Perm())
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				what = "owner " + userName(int(st.Uid)) + ", " + what
			}
		}
		return fmt.Errorf("datadir: %w: %s (%s): %w; choose another directory or make it writable for %s",
			ErrReadOnly, dir, what, err, userName(os.Geteuid()))
	}
	return fmt.Errorf("data directory %s: %w", dir, NoSpace(err))
}

// userName is the name of a user, or the number when it has none.
func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
