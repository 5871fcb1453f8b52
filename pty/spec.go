package pty

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/proc"
)

// Spec says what to run on which terminal. It is read during Start only and may be used again.
type Spec struct {
	// Argv is the command and its arguments. A command without a slash is looked up in the PATH of the child's
	// environment; a relative one with a slash is relative to Dir.
	Argv []string
	// Dir is the working directory; empty means the one of this process.
	Dir string
	// Env is added to the allow-listed part of this process's environment and wins over it. See [Start].
	Env map[string]string
	// Tag marks the program and all that it starts, see [proc.Tag]; 0 is none. While a program with one starts, this
	// process must start nothing else.
	Tag uint64
	// Confine says what the program may touch and use; nil is no bound. Only a keeper starts such a program: its binary
	// has to know the verb (confine.Main).
	Confine *confine.Spec
	// Cols and Rows are the size of the terminal in cells, MinSize..MaxSize.
	Cols, Rows int
}

// Plan checks s and resolves it against this process's environment and working directory. It opens nothing. Errors:
// ErrNoCommand, ErrBadArg, ErrNoDir, ErrBadEnv.
func (s Spec) Plan() (proc.Plan, error) {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return proc.Plan{}, fmt.Errorf("%w: none given", ErrNoCommand)
	}
	if err := checkArgs(s.Argv); err != nil {
		return proc.Plan{}, err
	}
	dir, err := resolveDir(s.Dir)
	if err != nil {
		return proc.Plan{}, err
	}
	env, err := childEnv(os.Environ(), s.Env, dir)
	if err != nil {
		return proc.Plan{}, err
	}
	path, err := lookup(s.Argv[0], dir, env["PATH"])
	if err != nil {
		return proc.Plan{}, err
	}
	plan := proc.Plan{Path: path, Argv: s.Argv, Env: pairs(env), Dir: dir, Tag: s.Tag}
	if s.Confine != nil {
		plan = s.Confine.Plan(plan)
	}
	return plan, nil
}

// checkArgs reports ErrBadArg for arguments that cannot be passed to execve(2).
func checkArgs(argv []string) error {
	for i, arg := range argv {
		if strings.IndexByte(arg, 0) >= 0 {
			return fmt.Errorf("%w: number %d holds a NUL byte", ErrBadArg, i)
		}
		if len(arg) >= maxEnvEntry {
			return fmt.Errorf("%w: number %d has %d bytes, at most %d are possible", ErrBadArg, i, len(arg),
				maxEnvEntry-1)
		}
	}
	return nil
}

// resolveDir returns dir as an absolute path, symbolic links kept, after checking that a child can enter it. Errors:
// ErrNoDir.
func resolveDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %q: %w", ErrNoDir, dir, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("%w: %q: %w", ErrNoDir, dir, reason(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%w: %q: %w", ErrNoDir, dir, unix.ENOTDIR)
	}
	if err := unix.Faccessat(unix.AT_FDCWD, abs, unix.X_OK, unix.AT_EACCESS); err != nil {
		return "", fmt.Errorf("%w: %q: %w", ErrNoDir, dir, err)
	}
	return abs, nil
}

// CheckDir reports whether a program can start in dir now: whether it is a directory that this process may enter. A
// relative one is relative to the working directory of this process. Errors: ErrNoDir.
func CheckDir(dir string) error {
	_, err := resolveDir(dir)
	return err
}

// checkSize reports ErrBadSize for a size that no terminal of ours has.
func checkSize(cols, rows int) error {
	for _, n := range [...]int{cols, rows} {
		if n < MinSize || n > MaxSize {
			return fmt.Errorf("%w: %dx%d, columns and rows go from %d to %d", ErrBadSize, cols, rows, MinSize, MaxSize)
		}
	}
	return nil
}
