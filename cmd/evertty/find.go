package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// Variables that say where the server is.
const (
	envServer    = "EVERTTY_SERVER"
	envTokenFile = "EVERTTY_TOKEN_FILE"
	envDataDir   = "EVERTTY_DATA_DIR"
)

// completionTimeout bounds how long a press of Tab may take.
const completionTimeout = time.Second

// talks adds to a verb what it needs to talk to a server.
func (a *app) talks(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.server, "server", "", "`URL` of the server, http://host:port or unix:///path (default "+
		"$EVERTTY_SERVER, else the one of the data directory); $EVERTTY_TOKEN_FILE names the file with its token")
	return c
}

// jsonFlag adds --json to a verb.
func jsonFlag(c *cobra.Command, v *bool) {
	c.Flags().BoolVar(v, "json", false, "print JSON")
}

// dir is the data directory: --data-dir, $EVERTTY_DATA_DIR,
// $XDG_STATE_HOME/evertty or ~/.local/state/evertty.
func (a *app) dir() (string, error) {
	for _, d := range []string{a.dataDir, os.Getenv(envDataDir)} {
		if d != "" {
			return filepath.Abs(d)
		}
	}
	// A relative path there is to be ignored (XDG Base Directory Specification).
	if x := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "evertty"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no data directory: %w; set --data-dir", err)
	}
	return filepath.Join(home, ".local", "state", "evertty"), nil
}

// client finds the server: --server or $EVERTTY_SERVER with the token in
// $EVERTTY_TOKEN_FILE, else what the data directory says. Errors match
// client.ErrNoServer when there is none.
func (a *app) client() (*client.Client, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	at := a.server
	if at == "" {
		at = os.Getenv(envServer)
	}
	if at == "" {
		return client.Discover(dir)
	}
	file := os.Getenv(envTokenFile)
	if file == "" {
		file = tokenFileOf(dir, at)
	}
	token := ""
	if file != "" {
		if token, err = client.ReadToken(file); err != nil {
			return nil, usage(fmt.Errorf("%s: %w", envTokenFile, err))
		}
	}
	c, err := client.New(at, token)
	if err != nil {
		return nil, usage(err)
	}
	return c, nil
}

// follower follows over restarts of the server, and says when that is lost.
func (a *app) follower() *client.Follower {
	return &client.Follower{Connect: a.client, Lost: func(error) { a.tell("the server is lost; waiting for it") }}
}

// tokenFileOf is the token file of the data directory's server if that is the
// server at this address. No other server is ever shown its token.
func tokenFileOf(dir, address string) string {
	p, err := client.Find(dir)
	if err != nil {
		return ""
	}
	mine, err := client.New(p.URL, "")
	if err != nil {
		return ""
	}
	if wanted, err := client.New(address, ""); err != nil || wanted.Address() != mine.Address() {
		return ""
	}
	return p.TokenFile
}

// completeTerminals offers names and ids for the first argument.
func (a *app) completeTerminals(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	c, err := a.client()
	if err != nil || len(args) > 0 {
		return nil, none
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	items, err := c.List(ctx, "")
	if err != nil {
		return nil, none
	}
	var words []string
	for _, i := range items {
		words = append(words, cobra.CompletionWithDesc(nameOf(i), printable(caption(i))))
	}
	return words, none
}

// nameOf is what a person calls the terminal: its name, else its id.
func nameOf(i client.Terminal) string {
	if i.Name != "" {
		return i.Name
	}
	return i.ID
}
