package history

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec is what a shell is made of.
type Spec struct {
	// ^[A-Za-z0-9._-]{1,64}$; unique in a server. What the keeper holds for the shell has ids that begin with
	// Prefix+ID+"."
	ID        string
	Name      string // what Info calls the shell; "" is ID. Shells of different sessions may have the same
	Dir       string // an existing directory of the shell's own, 0700; all its files are in there
	Cwd       string // absolute; "" is the home directory
	Env       map[string]string
	Login     bool          // read the profile files
	Timeout   time.Duration // of commands that give none; 0 is none
	MaxOutput int64         // of commands that give none; 0 is DefaultMaxOutput
	MaxReply  int64         // of commands that give none; 0 is no bound
	// Provider has the commands run elsewhere, by Config.Remote, to which the name means something; "" is here. Cwd (""
	// is where the compute begins) and Env are of there then.
	Provider string
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
func (s *Spec) DisplayName() string {
	if s.Name != "" {
		return s.Name
	}
	return s.ID
}

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

// DefaultMaxOutput is what a log keeps of each output when nobody says, in bytes: more than two of the largest
// outputs people make on purpose (100 MB).
const DefaultMaxOutput = 256 << 20

// FirstEnvironment is that of a plan with what is given, which wins.
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
