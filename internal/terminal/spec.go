package terminal

import (
	"cmp"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Spec is what a terminal was created from. It is complete: defaults are set, and Cwd is absolute,
// "" only at a provider. Env has secrets. The record on disk has it as JSON.
type Spec struct {
	Session string `json:"session"`
	wire.CreateTerminal
	Provider string           `json:"place,omitempty"` // where it runs, "" is this machine
	Title    string           `json:"title,omitempty"` // shown in place of the program's
	Rules    *confine.Sandbox `json:"rules,omitempty"` // of Sandbox, see NewSandbox
	Exec     string           `json:"exec,omitempty"`  // the shell's command that it was made for, see CreateFor
}

// Defaults of a terminal.
const (
	DefaultCols = 80
	DefaultRows = 24
)

// DefaultCmd is the command of a terminal that is created without one.
func DefaultCmd() []string { return []string{"bash", "-l"} }

const (
	maxArgs = 4096      // words of a command: far more than a person types
	maxArg  = 128 << 10 // bytes of a word: the limit of Linux (MAX_ARG_STRLEN)
)

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) })

// newNameStart is how a new name begins: one with '-' would be read as an option of a command, one with '.' is hidden.
var newNameStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]`) })

// CheckNewName is CheckName for a name that is given now, which begins with a letter or a digit. What has another name
// already keeps it. Errors: ErrInvalid.
func CheckNewName(what, s string) error {
	if err := CheckName(what, s); err != nil || newNameStart().MatchString(s) {
		return err
	}
	return fmt.Errorf("%w: %s %.80q begins with %q: a letter or a digit is allowed there", ErrInvalid, what, s, s[:1])
}

// CheckName reports whether s can name a session or a terminal. Errors: ErrInvalid.
func CheckName(what, s string) error {
	if !nameForm().MatchString(s) || s == "." || s == ".." {
		return fmt.Errorf("%w: %s %.80q: 1 to 64 letters, digits, '.', '_' or '-' are allowed", ErrInvalid, what, s)
	}
	return nil
}

// CheckSession is CheckName for a session as it is called inside the server: an owner may be before the name. Errors:
// ErrInvalid.
func CheckSession(s string) error {
	user, name := owner.Split(s)
	if user != "" && owner.CheckUser(user) == nil {
		s = name
	}
	return CheckName("session", s)
}

// CheckSize reports whether a screen can have that size. Errors: ErrInvalid.
func CheckSize(cols, rows int) error {
	for _, v := range []struct {
		name string
		n    int
	}{{"cols", cols}, {"rows", rows}} {
		if v.n < vt.MinSize || v.n > vt.MaxSize {
			return &Invalid{v.name, fmt.Errorf("%w: %s %d: %d to %d are allowed", ErrInvalid, v.name, v.n, vt.MinSize,
				vt.MaxSize)}
		}
	}
	return nil
}

// SizeOf is the size of a terminal to create: columns or rows that are not given have their defaults.
func SizeOf(c wire.CreateTerminal) (cols, rows int) {
	return *cmp.Or(c.Cols, new(DefaultCols)), *cmp.Or(c.Rows, new(DefaultRows))
}

// complete sets the defaults and checks every field. Errors: ErrInvalid. Whether command and
// directory exist is checked at the start.
func (s *Spec) complete() error {
	if s.Cmd == nil {
		s.Cmd = DefaultCmd()
	}
	cols, rows := SizeOf(s.CreateTerminal)
	s.Cols, s.Rows = &cols, &rows
	s.Scrollback = cmp.Or(s.Scrollback, new(vt.DefaultScrollback))
	s.Sandbox = cmp.Or(s.Sandbox, wire.SandboxNone)
	err := cmp.Or(s.setPolicy(s.SizePolicy), checkNameField(s.Name), checkLabels(s.Labels),
		checkRestore(s.Restore))
	if n := *s.Scrollback; n < 0 || n > vt.MaxScrollback {
		err = errors.Join(err, fmt.Errorf("%w: scrollback %d: 0 to %d are allowed", ErrInvalid, n, vt.MaxScrollback))
	}
	return errors.Join(err, CheckSession(s.Session), CheckSize(cols, rows), s.checkCmd())
}

func (s *Spec) checkCmd() error {
	if len(s.Cmd) == 0 || s.Cmd[0] == "" {
		return fmt.Errorf("%w: cmd is empty: leave it out for %q or name a program", ErrInvalid, DefaultCmd())
	}
	if err := checkWords(s.Cmd); err != nil {
		return err
	}
	if strings.ContainsRune(s.Cwd, 0) {
		return fmt.Errorf("%w: cwd has a NUL byte", ErrInvalid)
	}
	return nil
}

// checkWords checks the words of a command. Errors: ErrInvalid.
func checkWords(cmd []string) error {
	if len(cmd) > maxArgs {
		return fmt.Errorf("%w: cmd has %d words: at most %d are allowed", ErrInvalid, len(cmd), maxArgs)
	}
	bad := func(w string) bool { return len(w) > maxArg || strings.ContainsRune(w, 0) }
	if i := slices.IndexFunc(cmd, bad); i >= 0 {
		return fmt.Errorf("%w: cmd word %d has a NUL byte or more than %d bytes", ErrInvalid, i, maxArg)
	}
	return nil
}

// idBytes is the randomness of an id, in bytes: 20 characters that cannot be guessed.
const idBytes = 12

var idCode = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID returns a random id.
func NewID() string {
	var b [idBytes]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return idCode.EncodeToString(b[:])
}

// Absolute returns dir if it is an absolute path, else "".
func Absolute(dir string) string {
	if strings.HasPrefix(dir, "/") {
		return dir
	}
	return ""
}
