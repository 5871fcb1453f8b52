package pty_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// file writes an executable or plain file and returns its path.
func file(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := file(t, filepath.Join(dir, "plain"), "text", 0o644)
	noInterpreter := file(t, filepath.Join(dir, "lost"), "#!/no/such/interpreter\n", 0o755)
	noFormat := file(t, filepath.Join(dir, "strange"), "\x00\x01\x02", 0o755)
	argv := func(list ...string) pty.Spec { return pty.Spec{Argv: list, Cols: 80, Rows: 24} }
	env := func(name, value string) pty.Spec {
		return pty.Spec{Argv: []string{"true"}, Env: map[string]string{name: value}, Cols: 80, Rows: 24}
	}
	in := func(dir string) pty.Spec { return pty.Spec{Argv: []string{"true"}, Dir: dir, Cols: 80, Rows: 24} }
	size := func(cols, rows int) pty.Spec { return pty.Spec{Argv: []string{"true"}, Cols: cols, Rows: rows} }
	cases := []struct {
		name string
		spec pty.Spec
		want error
		says string
	}{
		{"nothing", argv(), pty.ErrNoCommand, "none given"},
		{"empty", argv(""), pty.ErrNoCommand, "none given"},
		{"unknown", argv("no-such-command"), pty.ErrNoCommand, `"no-such-command": not found in PATH`},
		{"unknown path", argv("/no/such"), pty.ErrNoCommand, `"/no/such": no such file`},
		{"directory", argv(dir), pty.ErrNoCommand, "is a directory"},
		{"not executable", argv(plain), pty.ErrNoCommand, "permission denied"},
		{"no interpreter", argv(noInterpreter), pty.ErrNoCommand, "interpreter is missing"},
		{"no format", argv(noFormat), pty.ErrNoCommand, "exec format error"},
		{"NUL in command", argv("a\x00b"), pty.ErrBadArg, "NUL"},
		{"NUL in argument", argv("true", "a\x00b"), pty.ErrBadArg, "number 1"},
		{"long argument", argv("true", strings.Repeat("x", 128<<10)), pty.ErrBadArg, "131072 bytes"},
		{"too many arguments", argv(append([]string{"true"},
			slices.Repeat([]string{strings.Repeat("x", 100<<10)}, 100)...)...), pty.ErrBadArg, "too long together"},
		{"no directory", in("/no/such/dir"), pty.ErrNoDir, `"/no/such/dir": no such file`},
		{"file as directory", in(plain), pty.ErrNoDir, "not a directory"},
		{"NUL in directory", in("/tmp\x00"), pty.ErrNoDir, "invalid argument"},
		{"empty name", env("", "x"), pty.ErrBadEnv, "empty"},
		{"= in name", env("A=B", "x"), pty.ErrBadEnv, `"A=B"`},
		{"NUL in name", env("A\x00B", "x"), pty.ErrBadEnv, "NUL"},
		{"NUL in value", env("A", "x\x00"), pty.ErrBadEnv, `"A"`},
		{"long value", env("A", strings.Repeat("x", 128<<10-2)), pty.ErrBadEnv, "131072 bytes"},
		{"no columns", size(0, 24), pty.ErrBadSize, "0x24"},
		{"many rows", size(80, 1001), pty.ErrBadSize, "80x1001"},
		{"negative", size(-80, 24), pty.ErrBadSize, "-80x24"},
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close forgotten files
	goroutines, fds := runtime.NumGoroutine(), openFDs()
	for range 3 {
		for _, c := range cases {
			p, err := pty.Start(c.spec)
			if p != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	if err := leftovers(goroutines, fds); err != nil {
		t.Error(err)
	}
	// The largest entry that is allowed really works.
	s := runSpec(t, pty.Spec{Argv: []string{"sh", "-c", "echo ${#A}"},
		Env: map[string]string{"A": strings.Repeat("x", 128<<10-3)}, Cols: 80, Rows: 24})
	s.expect("131069")
}

// nofileMode starts with no descriptor left for a terminal.
func nofileMode() error {
	limit := unix.Rlimit{Cur: 3, Max: 3}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	_, err := pty.Start(pty.Spec{Argv: []string{"true"}, Cols: 80, Rows: 24})
	if !errors.Is(err, pty.ErrNoPTY) || !errors.Is(err, unix.EMFILE) {
		return fmt.Errorf("got %w", err)
	}
	return nil
}

func TestNoPTY(t *testing.T) {
	reexec(t, "nofile", nil)
}

func TestCommandLookup(t *testing.T) {
	dir := t.TempDir()
	script := func(path string) {
		file(t, filepath.Join(dir, path), "#!/bin/sh\necho ran "+path+" as $0 in $PWD\n", 0o755)
	}
	script("bin/tool")
	script("rel/other")
	file(t, filepath.Join(dir, "first/tool"), "", 0o644) // found first, not executable: the search goes on
	for _, c := range []struct{ command, path, want string }{
		{"tool", dir + "/first:" + dir + "/bin", "ran bin/tool"},
		{"other", "rel:/bin", "ran rel/other"},
		{"bin/tool", "/bin", "ran bin/tool"},
		{"./bin/tool", "/bin", "ran bin/tool"},
		{dir + "/bin/tool", "/bin", "ran bin/tool"},
	} {
		s := runSpec(t, pty.Spec{Argv: []string{c.command}, Dir: dir, Env: map[string]string{"PATH": c.path}, Cols: 200,
			Rows: 24})
		s.expect(c.want)
		s.expect(" in " + dir)
	}
	_, err := pty.Start(pty.Spec{Argv: []string{"tool"}, Dir: dir, Env: map[string]string{"PATH": dir + "/first"},
		Cols: 80, Rows: 24})
	if !errors.Is(err, pty.ErrNoCommand) || !errors.Is(err, unix.EACCES) {
		t.Errorf("not executable: %v", err)
	}
}

// output runs a command to its end.
func output(t *testing.T, spec pty.Spec) string {
	t.Helper()
	spec.Cols, spec.Rows = 80, 24
	p, err := pty.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(limited(t, patience)); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"EVERTTY_TOKEN": "secret", "EVERTTY_DATA_DIR": "/x", "NOTIFY_SOCKET": "/x", "LISTEN_FDS": "1",
		"LISTEN_PID": "1", "API_TOKEN": "secret",
		"TERM": "dumb", "COLORTERM": "no", "OLDPWD": "/x", "LD_PRELOAD": "", "XDG_SESSION_ID": "7", "TMUX": "x",
		"LANG": "C.UTF-8", "LANGUAGE": "en", "LC_TIME": "C", "TZ": "UTC", "TMPDIR": "/tmp", "XDG_CONFIG_HOME": "/c",
		"XDG_RUNTIME_DIR": "/r",
		"USER":            "me", "LOGNAME": "me", "SHELL": "/bin/sh", "HOME": "/h", "LC_ALL": "",
	} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	got := strings.Split(strings.TrimSpace(output(t, pty.Spec{Argv: []string{"env"}, Dir: dir,
		Env: map[string]string{"MINE": "a b=c", "TZ": "Asia/Tokyo", "EVERTTY_OWN": "given", "PWD": "/wrong"}})), "\n")
	want := []string{
		"COLORTERM=truecolor", "EVERTTY_OWN=given", "HOME=/h", "LANG=C.UTF-8", "LANGUAGE=en", "LC_ALL=", "LC_TIME=C",
		"LOGNAME=me", "MINE=a b=c",
		"PATH=" + os.Getenv("PATH"), "PWD=" + dir, "SHELL=/bin/sh", "TERM=xterm-256color", "TMPDIR=/tmp",
		"TZ=Asia/Tokyo", "USER=me",
		"XDG_CONFIG_HOME=/c", "XDG_RUNTIME_DIR=/r",
	}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "LC_") && name != "LC_ALL" &&
			name != "LC_TIME" ||
			strings.HasPrefix(name, "XDG_") && strings.HasSuffix(name, "_HOME") && name != "XDG_CONFIG_HOME" {
			want = append(want, pair)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEnvironmentDefaults(t *testing.T) {
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	got := output(t, pty.Spec{Argv: []string{"sh", "-c", `echo "$PATH|$HOME|$LANG|$TERM"`},
		Env: map[string]string{"TERM": "vt100"}})
	path, rest, _ := strings.Cut(got, "|")
	home, rest, _ := strings.Cut(rest, "|")
	if !strings.Contains(path, "/usr/bin") || !filepath.IsAbs(home) || rest != "C.UTF-8|vt100\n" {
		t.Errorf("got %q", got)
	}
}

// The child leads its own session, in the foreground of its terminal.
func TestSession(t *testing.T) {
	fields := strings.Fields(output(t, pty.Spec{Argv: []string{"cat", "/proc/self/stat"}}))
	// pid, name, state, parent, group, session, terminal, foreground group: proc_pid_stat(5)
	if len(fields) < 8 || fields[4] != fields[0] || fields[5] != fields[0] || fields[6] == "0" ||
		fields[7] != fields[0] {
		t.Errorf("got %q", fields)
	}
	if got := output(t, pty.Spec{Argv: []string{"stty", "-a"}}); !strings.Contains(got, " iutf8") ||
		strings.Contains(got, "-iutf8") {
		t.Errorf("got %q", got)
	}
}
