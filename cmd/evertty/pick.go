package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// listPause is the time between two looks at the list while the picker shows it.
const listPause = time.Second

// pick is the program without a verb: on a terminal it shows the terminals to choose from, or makes the first one;
// elsewhere it prints the help.
func (a *app) pick(c *cobra.Command) error {
	if !a.canPaint() {
		return c.Help()
	}
	v := viewing{detachKeys: defaultDetachKeys, scrollback: client.AllHistory}
	keys, err := canView(a, v)
	if err != nil {
		return err
	}
	server, err := a.reach()
	if err != nil {
		return err
	}
	list, err := server.List(c.Context(), "")
	if err != nil {
		return err
	}
	choice := choice{create: true}
	if len(list) > 0 {
		if choice, err = a.choose(c.Context(), list); err != nil {
			return err
		}
	} else if cols, _, ok := a.size(); ok && cols > 0 {
		a.tell(pickerHint)
	}
	switch {
	case choice.create:
		v.nested = true // as evertty new
		info, err := a.create(c, creating{session: defaultSession}, nil)
		if err != nil {
			return err
		}
		return a.view(c.Context(), info, v, keys)
	case choice.terminal != nil:
		if err := checkNesting(a.surroundings(), *choice.terminal); err != nil {
			return err
		}
		if server, err = a.reach(); err != nil { // the server may have ended meanwhile
			return err
		}
		defer server.Close()
		return a.view(c.Context(), *choice.terminal, v, keys)
	}
	return nil
}

// choice is what was chosen in the picker; the zero value is nothing.
type choice struct {
	terminal *client.Terminal
	create   bool
}

// choose shows the picker until there is a choice or a signal ends it. The user's terminal is as before then.
func (a *app) choose(ctx context.Context, list []client.Terminal) (choice, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &picker{list: list}
	changes := make(chan func())
	go a.watchList(ctx, func(list []client.Terminal) { send(ctx, changes, func() { p.list = list }) })
	err := a.occupy(&fullWindow{out: a.stdout, lines: p.lines, press: p.press}, changes)
	return p.choice, err
}

// watchList tells the list again and again until ctx ends. A server that does not answer has the list that it had.
func (a *app) watchList(ctx context.Context, tell func([]client.Terminal)) {
	for sleep(ctx, listPause) == nil {
		server, err := a.client()
		if err != nil {
			continue
		}
		list, err := server.List(ctx, "")
		server.Close()
		if err == nil {
			tell(list)
		}
	}
}
