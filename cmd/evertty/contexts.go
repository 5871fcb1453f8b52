package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/evertty/evertty/internal/strictmodes"
)

const (
	// envContext names the context of verbs that say none.
	envContext = "EVERTTY_CONTEXT"
	// envSocket is set in terminals of a server; see pty.EnvSocket.
	envSocket = "EVERTTY_SOCKET"
	// localContext is the server of the data directory. No context has this name.
	localContext = "local"
	// maxContext bounds the file of a context, in bytes: an address and a token.
	maxContext = 16 << 10
	// contextSuffix ends the name of a context's file.
	contextSuffix = ".toml"
)

var contextName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
})

// errNoContext is the error of a name without a context.
var errNoContext = errors.New("there is no such context")

// serverContext is a server that `login` has kept: what the file of a context has.
type serverContext struct {
	URL   string `toml:"url"`
	Token string `toml:"token"`
}

// contexts are the servers that `login` has kept: a directory of this user alone with a file for each, and a file with
// the name of the current one. Each file is whole or absent, so calls beside each other need no lock.
type contexts struct{ dir string }

// openContexts is the contexts of this user, in the directory of settings (os.UserConfigDir, else ~/.config).
func openContexts() (contexts, error) {
	config, err := os.UserConfigDir()
	if home := homeDir(); err != nil && home != "" {
		config, err = filepath.Join(home, ".config"), nil
	}
	if err != nil {
		return contexts{}, usage(fmt.Errorf("contexts: %w", err))
	}
	return contexts{filepath.Join(config, "evertty", "contexts")}, nil
}

func (c contexts) file(name string) string { return filepath.Join(c.dir, name+contextSuffix) }

// currentFile is beside the contexts: none of them can have its name.
func (c contexts) currentFile() string { return filepath.Join(c.dir, "current") }

// list is the names of all contexts, sorted.
func (c contexts) list() (names []string, err error) {
	all, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range all {
		if name, ok := strings.CutSuffix(e.Name(), contextSuffix); ok && contextName().MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// load reads a context. Errors are wrong usage: errNoContext with the names that there are, and a file that others
// may read or change.
func (c contexts) load(name string) (serverContext, error) {
	var s serverContext
	b, err := readChecked(c.file(name), maxContext, strictmodes.CheckSecret)
	switch {
	case !contextName().MatchString(name) || errors.Is(err, fs.ErrNotExist):
		known, err := c.list()
		if err != nil {
			return s, err
		}
		return s, usage(fmt.Errorf("context %.80q: %w; there are: %s (evertty login URL makes one)", name, errNoContext,
			strings.Join(append(known, localContext), ", ")))
	case err == nil && len(b) > maxContext:
		err = fmt.Errorf("%s is larger than %d bytes", c.file(name), maxContext)
	case err == nil:
		if err = toml.Unmarshal(b, &s); err != nil {
			err = wrongTOML(c.file(name), err)
		}
	}
	if err != nil {
		return s, usage(fmt.Errorf("context %s: %w", name, err))
	}
	return s, nil
}

// current is the name of the current context, "" for none.
func (c contexts) current() (string, error) {
	b, err := readUpTo(c.currentFile(), maxContext)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// save keeps a context, in the place of the one that has the name.
func (c contexts) save(name string, s serverContext) error {
	b, err := toml.Marshal(s)
	if err != nil {
		return err
	}
	return c.write(c.file(name), b)
}

// use makes a context the current one; localContext is none.
func (c contexts) use(name string) error {
	if name == localContext {
		if err := os.Remove(c.currentFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if _, err := c.load(name); err != nil {
		return err
	}
	return c.write(c.currentFile(), []byte(name+"\n"))
}

// remove forgets a context and its token.
func (c contexts) remove(name string) error {
	if _, err := c.load(name); errors.Is(err, errNoContext) {
		return err
	}
	if now, err := c.current(); err == nil && now == name {
		if err := c.use(localContext); err != nil {
			return err
		}
	}
	return os.Remove(c.file(name))
}

// write replaces a file by one that nobody else may read.
func (c contexts) write(file string, b []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "new-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// chosenContext is the server of a context that is named by --context or $EVERTTY_CONTEXT, or is the current one where
// neither a data directory is named nor this process runs in a terminal of a server. ok is false for none.
func (a *app) chosenContext() (s chosen, ok bool, err error) {
	name := a.context
	if name == "" && a.server == "" && os.Getenv(envServer) == "" {
		name = os.Getenv(envContext)
	}
	if name == localContext || name == "" && (a.server != "" || os.Getenv(envServer) != "") {
		return chosen{}, false, nil
	}
	all, err := openContexts()
	if name == "" {
		if err != nil || a.namedDir() != "" || os.Getenv(envSocket) != "" {
			return chosen{}, false, nil
		}
		if name, err = all.current(); name == "" || err != nil {
			return chosen{}, false, err
		}
	}
	if err != nil {
		return chosen{}, false, err
	}
	kept, err := all.load(name)
	return chosen{url: kept.URL, token: kept.Token}, err == nil, err
}
