package provider

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
)

// Bounds of files that go through a shell.
const (
	shellFileLimit = 10 * time.Minute // for one file
	maxListing     = 8 << 20          // bytes of a directory's list
	maxShellUpload = 64 << 20         // bytes of a file that is written
)

// What the commands below exit with; no shell uses these by itself.
const (
	exitNoFile = 91
	exitNoType = 92
	exitTooBig = 93
)

// shellFiles are files by commands, for services that have no calls for files as they are. The instance needs GNU find.
type shellFiles struct {
	p   Provider
	cwd string // of relative paths
}

func (s shellFiles) in(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(s.cwd, name)
}

// capped keeps what is written to it, up to an end.
type capped struct {
	bytes.Buffer
	most int64
}

func (c *capped) Write(p []byte) (int, error) {
	if int64(c.Len()+len(p)) > c.most {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, c.most)
	}
	return c.Buffer.Write(p)
}

// sh runs a command and returns its output.
func (s shellFiles) sh(ctx context.Context, id, name, command string, stdin []byte, most int64) ([]byte, error) {
	out, words := capped{most: most}, capped{most: 64 << 10}
	r, err := s.p.Exec(ctx, id, ExecRequest{Command: command, Cwd: "/", Stdin: stdin, Timeout: shellFileLimit}, &out, &words)
	switch {
	case err != nil:
		return nil, err
	case r.TimedOut:
		return nil, fmt.Errorf("%s: %w: %s: not within %v", s.p.Name(), ErrUnreachable, name, shellFileLimit)
	case r.ExitCode == exitNoFile:
		return nil, fmt.Errorf("%s: %w: %s", s.p.Name(), ErrNoFile, name)
	case r.ExitCode == exitNoType:
		return nil, fmt.Errorf("%s: %w: %s is not of that kind", s.p.Name(), ErrProvider, name)
	case r.ExitCode == exitTooBig:
		return nil, fmt.Errorf("%s: %w: %s has more than %d bytes", s.p.Name(), ErrTooLarge, name, most)
	case r.ExitCode != 0:
		return nil, fmt.Errorf("%s: %w: %s: %.*s", s.p.Name(), ErrProvider, name, maxErrorText, strings.TrimSpace(words.String()))
	}
	return out.Bytes(), nil
}

func (s shellFiles) read(ctx context.Context, id, name string, most int64) ([]byte, error) {
	if most <= 0 {
		most = maxReply
	}
	f := quote(s.in(name))
	return s.sh(ctx, id, name, fmt.Sprintf(`[ -e %[1]s ] || exit %[2]d; [ -f %[1]s ] || exit %[3]d; [ "$(stat -Lc %%s -- %[1]s)" -le %[4]d ] || exit %[5]d; cat -- %[1]s`,
		f, exitNoFile, exitNoType, most, exitTooBig), nil, most)
}

func (s shellFiles) write(ctx context.Context, id, name string, data []byte) error {
	if len(data) > maxShellUpload {
		return fmt.Errorf("%s: %w: more than %d bytes", s.p.Name(), ErrTooLarge, maxShellUpload)
	}
	f := s.in(name)
	_, err := s.sh(ctx, id, name, fmt.Sprintf("mkdir -p -- %s && cat >%s", quote(path.Dir(f)), quote(f)), data, 1)
	return err
}

// list has for every entry: name, kind, size, mode, time; all end with NUL, for a name may hold anything else.
func (s shellFiles) list(ctx context.Context, id, name string) ([]File, error) {
	dir := s.in(name)
	out, err := s.sh(ctx, id, name, fmt.Sprintf(`[ -e %[1]s ] || exit %[2]d; [ -d %[1]s ] || exit %[3]d; cd -- %[1]s && find . -mindepth 1 -maxdepth 1 -printf '%%f\0%%y\0%%s\0%%M\0%%T@\0'`,
		quote(dir), exitNoFile, exitNoType), nil, maxListing)
	if err != nil {
		return nil, err
	}
	f := strings.Split(string(out), "\x00")
	files := make([]File, 0, len(f)/5)
	for ; len(f) >= 5; f = f[5:] {
		size, _ := strconv.ParseInt(f[2], 10, 64)
		files = append(files, File{Name: f[0], Path: path.Join(dir, f[0]), Dir: f[1] == "d", Size: size, Mode: f[3], MTime: unix(f[4])})
	}
	return files, nil
}

// unix reads seconds with a fraction.
func unix(text string) time.Time {
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}
	}
	n, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	return time.Unix(s, n).UTC()
}
