package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// State is what of a shell outlives its process, besides functions, aliases, arrays and options.
type State struct {
	Cwd string
	Env map[string]string // everything exported but PWD, OLDPWD, SHLVL and _
	// Delta is what was changed or added against the environment at the first start, Unset what was removed.
	Delta map[string]string
	Unset []string
}

// with is the state with other variables.
func (s State) with(set map[string]string, unset []string) State {
	delta, gone := maps.Clone(s.Delta), slices.Clone(s.Unset)
	for _, name := range unset {
		delete(delta, name)
		gone = append(gone, name)
	}
	maps.Copy(delta, set)
	gone = slices.DeleteFunc(gone, func(name string) bool { _, is := set[name]; return is })
	slices.Sort(gone)
	return State{Cwd: s.Cwd, Delta: delta, Unset: slices.Compact(gone)}
}

// remoteJSON is the form of the state on disk.
type remoteJSON struct {
	Cwd   exact      `json:"cwd"`
	Env   [][2]exact `json:"env_delta"`
	Unset []exact    `json:"env_unset"`
}

// LoadRemote reads the state of a shell elsewhere: Cwd ("" is where the compute begins), Delta and Unset. Without the file it is empty. Errors: ErrDamaged.
func LoadRemote(file string) (State, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Delta: map[string]string{}}, nil
	}
	var j remoteJSON
	if err == nil {
		err = json.Unmarshal(b, &j)
	}
	if err != nil {
		return State{Delta: map[string]string{}}, fmt.Errorf("shell: %w: %q: %w", ErrDamaged, file, err)
	}
	s := State{Cwd: string(j.Cwd), Delta: environOf(j.Env), Unset: texts(j.Unset)}
	if s.Delta == nil {
		s.Delta = map[string]string{}
	}
	return s, nil
}

// SaveRemote writes the state, so that the file has either the old one or the new one.
func SaveRemote(file string, s State) error {
	b, err := json.Marshal(remoteJSON{exact(s.Cwd), environ(s.Delta), exacts(s.Unset)})
	if err != nil {
		return fmt.Errorf("shell: state: %w", err)
	}
	return writeBeside(file, b)
}
