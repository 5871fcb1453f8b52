package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evertty/evertty/client"
)

// checkNesting refuses to show a terminal in itself, and in another one unless that
// is meant. What only the server can tell comes with its refusal, see nestingError.
func checkNesting(in client.Inside, info client.Terminal) error {
	switch {
	case slices.Contains(in.Terminals, info.ID):
		return usage(fmt.Errorf("attach: this runs inside %s, and a terminal cannot be shown inside itself",
			nameOf(info)))
	case len(in.Terminals) > 0 && !in.Nested:
		return usage(fmt.Errorf("attach: this runs inside terminal %s; --nested shows another terminal in it",
			in.Terminals[0]))
	}
	return nil
}

// nestingError says the server's refusal in the words of the command line.
func nestingError(err error, info client.Terminal) error {
	switch {
	case errors.Is(err, client.ErrCycle):
		return usage(fmt.Errorf("attach: %s shows the terminal that this runs in, or is it: a terminal cannot be "+
			"shown inside itself", nameOf(info)))
	case errors.Is(err, client.ErrNested):
		return usage(errors.New("attach: this runs inside a terminal of the same server; --nested shows another " +
			"terminal in it"))
	}
	return err
}

// shownIn says in which terminals standard output is shown, for output that is
// followed: none when it goes to a file or a pipe.
func (a *app) shownIn() client.Inside {
	if !isTTY(a.stdout, a.stdout) {
		return client.Inside{}
	}
	in := a.surroundings()
	in.Nested = true
	return in
}

// feedbackError says the server's refusal to follow a terminal in itself.
func feedbackError(err error) error {
	if errors.Is(err, client.ErrCycle) {
		return usage(errors.New("this would print the terminal's output into the terminal itself, for ever; send it " +
			"to a file or a pipe"))
	}
	return err
}
