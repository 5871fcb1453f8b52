package history

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/confine"
)

// Spec describes a shell to start. Its tags name the keys of shell.json.
type Spec struct {
	// ID is ^[A-Za-z0-9._-]{1,64}$, unique in a server. What the keeper holds for the shell has ids
	// that begin with Prefix+ID+".".
	ID    string            `json:"id"`
	Name  string            `json:"name,omitempty"` // in Info; "" is ID. Shells of different sessions may have the same
	Dir   string            `json:"-"`              // an existing directory with all of the shell's files, 0700
	Cwd   string            `json:"cwd,omitempty"`  // absolute; "" is the home directory
	Env   map[string]string `json:"env,omitempty"`
	Login bool              `json:"login,omitzero"` // read the profile files
	// Provider has the commands run remotely, by Config.Remote, which knows the name; "" is this
	// machine. Cwd ("" is the instance's first directory) and Env are remote then.
	Provider string `json:"place,omitempty"`
	// Sandbox is where all processes of the shell run, with the shell's directory to keep; nil is none. Recover takes
	// that of the caller: the shell itself can change its files.
	Sandbox   *confine.Sandbox `json:"sandbox,omitempty"`
	Timeout   time.Duration    `json:"timeout_ns,omitzero"` // of commands that give none; 0 is none
	MaxReply  int64            `json:"max_reply,omitzero"`  // of commands that give none; 0 is no bound
	MaxOutput int64            `json:"max_output,omitzero"` // of commands that give none; 0 is DefaultMaxOutput
}

// Check checks a Spec and makes its directory absolute. Errors: ErrInvalid, ErrBadEnv.
func (s *Spec) Check() error {
	if s.ID == "" || len(s.ID) > 64 || strings.Trim(s.ID, idCharacters) != "" || !filepath.IsAbs(s.Dir) ||
		s.Timeout < 0 || s.MaxOutput < 0 || s.MaxReply < 0 {
		return fmt.Errorf("%w: id %.80q, directory %.80q, timeout %v, output %d", ErrInvalid, s.ID, s.Dir, s.Timeout,
			s.MaxOutput)
	}
	if s.Cwd == "" && s.Provider == "" {
		s.Cwd = HomeDir(s.Env)
	}
	if s.Cwd != "" && !filepath.IsAbs(s.Cwd) || strings.ContainsRune(s.Cwd, 0) {
		return fmt.Errorf("%w: directory %.80q is not absolute", ErrInvalid, s.Cwd)
	}
	return CheckEnv(s.Env)
}

// DisplayName is what Info calls the shell.
func (s *Spec) DisplayName() string { return cmp.Or(s.Name, s.ID) }

// HomeDir is the home directory of the environment that a shell gets.
func HomeDir(env map[string]string) string {
	if dir := env["HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	if dir, err := os.UserHomeDir(); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	return "/"
}

// DefaultMaxOutput bounds the log of each output by default, in bytes: more than two of the largest
// outputs people make on purpose (100 MB).
const DefaultMaxOutput = 256 << 20

// FirstEnvironment is the environment of a plan with the given variables, which win.
func FirstEnvironment(plan []string, given map[string]string) ([]string, error) {
	if err := CheckEnv(given); err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, pair := range plan {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	maps.Copy(env, given)
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list, nil
}
