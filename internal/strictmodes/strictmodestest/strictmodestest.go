//go:build unix

// Package strictmodestest gives tests a temporary directory that package strictmodes takes,
// whatever umask, TMPDIR and user they run with. Only tests import it.
package strictmodestest

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/strictmodes"
)

// Main is m.Run with Setup.
func Main(m *testing.M) int {
	remove, err := Setup(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	return m.Run()
}

// Setup is for TestMain: it sets umask 022 and, unless the temporary directory passes and its path
// has at most maxLength bytes (0 is any), TMPDIR to a new directory that does. remove removes that.
// When no directory of this machine passes, the error says what is wrong with each.
func Setup(maxLength int) (remove func(), err error) {
	syscall.Umask(0o022)
	_ = os.Unsetenv("GOTMPDIR") // testing.T.TempDir prefers it to TMPDIR
	cache, _ := os.UserCacheDir()
	home, _ := os.UserHomeDir()
	var all error
	for i, parent := range []string{os.TempDir(), "/tmp", "/var/tmp", cache, home} {
		if parent == "" || maxLength > 0 && len(parent) > maxLength {
			continue
		}
		dir, err := os.MkdirTemp(parent, "evt")
		if err == nil {
			if err = strictmodes.Check(dir); err == nil && i > 0 {
				return func() { _ = os.RemoveAll(dir) }, errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir))
			}
			_ = os.RemoveAll(dir)
		}
		if err == nil {
			return func() {}, nil
		}
		all = errors.Join(all, err)
	}
	return nil, fmt.Errorf("no temporary directory is safe from other users: %w", all)
}
