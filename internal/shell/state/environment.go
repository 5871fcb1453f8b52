package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Environment is what of a shell outlives its process, besides functions, aliases, arrays and options.
type Environment struct {
	Cwd string
	Env map[string]string // everything exported but PWD, OLDPWD, SHLVL and _
	// Delta is what was changed or added against the environment at the first start, Unset what was removed.
	Delta map[string]string
	Unset []string
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

// environmentJSON is the form of the state on disk.
type environmentJSON struct {
	Cwd   shelldir.Text      `json:"cwd"`
	Env   [][2]shelldir.Text `json:"env_delta"`
	Unset []shelldir.Text    `json:"env_unset"`
}

// LoadEnvironment reads the state of a shell elsewhere: Cwd ("" is where the compute begins), Delta and Unset. Without
// the file it is empty. Errors: ErrDamaged.
func LoadEnvironment(file string) (Environment, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Environment{Delta: map[string]string{}}, nil
	}
	var j environmentJSON
	if err == nil {
		err = json.Unmarshal(b, &j)
	}
	if err != nil {
		return Environment{Delta: map[string]string{}}, fmt.Errorf("shell: %w: %q: %w", shelldir.ErrDamaged, file, err)
	}
	s := Environment{Cwd: string(j.Cwd), Delta: shelldir.PairsMap(j.Env), Unset: shelldir.Strings(j.Unset)}
	if s.Delta == nil {
		s.Delta = map[string]string{}
	}
	return s, nil
}

// SaveEnvironment writes the state, so that the file has either the old one or the new one.
func SaveEnvironment(file string, s Environment) error {
	b, err := json.Marshal(environmentJSON{shelldir.Text(s.Cwd), shelldir.Pairs(s.Delta), shelldir.Texts(s.Unset)})
	if err != nil {
		return fmt.Errorf("shell: state: %w", err)
	}
	return shelldir.WriteFile(file, b)
}
