package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"golang.org/x/term"

	"github.com/evertty/evertty/client"
)

// attachRaw passes bytes between standard input and output and a terminal's program, until the program, standard input
// or the connection ends. A terminal at standard input gets no signals of its own keys meanwhile.
func (a *app) attachRaw(ctx context.Context, ref string, o viewing) error {
	if o.status || o.clipboard {
		return usage(errors.New("attach: --raw goes with neither --status nor --clipboard: nothing but the program's " +
			"bytes is written"))
	}
	server, err := a.reach()
	if err != nil {
		return err
	}
	list, err := server.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	in := a.surroundings()
	in.Nested = in.Nested || o.nested
	if err := checkNesting(in, list[0]); err != nil {
		return err
	}
	conn, err := server.Raw(ctx, list[0].ID, nil, client.AttachOptions{Inside: in, Name: cmp.Or(o.name, a.userName())})
	if err != nil {
		return nestingError(err, list[0])
	}
	defer conn.Close()
	if fd := int(a.stdin.Fd()); term.IsTerminal(fd) {
		if before, err := term.MakeRaw(fd); err == nil {
			defer term.Restore(fd, before) //nolint:errcheck // nothing is left to do
		}
	}
	if !o.readOnly && (a.guest == nil || !a.guest.readOnly) {
		go func() {
			if _, err := io.Copy(conn, a.stdin); err == nil {
				_ = conn.End() // a broken connection shows in Read
			}
		}()
	}
	_, err = io.Copy(a.stdout, conn)
	return err
}
