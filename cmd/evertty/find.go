package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/strictmodes"
)

// Variables that say where the server is.
const (
	envServer    = "EVERTTY_SERVER"
	envTokenFile = "EVERTTY_TOKEN_FILE"
	envDataDir   = "EVERTTY_DATA_DIR"
)

// talks adds to a verb what it needs to talk to a server.
func (a *app) talks(c *cobra.Command) *cobra.Command {
	if a.guest != nil { // it has its server
		return c
	}
	c.Flags().StringVar(&a.server, "server", "", "`URL` of the server, http://host:port or unix:///path (default "+
		"$EVERTTY_SERVER, else the one of the data directory); $EVERTTY_TOKEN_FILE names the file with its token")
	c.Flags().StringVar(&a.context, "context", "", "`name` of a server that login has kept, or local for the one of "+
		"the data directory (default $EVERTTY_CONTEXT, else the current one)")
	_ = c.RegisterFlagCompletionFunc("context", completeContext)
	c.Flags().BoolVar(&a.noStart, "no-start", false, "start no server in the background when none runs: exit code 3")
	return c
}

// onServer is the RunE of a verb that begins with finding the server.
func (a *app) onServer(do func(*cobra.Command, *client.Client, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		server, err := a.reach()
		if err != nil {
			return err
		}
		return do(c, server, args)
	}
}

// dir is the data directory: --data-dir, $EVERTTY_DATA_DIR,
// $XDG_STATE_HOME/evertty or ~/.local/state/evertty. One that another user has or
// could change is wrong usage; it need not exist.
func (a *app) dir() (string, error) {
	dir, err := a.dirName()
	if err != nil {
		return "", err
	}
	if err := strictmodes.CheckOwn(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", usage(fmt.Errorf("data directory %s: %w", dir, err))
	}
	return dir, nil
}

func (a *app) dirName() (string, error) {
	if d := a.namedDir(); d != "" {
		return filepath.Abs(d)
	}
	// A relative path there is to be ignored (XDG Base Directory Specification).
	if x := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "evertty"), nil
	}
	home := homeDir()
	if home == "" {
		return "", usage(errors.New("no data directory: this user has no home directory; set --data-dir"))
	}
	return filepath.Join(home, ".local", "state", "evertty"), nil
}

// homeDir is $HOME, else what the user database says; "" is none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			return u.HomeDir
		}
	}
	return home
}

// namedDir is the data directory of the flag or the environment, "" for none.
func (a *app) namedDir() string { return cmp.Or(a.dataDir, os.Getenv(envDataDir)) }

// chosen is the server that a call is about: one at an address, or the one of a data directory.
type chosen struct {
	url, token string // token is also for dir, in the place of the one that is there
	dir        string // "" when there is a url
}

// chosen finds out which server is meant. In this order: --server, --context, $EVERTTY_SERVER, $EVERTTY_CONTEXT, the
// data directory that is named, the server of the terminal that this process runs in, the current context, the server
// of the usual data directory. $EVERTTY_TOKEN_FILE is for --server and $EVERTTY_SERVER. Errors are wrong usage.
func (a *app) chosen() (chosen, error) {
	if a.guest != nil {
		return chosen{dir: a.guest.dir, token: a.guest.token}, nil
	}
	if a.server != "" && a.context != "" {
		return chosen{}, usage(errors.New("--server and --context: give one of them"))
	}
	if s, ok, err := a.chosenContext(); ok || err != nil {
		return s, err
	}
	if a.context == localContext {
		dir, err := a.clientDir()
		return chosen{dir: dir}, err
	}
	at, file, token := cmp.Or(a.server, os.Getenv(envServer)), os.Getenv(envTokenFile), ""
	var err error
	if at == "" || file == "" {
		dir, err := a.clientDir()
		if err != nil && (at == "" || a.namedDir() != "") {
			return chosen{}, err
		}
		if at == "" || err == nil && isServerOf(dir, at) {
			return chosen{dir: dir}, nil
		}
	} else if token, err = client.ReadToken(file); err != nil {
		return chosen{}, usage(fmt.Errorf("%s: %w", envTokenFile, err))
	}
	return chosen{url: at, token: token}, nil
}

// client is a client of the server, that of a data directory by its socket. Errors match client.ErrNoServer when
// nothing says where it is.
func (s chosen) client() (*client.Client, error) {
	if s.dir != "" {
		return client.DiscoverAs(s.dir, s.token)
	}
	c, err := client.New(s.url, s.token)
	if err != nil {
		return nil, usage(err)
	}
	return c, nil
}

// client finds the server and starts none.
func (a *app) client() (*client.Client, error) {
	s, err := a.chosen()
	if err != nil {
		return nil, err
	}
	return s.client()
}

// reach is client, but starts a server in the background when none runs at the data directory.
func (a *app) reach() (*client.Client, error) {
	s, err := a.chosen()
	if err == nil && s.dir != "" && !a.noStart && a.guest == nil {
		err = a.startServer(s.dir)
	}
	if err != nil {
		return nil, err
	}
	return s.client()
}

// reconnecting is reach at the first call and client at the others: a server that ends while it is used is not started
// again, because whoever ended it may start the next one. It is safe for concurrent use.
func (a *app) reconnecting() func() (*client.Client, error) {
	var first sync.Once
	return func() (server *client.Client, err error) {
		find := a.client
		first.Do(func() { find = a.reach })
		return find()
	}
}

// follower follows over restarts of the server, and says when that is lost.
func (a *app) follower() *client.Follower {
	return &client.Follower{Connect: a.reconnecting(),
		Lost: func(error) { a.tell("the server is lost; waiting for it") }}
}

// isServerOf reports whether an address is the one of the data directory's server. It is asked by its socket then: its
// token never goes to a server that only has the address.
func isServerOf(dir, address string) bool {
	p, err := client.Find(dir)
	if err != nil {
		return false
	}
	mine, err := client.New(p.URL, "")
	if err != nil {
		return false
	}
	wanted, err := client.New(strings.Replace(address, "//localhost:", "//127.0.0.1:", 1), "") // see addressesOf
	return err == nil && wanted.Address() == mine.Address()
}

// nameOf is what a person calls the terminal: its name, else its id.
func nameOf(i client.Terminal) string { return cmp.Or(i.Name, i.ID) }
