package bash

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// ErrNoState says that a command has left no complete capture: it was killed, replaced its shell
// (exec), had a trap of its own on EXIT and called exit, or the instance has no room in /tmp. The
// state before the command stays.
var ErrNoState = errors.New("the command left no state")

// Bounds of a capture.
const (
	// maxCapture bounds a capture that is read, in bytes: two environments of the largest size that
	// Linux gives a process by default, a quarter of an 8 MiB stack.
	maxCapture = 4 << 20
	// fetchTimeout bounds the reading of a capture, which also happens after the caller has left:
	// it removes the files. Where it ends the reading, the directory and variables that the command
	// has set are lost.
	fetchTimeout = 30 * time.Second
	// markerBytes is the size of a random marker: 128 bits, which no output has by chance.
	markerBytes = 16
)

// ShellState is the state that a command gets from the one before, where each command has a bash of
// its own.
type ShellState struct {
	Cwd   string            // absolute; "" is the instance's first directory
	Env   map[string]string // exported, and different from the instance's environment
	Unset []string          // removed from the instance's environment, ascending
}

// Wrap is a command with its state as one script for bash, and the marker of its capture.
//
// The script changes to the state's directory, or to the nearest parent that it can enter, which it
// reports on stderr; exports and removes variables; and runs the command in the same shell by eval
// of one quoted word, so that no comment, heredoc or open quote reaches the rest of the script. At
// the end, also of an explicit exit, it writes directory and environment to a file, never to the
// command's output. FetchScript prints and removes that file. The command sees nothing of this but
// a trap on EXIT, which it may replace. The script's exit code is the command's.
//
// Errors: ErrNotStarted, with ErrProvider, for a NUL, an invalid name, a directory that is not
// absolute.
func Wrap(s ShellState, command string) (text, marker string, err error) {
	if err := s.check(); err != nil {
		return "", "", err
	}
	if _, err := exports(provider.ExecRequest{Command: command, Env: s.Env}); err != nil {
		return "", "", err
	}
	var b [markerBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	marker = hex.EncodeToString(b[:])
	fill := strings.NewReplacer("FILE", capturePath(marker), "MARKER", marker, "NAMES", printVariables)
	end := fill.Replace(captureEnd)
	return fill.Replace(captureBegin) + s.script() + "\\trap -- " + Quote(end) + " EXIT\n\\eval -- " + Quote(command) +
		"\n" + end + "\n", marker, nil
}

// FetchScript prints the capture of a command that was wrapped with a marker, for Unwrap, and
// removes it.
func FetchScript(marker string) string {
	f := Quote(capturePath(marker))
	return "cat " + f + ".base " + f + ".end 2>/dev/null; rm -f " + f + ".base " + f + ".end"
}

func capturePath(marker string) string { return "/tmp/.evertty-" + marker }

func (s ShellState) check() error {
	bad := func(what string) error {
		return fmt.Errorf("%w: %w: %s", provider.ErrNotStarted, provider.ErrProvider, what)
	}
	if s.Cwd != "" && (!path.IsAbs(s.Cwd) || strings.ContainsRune(s.Cwd, 0)) {
		return bad(fmt.Sprintf("the directory %q is not absolute", s.Cwd))
	}
	for _, k := range s.Unset {
		if !variableName().MatchString(k) {
			return bad(fmt.Sprintf("no name for a variable: %q", k))
		}
	}
	return nil
}

// script gives the state to the shell that runs it. It uses no variable: the directory is a
// positional parameter.
func (s ShellState) script() string {
	var b strings.Builder
	if s.Cwd != "" {
		fmt.Fprintf(&b, changeDir, Quote(s.Cwd))
	}
	b.WriteString("{\n:\n")
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if !ownVariables[k] {
			fmt.Fprintf(&b, "\\export %s=%s\n", k, Quote(s.Env[k]))
		}
	}
	for _, k := range s.Unset {
		fmt.Fprintf(&b, "\\unset -v %s\n", k)
	}
	b.WriteString("} 2>/dev/null\n")
	return b.String()
}

// The parts of the script. Quoted first words are no aliases. After `unset -f builtin` in a
// subshell, builtin comes before all other functions. MARKER is first and last in a capture, so
// that an incomplete one is recognised.
const (
	// printVariables prints the exported variables. compgen is a builtin: it needs no PATH, and no
	// environment is too large for it.
	printVariables = `\builtin mapfile -t __evertty_names <<<"$(\builtin compgen -e)"
for __evertty_name in "${__evertty_names[@]}"; do
[[ $__evertty_name && -v $__evertty_name ]] && \builtin printf '%s=%s\0' "$__evertty_name" "${!__evertty_name}"
done
\builtin printf '\0'`

	// captureBegin captures the instance's environment before the state changes it.
	captureBegin = `( \unset -f builtin; \builtin umask 077
{ \builtin printf 'MARKER\0'
NAMES
} >|'FILE.base' ) 2>/dev/null
`
	// changeDir tries a directory, then its parents.
	changeDir = `\set -- %[1]s
while ! \builtin cd -- "$1" 2>/dev/null; do
[[ $1 == / ]] && break
\set -- "${1%%/*}"; \set -- "${1:-/}"
done
[[ $1 == %[1]s ]] || \builtin printf 'evertty: %%s is gone, going on in %%s\n' %[1]s "$PWD" >&2
\set --
`
	// captureEnd captures the state, in a subshell. In posix mode, which an assignment switches on,
	// unset and set come before functions of these names.
	captureEnd = `( POSIXLY_CORRECT=$?; \unset -f builtin; __evertty_code=$POSIXLY_CORRECT
\set +xvefuT; \trap - EXIT DEBUG ERR RETURN; \set +o posix; \builtin umask 077; \builtin shopt -u nocasematch
{ \builtin pwd
\builtin printf '\0'
NAMES
\builtin printf 'MARKER\0'
} >|'FILE.end'
\builtin exit "$__evertty_code" ) 2>/dev/null`
)

// ownVariables are the variables that every shell makes by itself. They are no part of the state.
var ownVariables = map[string]bool{"_": true, "SHLVL": true, "PWD": true, "OLDPWD": true, "POSIXLY_CORRECT": true,
	"SHELLOPTS": true, "BASHOPTS": true, "UID": true, "EUID": true, "PPID": true}

// Unwrap reads the output of FetchScript, and returns the state after the command, given the one
// before: MARKER, variables, an empty part, the directory, variables, an empty part, MARKER, with a
// NUL after each. Errors: ErrNoState.
func Unwrap(before ShellState, marker string, text []byte) (ShellState, error) {
	bad := func(why string) (ShellState, error) { return ShellState{}, fmt.Errorf("%w: %s", ErrNoState, why) }
	p := parts{rest: text}
	if len(text) > maxCapture || p.next() != marker || marker == "" {
		return bad("no capture")
	}
	base, cwd, now := p.variables(), strings.TrimSuffix(p.next(), "\n"), p.variables()
	if p.next() != marker || p.short || len(p.rest) > 0 {
		return bad("a capture without an end")
	}
	if cwd != "" && !path.IsAbs(cwd) {
		return bad("a directory that is not absolute")
	}
	after := ShellState{Cwd: cmp.Or(cwd, before.Cwd), Env: map[string]string{}}
	for k, v := range now {
		old, had := base[k]
		if _, was := before.Env[k]; was || !had || old != v {
			after.Env[k] = v
		}
	}
	gone := slices.AppendSeq(slices.Clone(before.Unset), maps.Keys(base))
	slices.Sort(gone)
	for _, k := range slices.Compact(gone) {
		if _, has := now[k]; !has && !ownVariables[k] {
			after.Unset = append(after.Unset, k)
		}
	}
	return after, nil
}

// parts reads texts that end with a NUL.
type parts struct {
	rest  []byte
	short bool // a part had no NUL
}

func (p *parts) next() string {
	part, rest, ok := bytes.Cut(p.rest, []byte{0})
	p.rest, p.short = rest, p.short || !ok
	return string(part)
}

// variables reads up to an empty part, without invalid names and ownVariables.
func (p *parts) variables() map[string]string {
	list := map[string]string{}
	for entry := p.next(); entry != "" && !p.short; entry = p.next() {
		if k, v, ok := strings.Cut(entry, "="); ok && variableName().MatchString(k) && !ownVariables[k] {
			list[k] = v
		}
	}
	return list
}

// ExecIn runs a command in a state on an instance, and returns the state after it: the one before,
// with ErrNoState beside the result, when it left none. r.Cwd and r.Env are for this command: a Cwd
// is where it begins instead of s.Cwd, and Env is no part of the state unless the command changes
// it. When Exec fails or times out, the state is the one before, and the error Exec's. The capture
// is removed from the instance also when ctx has ended, within fetchTimeout.
func ExecIn(ctx context.Context, p provider.Access, id string, s ShellState, r provider.ExecRequest,
	stdout, stderr io.Writer) (provider.ExecResult, ShellState, error) {
	start := s.without(r.Env)
	if r.Cwd != "" {
		start.Cwd, r.Cwd = r.Cwd, ""
	}
	text, marker, err := Wrap(start, r.Command)
	if err != nil {
		return provider.ExecResult{}, s, err
	}
	r.Command = text
	result, err := p.Exec(ctx, id, r, stdout, stderr)
	if errors.Is(err, provider.ErrNotStarted) {
		return result, s, err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	found := Buffer{Max: maxCapture}
	_, fetchErr := p.Exec(late, id, provider.ExecRequest{Command: FetchScript(marker)}, &found, io.Discard)
	if err != nil || result.TimedOut {
		return result, s, err
	}
	if fetchErr != nil {
		return result, s, fmt.Errorf("%w: %w", ErrNoState, fetchErr)
	}
	after, err := Unwrap(start, marker, found.Bytes())
	if err != nil {
		return result, s, err
	}
	return result, after.restored(s, r.Env), nil
}

// without is the state without some variables.
func (s ShellState) without(env map[string]string) ShellState {
	own := func(k string) bool { _, is := env[k]; return is }
	s.Env, s.Unset = maps.Clone(s.Env), slices.DeleteFunc(slices.Clone(s.Unset), own)
	maps.DeleteFunc(s.Env, func(k, _ string) bool { return own(k) })
	return s
}

// restored is the state after a command that was given variables: those that it did not change are
// as before.
func (s ShellState) restored(before ShellState, env map[string]string) ShellState {
	for k := range env {
		if _, changed := s.Env[k]; changed || slices.Contains(s.Unset, k) {
			continue
		}
		if v, had := before.Env[k]; had {
			s.Env[k] = v
		} else if slices.Contains(before.Unset, k) {
			s.Unset = append(s.Unset, k)
		}
	}
	slices.Sort(s.Unset)
	return s
}
