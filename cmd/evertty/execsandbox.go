package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// deleteTimeout bounds the end of a shell that was made for one command.
const deleteTimeout = 10 * time.Second

// inSandbox calls run with the shell that --sandbox asks for: the one that --shell names, which stays and is made when
// it is not there, or one that ends with the command.
func (a *app) inSandbox(ctx context.Context, o *executing, run func() error) error {
	if o.sandbox == "" {
		return run()
	}
	server, err := a.client()
	if err != nil {
		return err
	}
	in := wire.CreateShell{SessionRef: wire.SessionRef{Session: o.session}, ID: o.shell,
		Sandbox: wire.Sandbox(o.sandbox)}
	if server.Local() {
		in.Cwd, _ = os.Getwd() // a directory that is gone is left to the server
	}
	made, err := server.API().CreateShell(ctx, in)
	if refusal, ok := errors.AsType[*client.Error](err); ok && refusal.Code == "SESSION_ALREADY_EXISTS" {
		return a.inExisting(ctx, server, o, run)
	}
	if err != nil {
		return err
	}
	if o.shell != "" {
		return run()
	}
	o.shell = made.ID
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer cancel()
		_, err := server.API().DeleteShell(ctx, shellRef(o))
		if err != nil {
			a.tell("the shell of the command is left: " + err.Error())
		}
	}()
	return run()
}

// inExisting is inSandbox of a shell that is there already.
func (a *app) inExisting(ctx context.Context, server *client.Client, o *executing, run func() error) error {
	found, err := server.API().GetShell(ctx, shellRef(o))
	if err != nil {
		return err
	}
	if string(found.Sandbox) != o.sandbox {
		return fmt.Errorf("exec: the shell %s has the sandbox %s, and keeps it: choose another --shell", o.shell,
			found.Sandbox)
	}
	return run()
}

func shellRef(o *executing) wire.ShellRef {
	return wire.ShellRef{SessionRef: wire.SessionRef{Session: o.session}, Shell: o.shell}
}
