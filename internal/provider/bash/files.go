package bash

import (
	"context"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Bounds of files that go through a shell.
const (
	fileTimeout  = 10 * time.Minute // for one file
	maxRead      = 8 << 20          // bytes of a file that is read when the caller names no limit
	maxListing   = 8 << 20          // bytes of a directory's list
	maxWrite     = 64 << 20         // bytes of a file that is written
	maxStderr    = 64 << 10         // bytes of what a command may print of its failure
	maxErrorText = 300              // bytes of that in an error
)

// Exit codes of the commands below, which no shell uses by itself.
const (
	exitNoFile = 91
	exitNoType = 92
	exitTooBig = 93
)

// Files reads and writes files by commands, for providers without calls for files of any bytes. Its
// methods are those of provider.Access. The instance needs GNU find.
type Files struct {
	Provider string // its name, for errors
	// Bash runs a command as provider.Access.Exec does.
	Bash func(context.Context, string, provider.ExecRequest, io.Writer, io.Writer) (provider.ExecResult, error)
	Cwd  string // of relative paths
}

// Run runs a command about a file with its input and returns its output of at most so many bytes.
func (s Files) Run(ctx context.Context, id, file, command string, stdin []byte, most int64) ([]byte, error) {
	out, errs := Buffer{Max: most}, Buffer{Max: maxStderr}
	request := provider.ExecRequest{Command: command, Cwd: "/", Stdin: stdin, Timeout: fileTimeout}
	r, err := s.Bash(ctx, id, request, &out, &errs)
	fail := func(kind error, why string) error { return fmt.Errorf("%s: %w: %s%s", s.Provider, kind, file, why) }
	switch {
	case err != nil:
		return nil, err
	case r.TimedOut:
		return nil, fail(provider.ErrUnreachable, fmt.Sprintf(": not within %v", fileTimeout))
	case r.ExitCode == exitNoFile:
		return nil, fail(provider.ErrNoFile, "")
	case r.ExitCode == exitNoType:
		return nil, fail(provider.ErrProvider, " is not of that kind")
	case r.ExitCode == exitTooBig:
		return nil, fail(provider.ErrTooLarge, fmt.Sprintf(" has more than %d bytes", most))
	case r.ExitCode != 0:
		return nil, fail(provider.ErrProvider, fmt.Sprintf(": %.*s", maxErrorText, strings.TrimSpace(errs.String())))
	}
	return out.Bytes(), nil
}

// ReadFile reads a whole file.
func (s Files) ReadFile(ctx context.Context, id, name string, most int64) ([]byte, error) {
	if most <= 0 {
		most = maxRead
	}
	script := fmt.Sprintf(`[ -e %[1]s ] || exit %[2]d; [ -f %[1]s ] || exit %[3]d
[ "$(stat -Lc %%s -- %[1]s)" -le %[4]d ] || exit %[5]d; cat -- %[1]s`,
		Quote(provider.AbsPath(s.Cwd, name)), exitNoFile, exitNoType, most, exitTooBig)
	return s.Run(ctx, id, name, script, nil, most)
}

// WriteFile makes or replaces a file, and makes the directories above it.
func (s Files) WriteFile(ctx context.Context, id, name string, data []byte) error {
	if len(data) > maxWrite {
		return fmt.Errorf("%s: %w: more than %d bytes", s.Provider, provider.ErrTooLarge, maxWrite)
	}
	f := provider.AbsPath(s.Cwd, name)
	_, err := s.Run(ctx, id, name, fmt.Sprintf("mkdir -p -- %s && cat >%s", Quote(path.Dir(f)), Quote(f)), data, 1)
	return err
}

// ListDir lists a directory. The command prints of every entry name, kind, size, mode and time,
// each with a NUL behind it, for a name may have any other character.
func (s Files) ListDir(ctx context.Context, id, name string) ([]provider.File, error) {
	dir := provider.AbsPath(s.Cwd, name)
	script := fmt.Sprintf(`[ -e %[1]s ] || exit %[2]d; [ -d %[1]s ] || exit %[3]d
cd -- %[1]s && find . -mindepth 1 -maxdepth 1 -printf '%%f\0%%y\0%%s\0%%M\0%%T@\0'`, Quote(dir), exitNoFile, exitNoType)
	out, err := s.Run(ctx, id, name, script, nil, maxListing)
	if err != nil {
		return nil, err
	}
	f := strings.Split(string(out), "\x00")
	files := make([]provider.File, 0, len(f)/5)
	for ; len(f) >= 5; f = f[5:] {
		size, _ := strconv.ParseInt(f[2], 10, 64)
		files = append(files, provider.File{Name: f[0], Path: path.Join(dir, f[0]), Dir: f[1] == "d", Size: size,
			Mode: f[3], MTime: unixTime(f[4])})
	}
	return files, nil
}

// unixTime reads seconds with a fraction.
func unixTime(text string) time.Time {
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}
	}
	n, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	return time.Unix(s, n).UTC()
}
