//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evertty/evertty/internal/provider/catalog"
	"github.com/evertty/evertty/internal/strictmodes"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
)

// keyVariables are the variables that are enough to have a provider without a file.
var keyVariables = map[string]string{"e2b": "E2B_API_KEY", "daytona": "DAYTONA_API_KEY", "agentbay": "AGENTBAY_API_KEY"}

// remoteProviders are the providers of a server by name, from the files in dir, which must exist when somebody
// named it, and those that the environment has a key of.
func remoteProviders(dir string, named bool) (map[string]service.RemoteProvider, error) {
	files, err := os.ReadDir(dir)
	if err != nil && (named || !errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("providers: %w", err)
	}
	all := map[string]service.RemoteProvider{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if err := strictmodes.Check(path); err != nil {
			return nil, fmt.Errorf("providers: %w", err)
		}
		s, err := catalog.ReadSettings(path)
		if err != nil {
			return nil, err
		}
		if err := addProvider(all, s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for name, variable := range keyVariables {
		if _, ok := all[name]; ok || os.Getenv(variable) == "" {
			continue
		}
		if err := addProvider(all, catalog.Settings{Provider: name, OnExit: catalog.OnExitPause}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// providerSetup says for each type of provider how a server gets one.
func providerSetup() map[string]string {
	how := map[string]string{}
	for _, name := range catalog.Types() {
		how[name] = "put " + name + ".json into the directory of --providers and start the server again"
		if variable := keyVariables[name]; variable != "" {
			how[name] = "set " + variable + ", or " + how[name]
		}
	}
	return how
}

func addProvider(all map[string]service.RemoteProvider, s catalog.Settings) error {
	if _, twice := all[s.Provider]; twice || s.Provider == thread.Local {
		return fmt.Errorf("provider: %s is there already", s.Provider)
	}
	p, err := s.Open()
	if err != nil {
		return err
	}
	packed, err := s.Pack()
	if err != nil {
		return err
	}
	all[s.Provider] = service.RemoteProvider{Provider: p, Settings: packed}
	return nil
}
