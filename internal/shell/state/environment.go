package state

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Environment is the directory and the variables of a shell. Its tags name the keys in the file of
// a remote shell.
type Environment struct {
	Cwd string            `json:"cwd"`
	Env map[string]string `json:"-"` // exported, without PWD, OLDPWD, SHLVL and _
	// Delta has the variables that were changed or added since the first start, Unset the removed
	// ones, ascending.
	Delta map[string]string `json:"env_delta"`
	Unset []string          `json:"env_unset"`
}

// With is the state with other variables.
func (s Environment) With(set map[string]string, unset []string) Environment {
	delta, gone := maps.Clone(s.Delta), slices.Clone(s.Unset)
	for _, name := range unset {
		delete(delta, name)
		gone = append(gone, name)
	}
	maps.Copy(delta, set)
	gone = slices.DeleteFunc(gone, func(name string) bool { _, is := set[name]; return is })
	slices.Sort(gone)
	return Environment{Cwd: s.Cwd, Delta: delta, Unset: slices.Compact(gone)}
}

// LoadEnvironment reads the state of a remote shell: Cwd ("" is the instance's first directory),
// Delta and Unset. Without the file it is empty. Errors: ErrDamaged.
func LoadEnvironment(file string) (Environment, error) {
	s := Environment{}
	b, err := os.ReadFile(file)
	if err == nil {
		err = shelldir.Unmarshal(b, &s)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		s, err = Environment{}, fmt.Errorf("shell: %w: %q: %w", shelldir.ErrDamaged, file, err)
	}
	if s.Delta == nil {
		s.Delta = map[string]string{}
	}
	return s, err
}

// SaveEnvironment writes the state, so that the file has either the old one or the new one.
func SaveEnvironment(file string, s Environment) error {
	s.Unset = append([]string(nil), s.Unset...) // null when there are none
	b, err := shelldir.Marshal(s)
	if err != nil {
		return fmt.Errorf("shell: state: %w", err)
	}
	return shelldir.WriteFile(file, b)
}
