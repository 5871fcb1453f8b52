package state

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Files of the state in a shell's directory.
const (
	captureFile  = "capture"   // the script of CaptureLine
	captureFound = "state.new" // its output, until Adopt
	StateFile    = "state"     // the newest whole one
	RestoreFile  = "restore"   // the script of a new bash
)

// captureMagic is the first section that the capture writes itself; the number changes with the
// order of sections.
const captureMagic = "evertty-capture-1"

// notCaptured is the content of captureFound before a capture: the file exists already, with mode
// 0600 whatever the user's umask is.
const notCaptured = "-"

// captureLast begins the values of lastWord, behind the limits. Captures of earlier releases lack
// it.
const captureLast = "evertty-last "

// lastWord is a redirection of the capture: BASH_XTRACEFD and $_ are to be read from descriptor 9.
const lastWord = ` 9<<<"${BASH_XTRACEFD-} ${_-}"`

// ownTrace is a redirection that gives the capture a BASH_XTRACEFD of its own: its trace (set -x)
// must not come into the user's file.
const ownTrace = " {BASH_XTRACEFD}>/dev/null"

// captureEnd is the last section: a capture without it is not complete.
const captureEnd = "end"

// maxState bounds the size of a capture, in bytes: a shell with thousands of long variables, which
// can be written and read between two commands.
const maxState = 64 << 20

// captureText is the script of the capture, with FILE for the quoted path of captureFound. It runs
// in a subshell, so it may change anything. It begins in posix mode, in which the special builtins
// (unset, trap, set, exec, exit) come before functions of these names, POSIX 2.9.1. Quoted first
// words are no aliases. Its output is sections with a NUL at the end. bash writes each newline by a
// call of its own, so the lines of the limits end with \v.
const captureText = `\typeset -f builtin >>FILE
\unset -f builtin
\builtin printf '\0%s\0' MAGIC >>FILE || \exit 1
\trap >>FILE
\trap '' XFSZ
\trap - DEBUG ERR RETURN EXIT
\set +xvefuTE
\exec >>FILE || \exit 1
\builtin printf '\0%s\0%s\0' "$POSIXLY_CORRECT" "${POSIXLY_CORRECT@a}" || \exit 1
\set +o posix
\builtin ulimit -S -f BLOCKS
\builtin umask && \builtin printf '\0' || \exit 1
\builtin pwd -P 2>/dev/null
\builtin printf '\0' || \exit 1
\builtin alias -p && \builtin printf '\0' || \exit 1
\builtin unalias -a
builtin shopt -p
builtin printf '\0' || exit 1
builtin shopt -u failglob nullglob extdebug
builtin set +o && builtin printf '\0' || exit 1
builtin declare -p || exit 1
builtin declare -p DIRSTACK
builtin printf '\0' || exit 1
builtin declare -F && builtin printf '\0' || exit 1
builtin mapfile -t __evertty || exit 1
builtin printf '%s\n' "${__evertty[@]}" && builtin printf '\0' || exit 1
builtin mapfile -t __evertty </proc/$$/limits
builtin printf '%s\v' "${__evertty[@]}" || exit 1
builtin mapfile -d '' __evertty <&9 && builtin printf 'LAST%s' "${__evertty[0]}"
builtin printf '\0' || exit 1
for __evertty_at in /proc/$$/fdinfo/[3-9] /proc/$$/fdinfo/[1-9][0-9]*; do
	builtin mapfile -t __evertty <"$__evertty_at" && (( ! (${__evertty[1]##*[!0-7]} & 02000000) )) &&
		builtin printf '%s\n' "${__evertty_at##*/}"
done 2>/dev/null
builtin enable -n
builtin complete -p
builtin printf '%s\0%s\0' "$__evertty_disabled" "$#" || exit 1
(( $# == 0 )) || builtin printf '%s\0' "$@" || exit 1
builtin mapfile -d '' -t -s SKIP -n 1 __evertty <FILE || exit 1
if [[ ${__evertty[0]} ]]; then
	builtin mapfile -t __evertty <<<"${__evertty[0]%?}" || exit 1
	for __evertty_at in "${__evertty[@]}"; do
		builtin declare -f -- "${__evertty_at##* }"
		builtin printf '\0' || exit 1
	done
fi
builtin printf '%s\0' END || exit 1
`

// The sections of a capture, in order. The positional parameters follow, one each, then the
// functions, then captureEnd.
const (
	// trap -p ERR, for the file resets that trap, and a function named builtin, which would replace
	// all other builtins
	sectionBuiltin   = iota
	sectionMagic     // captureMagic
	sectionTraps     // trap
	sectionOptions   // SHELLOPTS/BASHOPTS/=POSIXLY_CORRECT, the last one only when it is set
	sectionPosix     // the attributes of POSIXLY_CORRECT
	sectionUmask     // umask
	sectionCwd       // pwd -P
	sectionAliases   // alias -p
	sectionShopts    // shopt -p: the names
	sectionSets      // set +o: the names
	sectionVariables // declare -p
	sectionFunctions // declare -F: names and attributes
	sectionJobs      // jobs -l
	sectionLimits    // /proc/PID/limits, and the values of lastWord
	sectionFiles     // numbers of open descriptors that children inherit, and enable -n
	sectionCount     // how many positional parameters follow
	sectionsFixed
)

// WriteScript writes the script of CaptureLine into the directory of a shell. Repeating it does no
// harm.
func WriteScript(dir string) error {
	path := filepath.Join(dir, captureFile)
	text := strings.NewReplacer(
		"FILE", QuoteASCII(filepath.Join(dir, captureFound)),
		"MAGIC", captureMagic,
		"SKIP", fmt.Sprint(sectionFunctions),
		"END", captureEnd,
		"LAST", captureLast,
		"BLOCKS", fmt.Sprint(maxState>>10),
	).Replace(captureText)
	err := shelldir.WriteFile(path, []byte(text))
	if err == nil {
		err = shelldir.Touch(filepath.Join(dir, shelldir.JobsFile))
	}
	if err != nil {
		return fmt.Errorf("shell: capture: %w", err)
	}
	return nil
}

// CaptureLine is the control line, with its newline, that captures the shell's state into
// DIR/state.new. It forks one subshell (and one more when there was a job) and waits for it, so the
// user's shell keeps every variable, option, trap and job; $? is 0 after it. It prints nothing. No
// trap fires but CHLD (one process has ended), and DEBUG in the subshell under set -T. The next
// line shows its end, as for any line, and so does IN_CLOSE_WRITE on state.new.
//
// The parts: || hides the status from set -e and ERR, and no reserved word is used, which could be
// an alias; assigning POSIXLY_CORRECT is the one way into posix mode that no function can replace,
// and it changes no other option.
func CaptureLine(dir string) string { return captureWith(dir, "", lastWord+ownTrace) }

// CaptureLineEnabling is CaptureLine for a shell in which enable -n has disabled builtins that the
// capture needs: it enables them in its subshell. It has no ownTrace, which a readonly
// BASH_XTRACEFD refuses; traceFD is its value.
func CaptureLineEnabling(dir string, traceFD int) string {
	quiet := lastWord
	if traceFD > 2 {
		quiet += fmt.Sprintf(" %d>/dev/null", traceFD)
	}
	return captureWith(dir, `\unset -f enable; __evertty_disabled=$(\enable -n); \enable `+strings.Join(captureNeeds,
		" ")+"; ", quiet)
}

// JobsWord is a part of a word that expands to nothing and writes the output of jobs -l for the
// capture, when there was a job: jobs exist in the shell itself and in $( ), but not in the ( ) of
// the capture.
func JobsWord(dir string) string {
	return `"${!:+$( { \jobs -l; } {BASH_XTRACEFD}>/dev/null 2>/dev/null >|` +
		QuoteASCII(filepath.Join(dir, shelldir.JobsFile)) + `)}"`
}

// captureNeeds are the builtins of captureText.
var captureNeeds = []string{".", "alias", "builtin", "declare", "enable", "exec", "exit", "mapfile", "printf", "pwd",
	"set", "shopt", "trap", "typeset", "umask", "unalias", "unset"}

// captureWith is CaptureLine with something to run in the subshell before the capture, and
// redirections for it.
func captureWith(dir, before, redirections string) string {
	return `( POSIXLY_CORRECT=$SHELLOPTS/$BASHOPTS/${POSIXLY_CORRECT+=$POSIXLY_CORRECT}; ` + before +
		`\trap -p ERR >|` + QuoteASCII(filepath.Join(dir, captureFound)) + `; \. ` +
		QuoteASCII(filepath.Join(dir, captureFile)) + ` ) <` + QuoteASCII(filepath.Join(dir, shelldir.JobsFile)) +
		` >/dev/null 2>&1` + redirections + ` || ( <&0 )` + "\n"
}

// Prepare makes the file for the next capture.
func Prepare(dir string) {
	_ = shelldir.Rewrite(filepath.Join(dir, captureFound), notCaptured)
}

// NotRead reports whether bash has run a capture without reading its script. A capture that did not
// run at all may have been skipped by the user's DEBUG trap.
func NotRead(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, captureFound))
	return err == nil && string(text) != notCaptured && !bytes.Contains(text, []byte(captureMagic))
}

// Adopt makes a complete DIR/state.new the state of the shell and returns it. It leaves an
// incomplete one, which the next capture replaces, and keeps the older state. No capture may be
// running. Errors: ErrDamaged, fs.ErrNotExist when no capture has run since.
func Adopt(dir string) (*Snapshot, error) {
	found := filepath.Join(dir, captureFound)
	_ = os.Chmod(found, 0o600) // of an earlier server
	i, err := readImage(found)
	if err == nil {
		err = replace(found, filepath.Join(dir, StateFile))
	}
	if err != nil {
		return nil, fmt.Errorf("shell: captured state: %w", err)
	}
	return i, nil
}

// replace makes a new capture the state, and keeps the file of the old one for the next capture. It
// takes the content of the old one first: in between the new one is the only one, and Load finds it.
func replace(found, state string) error {
	err := os.Truncate(state, int64(len(notCaptured)))
	if err == nil {
		err = shelldir.Exchange(found, state)
	}
	if err == nil {
		return nil
	}
	// There is none yet, or the file system cannot exchange files. Replacing by rename would make
	// some file systems write at once.
	_ = os.Remove(state)
	return os.Rename(found, state)
}

// Load is Adopt, else the state of the last whole capture. Errors: ErrDamaged, fs.ErrNotExist when
// there was none.
func Load(dir string) (*Snapshot, error) {
	if i, err := Adopt(dir); err == nil {
		return i, nil
	}
	i, err := readImage(Path(dir))
	if err != nil {
		return nil, fmt.Errorf("shell: state: %w", err)
	}
	return i, nil
}

// errSyntax is of an invalid definition.
var errSyntax = errors.New("not a definition")

// Path is the path of the newest complete capture.
func Path(dir string) string { return filepath.Join(dir, StateFile) }
