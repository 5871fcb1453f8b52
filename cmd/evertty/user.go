//go:build linux

package main

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/internal/server/auth"
)

func newUser(a *app) *cobra.Command {
	return group("user", "Users of a server", newUserAdd(a))
}

func newUserAdd(a *app) *cobra.Command {
	var admin, asJSON bool
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token for a user, and the lines for the file of --users",
		Long: `user add makes a new token. The lines for the file of serve --users go to stdout,
with the hash of the token; the token goes to stderr and is nowhere else. It neither
changes a file nor asks a server: append the lines, and send the server SIGHUP.`,
		Example: "  evertty user add alice >> users.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if err := auth.CheckUserName(name); err != nil {
				return usage(fmt.Errorf("user add: NAME %w", err))
			}
			token := auth.NewSecret()
			sum := auth.DigestOf(token)
			hash := hashPrefix + hex.EncodeToString(sum[:])
			if asJSON {
				return printJSON(a.stdout, map[string]any{"name": name, "token": token, "token_hash": hash,
					"admin": admin})
			}
			fmt.Fprintf(a.stderr, "the token of %s, which is shown only now: %s\n", name, token)
			_, err := fmt.Fprintf(a.stdout, "\n[[users]]\nname = %q\ntoken_hash = %q\nadmin = %t\n", name, hash, admin)
			return err
		},
	}
	addFlags(c, flag{"admin", "", &admin, "an administrator, who sees everything"},
		flag{"json", "", &asJSON, "print name, token and hash as JSON to stdout"})
	return c
}
