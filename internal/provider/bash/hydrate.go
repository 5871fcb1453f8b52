package bash

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// ErrNoState means that a command has left no whole capture: it was killed, replaced its shell (exec), had a trap of its own on EXIT and called exit, or
// the instance has no room in /tmp. The state before the command stands.
var ErrNoState = errors.New("the command left no state")

// Bounds of a capture.
const (
	// maxCapture is the most that is read of one, in bytes: two environments of what Linux gives a process at most by default, a quarter of an 8 MiB stack.
	maxCapture = 4 << 20
	// fetchTimeout is for reading a capture back, also when the command's own caller is gone: the files on the instance have to go.
	fetchTimeout = 10 * time.Second
	// markerBytes of a random marker: 128 bits, which no output has by chance.
	markerBytes = 16
)

// ShellState is what of a shell is carried from one command to the next where each command has a bash of its own.
type ShellState struct {
	Cwd   string            // absolute; "" is where the instance begins
	Env   map[string]string // exported, and different from what the instance gives
	Unset []string          // what the instance gives and was removed, ascending
}

// Capture is what a wrapped command told at its end.
type Capture struct {
	State ShellState
	Began string // the directory it began in: not the wanted one when that was gone
	Code  int
}

// Wrap is a command, together with the state it runs in, as one text for bash, and the marker that its capture goes by.
//
// The text goes to the state's directory, or the nearest parent that can be entered and says so on stderr; exports and removes variables; and runs the command in the same
// shell by eval of one quoted word, so that no comment, heredoc or open quote reaches what is ours. At its end, an explicit exit included, it writes
// exit code, directory and environment to a file, never to the command's own output, so the two cannot mix. Captured gives the text that prints and removes that.
// The command sees none of this but a trap on EXIT, and can replace it. Its exit code is the text's.
//
// Errors: ErrNotStarted, with ErrProvider, for what bash cannot have: a NUL, a name that is none, a directory that is not absolute.
func Wrap(s ShellState, command string) (text, marker string, err error) {
	if err := s.check(); err != nil {
		return "", "", err
	}
	if strings.ContainsRune(command, 0) {
		return "", "", fmt.Errorf("%w: %w: a command has no NUL", provider.ErrNotStarted, provider.ErrProvider)
	}
	var b [markerBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	marker = hex.EncodeToString(b[:])
	at := strings.NewReplacer("FILE", capturePath(marker), "MARKER", marker, "NAMES", dumpText)
	end := at.Replace(endText)
	return at.Replace(beginText) + s.text() + at.Replace(baseText) +
		"\\trap -- " + Quote(end) + " EXIT\n\\eval -- " + Quote(command) + "\n" + end + "\n", marker, nil
}

// Captured is the text for bash that prints what the command wrapped with a marker has captured, and removes it. What it prints is for Unwrap.
func Captured(marker string) string {
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
	for k, v := range s.Env {
		if !variableName.MatchString(k) || strings.ContainsRune(v, 0) {
			return bad(fmt.Sprintf("no name for a variable: %q", k))
		}
	}
	for _, k := range s.Unset {
		if !variableName.MatchString(k) {
			return bad(fmt.Sprintf("no name for a variable: %q", k))
		}
	}
	return nil
}

// text makes the state that of the shell which runs it. No variable of ours is left, for none is used: the directory goes through the positional parameters.
func (s ShellState) text() string {
	var b strings.Builder
	if s.Cwd != "" {
		fmt.Fprintf(&b, goText, Quote(s.Cwd))
	}
	b.WriteString("{\n:\n")
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if !transient[k] {
			fmt.Fprintf(&b, "\\export %s=%s\n", k, Quote(s.Env[k]))
		}
	}
	for _, k := range s.Unset {
		fmt.Fprintf(&b, "\\unset -v %s\n", k)
	}
	b.WriteString("} 2>/dev/null\n")
	return b.String()
}

// The texts of Wrap. Quoted first words are no aliases; in a subshell that has removed a function named builtin, builtin comes before all others.
// MARKER begins and ends a capture, so that a half of one is none.
const (
	// dumpText prints the exported variables. compgen is a builtin: it needs no PATH, and no environment is too large for it.
	dumpText = `\builtin mapfile -t __evertty_names <<<"$(\builtin compgen -e)"
for __evertty_name in "${__evertty_names[@]}"; do
[[ $__evertty_name && -v $__evertty_name ]] && \builtin printf '%s=%s\0' "$__evertty_name" "${!__evertty_name}"
done
\builtin printf '\0'`

	// beginText captures what the instance gives, before the state changes it.
	beginText = `( \unset -f builtin; \builtin umask 077
{ \builtin printf 'MARKER\0'
NAMES
} >|'FILE.base' ) 2>/dev/null
`
	// goText goes up until a directory can be entered.
	goText = `\set -- %[1]s
while ! \builtin cd -- "$1" 2>/dev/null; do
[[ $1 == / ]] && break
\set -- "${1%%/*}"; \set -- "${1:-/}"
done
[[ $1 == %[1]s ]] || \builtin printf 'evertty: %%s is gone, going on in %%s\n' %[1]s "$PWD" >&2
\set --
`
	// baseText adds where the command begins.
	baseText = `{ \builtin pwd >>'FILE.base'; \builtin printf '\0' >>'FILE.base'; } 2>/dev/null
`
	// endText runs at the end, in a subshell whose changes are nobody's. In posix mode, into which an assignment leads, unset and set come before functions of these names.
	// The file appears at once or not at all as far as the parser is concerned: without its last mark it is none.
	endText = `( POSIXLY_CORRECT=$?; \unset -f builtin; __evertty_code=$POSIXLY_CORRECT
\set +xvefuT; \trap - EXIT DEBUG ERR RETURN; \set +o posix; \builtin umask 077; \builtin shopt -u nocasematch
{ \builtin printf '%s\0' "$__evertty_code"
\builtin pwd
\builtin printf '\0'
NAMES
\builtin printf 'MARKER\0'
} >|'FILE.end'
\builtin exit "$__evertty_code" ) 2>/dev/null`
)

// transient are the variables that every shell makes by itself, and that would mean nothing in the next one.
var transient = map[string]bool{"_": true, "SHLVL": true, "PWD": true, "OLDPWD": true, "POSIXLY_CORRECT": true,
	"SHELLOPTS": true, "BASHOPTS": true, "UID": true, "EUID": true, "PPID": true}

// Unwrap reads what Captured printed, and returns the state after the command, given the one before. It keeps nothing of its arguments. Errors: ErrNoState.
func Unwrap(before ShellState, marker string, text []byte) (Capture, error) {
	c, err := parseCapture(marker, text)
	if err != nil {
		return Capture{}, err
	}
	out := Capture{Began: c.began, Code: c.code, State: ShellState{Cwd: c.cwd, Env: map[string]string{}}}
	if out.State.Cwd == "" {
		out.State.Cwd = before.Cwd
	}
	for k, v := range c.after {
		base, had := c.base[k]
		if _, was := before.Env[k]; was || !had || base != v {
			out.State.Env[k] = v
		}
	}
	gone := slices.AppendSeq(slices.Clone(before.Unset), maps.Keys(c.base))
	slices.Sort(gone)
	for _, k := range slices.Compact(gone) {
		if _, has := c.after[k]; !has && !transient[k] {
			out.State.Unset = append(out.State.Unset, k)
		}
	}
	return out, nil
}

// capture is the parts of a capture's text.
type capture struct {
	base, after map[string]string
	began, cwd  string
	code        int
}

// maxCode is the largest exit code there is.
const maxCode = 255

// parseCapture takes a capture apart: MARKER, variables, an empty part, the first directory, the code, the last directory, variables, an empty part, MARKER; a NUL after each.
func parseCapture(marker string, text []byte) (c capture, err error) {
	bad := func(why string) (capture, error) { return capture{}, fmt.Errorf("%w: %s", ErrNoState, why) }
	p := parts{rest: text}
	if len(text) > maxCapture || p.next() != marker || marker == "" {
		return bad("no capture")
	}
	c.base = p.variables()
	c.began = strings.TrimSuffix(p.next(), "\n")
	if c.code, err = strconv.Atoi(p.next()); err != nil || c.code < 0 || c.code > maxCode {
		return bad("no exit code")
	}
	c.cwd = strings.TrimSuffix(p.next(), "\n")
	c.after = p.variables()
	if p.next() != marker || p.short || len(p.rest) > 0 {
		return bad("a capture without an end")
	}
	if c.cwd != "" && !path.IsAbs(c.cwd) {
		return bad("a directory that is not absolute")
	}
	return c, nil
}

// parts reads texts that end with a NUL.
type parts struct {
	rest  []byte
	short bool // there was none
}

func (p *parts) next() string {
	part, rest, ok := bytes.Cut(p.rest, []byte{0})
	p.rest, p.short = rest, p.short || !ok
	return string(part)
}

// variables reads up to an empty part, and leaves out what is no variable or only the shell's own.
func (p *parts) variables() map[string]string {
	list := map[string]string{}
	for entry := p.next(); entry != "" && !p.short; entry = p.next() {
		if k, v, ok := strings.Cut(entry, "="); ok && variableName.MatchString(k) && !transient[k] {
			list[k] = v
		}
	}
	return list
}

// ExecIn runs a command in a state by Wrap, Exec and Captured on an instance, and returns the state after it: the one before, with ErrNoState beside the result, when it left none.
// r.Cwd and r.Env are for this command: a Cwd is where it begins instead of s.Cwd, and Env is no part of the state unless the command changes it. When Exec fails or the time is over, the state is the one before and
// the error Exec's. The capture is removed from the instance also when ctx has ended, within fetchTimeout.
func ExecIn(ctx context.Context, p provider.Provider, id string, s ShellState, r provider.ExecRequest, stdout, stderr io.Writer) (provider.ExecResult, ShellState, error) {
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
	_, fetchErr := p.Exec(late, id, provider.ExecRequest{Command: Captured(marker)}, &found, io.Discard)
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
	return result, after.State.restored(s, r.Env), nil
}

// without is the state but for variables that one command is given.
func (s ShellState) without(env map[string]string) ShellState {
	own := func(k string) bool { _, is := env[k]; return is }
	s.Env, s.Unset = maps.Clone(s.Env), slices.DeleteFunc(slices.Clone(s.Unset), own)
	maps.DeleteFunc(s.Env, func(k, _ string) bool { return own(k) })
	return s
}

// restored is the state after a command that was given variables: those that it did not change are again what they were.
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
