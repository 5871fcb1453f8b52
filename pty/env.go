package pty

import (
	"cmp"
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/proc"
)

// What a child gets when neither this process nor the caller has a value.
const (
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	// defaultLang makes programs count characters as the emulator does; in the C locale readline takes UTF-8 apart.
	defaultLang = "C.UTF-8"
	defaultTerm = "xterm-256color"
	colorTerm   = "truecolor"
)

// childEnv is the environment of a child: the allowed part of own (NAME=VALUE, as os.Environ gives it), defaults, TERM
// and COLORTERM, then given, which wins; PWD is always dir. Errors: ErrBadEnv.
func childEnv(own []string, given map[string]string, dir string) (map[string]string, error) {
	env := map[string]string{"TERM": defaultTerm, "COLORTERM": colorTerm}
	for _, pair := range own {
		if name, value, ok := strings.Cut(pair, "="); ok && proc.Inherited(name) {
			env[name] = value
		}
	}
	fill(env)
	for name, value := range given {
		if err := checkVariable(name, value); err != nil {
			return nil, err
		}
		env[name] = value
	}
	env["PWD"] = dir
	return env, nil
}

// fill adds the variables without which a shell is of little use.
func fill(env map[string]string) {
	env["PATH"] = cmp.Or(env["PATH"], defaultPath)
	if env["HOME"] == "" {
		env["HOME"] = home()
	}
	if env["LANG"] == "" && env["LC_ALL"] == "" && env["LC_CTYPE"] == "" {
		env["LANG"] = defaultLang
	}
}

// home is the home directory of the user this process runs as, from the user database, or the root directory.
func home() string {
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir
	}
	return "/"
}

// checkVariable reports ErrBadEnv for what POSIX XBD 8.1 or execve(2) forbids. The message never holds the value, which
// may be secret.
func checkVariable(name, value string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: a name is empty", ErrBadEnv)
	case strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("%w: name %.80q holds '=' or a NUL byte", ErrBadEnv, name)
	case strings.IndexByte(value, 0) >= 0:
		return fmt.Errorf("%w: the value of %.80q holds a NUL byte", ErrBadEnv, name)
	case len(name)+len("=")+len(value) >= maxEnvEntry:
		return fmt.Errorf("%w: %.80q has %d bytes with its name, at most %d are possible", ErrBadEnv, name,
			len(name)+1+len(value), maxEnvEntry-1)
	}
	return nil
}

// pairs returns env as NAME=VALUE, sorted by name so that equal environments are equal.
func pairs(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
