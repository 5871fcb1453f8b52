// Package catalog makes providers of their settings: it knows every type.
package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What to do with an instance when the server ends; Settings.OnExit.
const (
	OnExitPause   = "pause"
	OnExitDestroy = "destroy"
)

// maxSettings bounds a provider's file, in bytes.
const maxSettings = 1 << 20

// Settings is the file of one provider: {"provider":"e2b", "on_exit":"pause", "init_commands":[…],
// "e2b":{…}}. The section has the provider's name and the keys of its Config.
type Settings struct {
	Provider     string
	OnExit       string   // OnExitPause, which is the default, or OnExitDestroy
	InitCommands []string // run once in every new instance

	section json.RawMessage
	lookup  lookupFunc
}

// getenv finds a variable of the environment: the process's unless ParseSettings was given another.
func (s Settings) getenv(name string) (string, bool) {
	if s.lookup != nil {
		return s.lookup(name)
	}
	return os.LookupEnv(name)
}

// ReadSettings reads a provider's file. In its texts ${NAME} is replaced by a variable of the
// environment, which must be set; $$ is one dollar. An unknown key is an error that names it.
func ReadSettings(path string) (Settings, error) {
	var data []byte
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, maxSettings+1))
	}
	if err != nil {
		return Settings{}, fmt.Errorf("provider: %w", err)
	}
	if len(data) > maxSettings {
		return Settings{}, fmt.Errorf("provider: %s: more than %d bytes", path, maxSettings)
	}
	s, err := ParseSettings(data, os.LookupEnv)
	if err != nil {
		return Settings{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ParseSettings is ReadSettings of a text, with an environment of the caller's.
func ParseSettings(data []byte, lookup lookupFunc) (Settings, error) {
	var all map[string]json.RawMessage
	if err := strict(data, &all); err != nil {
		return Settings{}, fmt.Errorf("provider: the file is no JSON object: %w", err)
	}
	for k, v := range all {
		changed, err := substitute(k, v, lookup)
		if err != nil {
			return Settings{}, err
		}
		all[k] = changed
	}
	s := Settings{OnExit: OnExitPause, lookup: lookup}
	for k, to := range map[string]any{"provider": &s.Provider, "on_exit": &s.OnExit, "init_commands": &s.InitCommands} {
		if v, ok := all[k]; ok {
			if err := json.Unmarshal(v, to); err != nil {
				return Settings{}, fmt.Errorf("provider: %s: %w", k, wrongType(err))
			}
		}
		delete(all, k)
	}
	if _, ok := types[s.Provider]; !ok {
		return Settings{}, fmt.Errorf("provider: %q is no provider; there are %s", s.Provider,
			strings.Join(Types(), ", "))
	}
	if s.OnExit != OnExitPause && s.OnExit != OnExitDestroy {
		return Settings{}, fmt.Errorf("provider: on_exit is %q, but may be %s or %s", s.OnExit, OnExitPause,
			OnExitDestroy)
	}
	s.section = all[s.Provider]
	delete(all, s.Provider)
	if len(all) > 0 {
		return Settings{}, fmt.Errorf("provider: nobody knows the key %q of this file; "+
			"there are provider, on_exit, init_commands and %s", slices.Sorted(maps.Keys(all))[0], s.Provider)
	}
	return s, nil
}

// strict reads one JSON value without unknown keys and without anything after it.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fmt.Errorf("nobody knows the key %s", key)
		}
		return wrongType(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the end")
	}
	return nil
}

// wrongType is an error of the JSON package without names of Go's types and without values, which
// may be keys.
func wrongType(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Errorf("%s: a %s is not what belongs there", cmp.Or(t.Field, "the value"),
			strings.Fields(t.Value)[0])
	}
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("no JSON at byte %d", s.Offset)
	}
	return errors.New("no JSON")
}

// variable is one ${NAME} or $$ of a text.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\$|\$\{([^}]*)\}`) })

// substitute replaces the variables in all texts of a value.
func substitute(where string, raw json.RawMessage, lookup lookupFunc) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("provider: %s: %w", where, wrongType(err))
	}
	r := replacer{lookup: lookup}
	v = r.replace(where, v)
	if r.err != nil {
		return nil, r.err
	}
	return json.Marshal(v)
}

// replacer replaces variables in the texts of a value.
type replacer struct {
	lookup lookupFunc
	err    error // the first variable that is not set
}

func (r *replacer) replace(where string, v any) any {
	switch v := v.(type) {
	case string:
		return variable().ReplaceAllStringFunc(v, func(m string) string {
			if m == "$$" {
				return "$"
			}
			value, ok := r.lookup(m[2 : len(m)-1])
			if !ok && r.err == nil {
				r.err = fmt.Errorf("provider: %s: %s is not set in the environment", where, m)
			}
			return value
		})
	case []any:
		for i := range v {
			v[i] = r.replace(fmt.Sprintf("%s[%d]", where, i), v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = r.replace(where+"."+k, v[k])
		}
	}
	return v
}
