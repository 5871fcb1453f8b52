package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/agentbay"
	"github.com/evertty/evertty/internal/provider/daytona"
	"github.com/evertty/evertty/internal/provider/docker"
	"github.com/evertty/evertty/internal/provider/e2b"
	"github.com/evertty/evertty/internal/provider/ssh"
)

// types makes a provider of its section of a file, which may be absent, and the environment. A new
// type adds a line.
var types = map[string]func(json.RawMessage, lookupFunc) (provider.Provider, error){
	"agentbay": open(agentbay.New, "AGENTBAY_"),
	"daytona":  open(daytona.New, "DAYTONA_"),
	"docker":   open(docker.New, "DOCKER_"),
	"e2b":      open(e2b.New, "E2B_"),
	"ssh":      open(ssh.New, "EVERTTY_SSH_"),
}

// lookupFunc finds a variable of the environment.
type lookupFunc = func(name string) (value string, ok bool)

// Types lists the names of all types.
func Types() []string { return slices.Sorted(maps.Keys(types)) }

// Open makes the provider. What the file does not say is taken from the environment. Its Create
// runs the init commands.
func (s Settings) Open() (provider.Provider, error) {
	construct, ok := types[s.Provider]
	if !ok {
		return nil, fmt.Errorf("provider: %q is no provider", s.Provider)
	}
	p, err := construct(s.section, s.getenv)
	if err != nil || len(s.InitCommands) == 0 {
		return p, err
	}
	return initialized{p, s.InitCommands}, nil
}

// open makes a provider whose Config has JSON tags: a key that the section lacks is the variable
// prefix + KEY, if that is set.
func open[C any, P provider.Provider](construct func(C) (P, error), prefix string,
) func(json.RawMessage, lookupFunc) (provider.Provider, error) {
	return func(section json.RawMessage, lookup lookupFunc) (provider.Provider, error) {
		var c C
		if len(section) > 0 {
			if err := strict(section, &c); err != nil {
				return nil, fmt.Errorf("provider: %w; there are %s", err,
					strings.Join(keysOf(reflect.TypeFor[C]()), ", "))
			}
		}
		fromEnv(reflect.ValueOf(&c).Elem(), prefix, lookup)
		p, err := construct(c)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// fromEnv sets the texts of a Config that are empty.
func fromEnv(c reflect.Value, prefix string, lookup lookupFunc) {
	for i := range c.NumField() {
		f := c.Field(i)
		if f.Kind() == reflect.String && f.String() == "" {
			if v, ok := lookup(prefix + strings.ToUpper(c.Type().Field(i).Tag.Get("json"))); ok {
				f.SetString(v)
			}
		}
	}
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		keys = append(keys, t.Field(i).Tag.Get("json"))
	}
	return keys
}
