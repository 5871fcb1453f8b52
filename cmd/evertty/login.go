package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/evertty/evertty/client"
)

// maxTypedToken bounds a token that is typed or comes by a pipe, in bytes.
const maxTypedToken = 4096

func newLogin(a *app) *cobra.Command {
	var name, file string
	asJSON := false
	c := &cobra.Command{
		Use:   "login URL",
		Short: "Keep the address and the token of a server, and use it from now on",
		Long: `login asks the server whether it takes the token, and keeps both as a context in
a file that nobody else may read. The context is the current one then: verbs go to
its server. --context names another one for one verb, --context local the server of
this machine's data directory. Without --token-file the token is asked for, or read
from standard input when that is no terminal.`,
		Example: `  evertty login https://term.example.com
  evertty login http://10.0.0.5:3000 --context lab --token-file token
  evertty ls --context lab`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.login(c, args[0], name, file, asJSON) },
	}
	addFlags(c, flag{"context", "", &name, "`name` of the context (default: the host of the URL)"},
		flag{"token-file", "", &file, "`file` with the server's token"},
		flag{"json", "", &asJSON, "print JSON"})
	_ = c.MarkFlagFilename("token-file")
	return c
}

func (a *app) login(c *cobra.Command, address, name, file string, asJSON bool) error {
	server, err := client.New(address, "")
	if err != nil {
		return usage(err)
	}
	address = server.Address()
	if name, err = nameOfContext(name, address); err != nil {
		return err
	}
	all, err := openContexts()
	if err != nil {
		return err
	}
	if strings.HasPrefix(address, "http://") && !isLoopback(address) {
		a.tell("the token and all that is typed go to " + address + " unencrypted: use https, or only a network that " +
			"you trust")
	}
	token, err := a.tokenFor(address, file)
	if err != nil {
		return err
	}
	if server, err = client.New(address, token); err != nil {
		return usage(err)
	}
	if _, err := server.List(c.Context(), ""); err != nil {
		return notLoggedIn(address, err)
	}
	if err = all.save(name, serverContext{URL: address, Token: token}); err == nil {
		err = all.use(name)
	}
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	return printReply(a.stdout, asJSON, contextRow{name, address, true}, line(func(r contextRow) string {
		return r.Name + " is the current context: " + r.URL
	}))
}

// notLoggedIn says why a server was not kept: it does not take the token, or is none of evertty.
func notLoggedIn(address string, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return fmt.Errorf("login: %w", err)
	case refused.Status == http.StatusUnauthorized, refused.Status == http.StatusForbidden:
		return fmt.Errorf("login: %s does not take this token: %s", address, refused.Message)
	}
	return fmt.Errorf("login: %s does not answer as evertty does; is its path right, and is it http or https? %s",
		address, refused.Message)
}

// nameOfContext is the name for a new context: what is given, else the host of its address. It does not replace that of
// another server unless it was given.
func nameOfContext(given, address string) (string, error) {
	name := given
	if u, err := url.Parse(address); err == nil && given == "" {
		name = strings.Trim(strings.ReplaceAll(u.Hostname(), ":", "-"), "-")
	}
	if !contextName().MatchString(name) || name == localContext {
		return "", usage(fmt.Errorf("context %.80q: 1 to 64 letters, digits, '.', '_' or '-' are allowed, beginning "+
			"with a letter or a digit, and not %s; name it with --context", name, localContext))
	}
	all, err := openContexts()
	if err != nil || given != "" {
		return name, err
	}
	if kept, err := all.load(name); err == nil && kept.URL != address {
		return "", usage(fmt.Errorf("the context %s is of another server, %s; name this one with --context", name,
			kept.URL))
	}
	return name, nil
}

// tokenFor reads the token of a server: from a file, a person who does not see it typed, or standard input.
func (a *app) tokenFor(address, file string) (string, error) {
	if file != "" {
		token, err := client.ReadToken(file)
		if err != nil {
			return "", usage(err)
		}
		return token, nil
	}
	var b []byte
	var err error
	if fd := int(a.stdin.Fd()); term.IsTerminal(fd) {
		fmt.Fprintf(a.stderr, "token of %s (in the file token of its data directory): ", printable(address))
		b, err = term.ReadPassword(fd)
		fmt.Fprintln(a.stderr)
	} else {
		b, err = io.ReadAll(io.LimitReader(a.stdin, maxTypedToken+1))
	}
	token := strings.TrimSpace(string(b))
	if err == nil && (token == "" || len(token) > maxTypedToken || strings.ContainsAny(token, "\r\n\x00")) {
		err = errors.New("login: want a token of one line; --token-file names a file with it")
	}
	if err != nil {
		return "", usage(err)
	}
	return token, nil
}

func newContext(a *app) *cobra.Command {
	return group("context", "Show, choose and forget the servers that login has kept", newContextLs(a),
		newContextUse(a), newContextRm(a))
}

// contextRow is a context as it is printed: never with its token.
type contextRow struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
}

func newContextLs(a *app) *cobra.Command {
	c := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List the contexts", Args: cobra.NoArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		rows, err := contextRows()
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, rows, table("NAME\tURL\tCURRENT", func(r contextRow) []any {
			return []any{r.Name, r.URL, map[bool]string{true: "*", false: ""}[r.Current]}
		}))
	}
	return c
}

func contextRows() ([]contextRow, error) {
	all, err := openContexts()
	if err != nil {
		return nil, err
	}
	names, err := all.list()
	if err != nil {
		return nil, err
	}
	now, err := all.current()
	if err != nil {
		return nil, err
	}
	rows := []contextRow{}
	for _, name := range names {
		kept, err := all.load(name)
		if errors.Is(err, errNoContext) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, contextRow{name, kept.URL, name == now})
	}
	return rows, nil
}

func newContextUse(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "use NAME",
		Short:             "Send verbs to the server of a context from now on; local is this machine's",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: firstContext,
	}
	return onContext(a, c, func(all contexts, name string) error { return all.use(name) })
}

func newContextRm(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "rm NAME",
		Short:             "Forget a context and its token",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: firstContext,
	}
	return onContext(a, c, func(all contexts, name string) error { return all.remove(name) })
}

// onContext makes c a verb that does something to the context of its argument, and says with --json to which.
func onContext(a *app, c *cobra.Command, do func(all contexts, name string) error) *cobra.Command {
	asJSON := jsonFlag(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		all, err := openContexts()
		if err == nil {
			err = do(all, args[0])
		}
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, map[string]string{"name": args[0]}, silent)
	}
	return c
}

// firstContext is completeContext for the first argument alone.
func firstContext(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeContext(c, args, word)
}

// completeContext offers the names of contexts.
func completeContext(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{localContext}
	if all, err := openContexts(); err == nil {
		kept, _ := all.list()
		names = append(names, kept...)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
