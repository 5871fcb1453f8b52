package main

import (
	"context"
	"errors"
	"regexp"
	"sync"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// fullID is the form of a whole id, which nobody has to be asked about.
var fullID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{20}$`) })

// referenceHelp says what ID is, for the help of verbs.
const referenceHelp = `
ID is an id, the first four or more characters of one, a name, or SESSION/NAME.`

// idsOf are the ids of the terminals that a person means, in the same order: all of them, or an error. It asks once.
func idsOf(ctx context.Context, server *client.Client, refs ...string) ([]string, error) {
	ids, asked := refs, false
	for _, ref := range refs {
		asked = asked || !fullID().MatchString(ref)
	}
	if !asked {
		return ids, nil
	}
	list, err := server.Resolve(ctx, refs...)
	if err != nil {
		return nil, err
	}
	ids = nil
	for _, t := range list {
		ids = append(ids, t.ID)
	}
	return ids, nil
}

// idOf is the id of the terminal that a person means.
func (a *app) idOf(ctx context.Context, ref string) (string, error) {
	server, err := a.reach()
	if err != nil {
		return "", err
	}
	defer server.Close()
	ids, err := idsOf(ctx, server, ref)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// onTerminals makes a verb that does the same to each terminal that its arguments mean.
func (a *app) onTerminals(c *cobra.Command,
	do func(context.Context, *client.Client, string) (client.Terminal, error)) *cobra.Command {
	c.Args, c.ValidArgsFunction = cobra.MinimumNArgs(1), a.complete(terminalNames)
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, ids []string) error {
		return eachChanged(a, c, server, ids, *asJSON, func(id string) (client.Terminal, error) {
			return do(c.Context(), server, id)
		})
	})
	return a.talks(c)
}

// eachTerminal does the same to each terminal that is meant. What cannot be found, and what fails, does not keep the
// others; the error names all of it.
func eachTerminal(ctx context.Context, server *client.Client, refs []string, do func(id string) error) error {
	ids, err := idsOf(ctx, server, refs...)
	if err == nil {
		return each(ids, do)
	}
	if !errors.Is(err, client.ErrNotFound) && !errors.Is(err, client.ErrAmbiguous) || len(refs) == 1 {
		return err
	}
	return each(refs, func(ref string) error {
		ids, err := idsOf(ctx, server, ref)
		if err != nil {
			return err
		}
		return do(ids[0])
	})
}
