package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// viewing has the flags of attach and new about the viewer.
type viewing struct {
	detachKeys string
	readOnly   bool
	clipboard  bool
	status     bool   // a status line
	name       string // what other viewers see
	predict    string // auto or never
	raw        bool   // of attach: bytes as they are
	nested     bool   // a terminal inside another one is meant
	scrollback int    // lines of history shown at first
}

func (v *viewing) flags(c *cobra.Command) {
	v.detachKeys, v.predict = defaultDetachKeys, predictAuto
	addFlags(c,
		flag{"detach-keys", "", &v.detachKeys, "`keys` that detach, in tmux's names, or none"},
		flag{"read-only", "", &v.readOnly, "look only: keys are not sent, the size is not changed"},
		flag{"as", "", &v.name, "`name` that other viewers see (default the name of your account)"},
		flag{"clipboard", "", &v.clipboard, "let the program write to this terminal's clipboard (OSC 52)"},
		flag{"predict", "", newEnum(&v.predict, predictAuto, "never"), "`when` keys of a slow line are shown before " +
			"the program shows them, underlined: auto or never"},
		flag{"status", "", &v.status, "show in the last row which terminal this is; the program has one row less"},
	)
}

func newAttach(a *app) *cobra.Command {
	v := viewing{}
	c := &cobra.Command{
		Use:   "attach ID",
		Short: "Show a terminal in this one",
		Long: `Shows the terminal full-screen and types into it, until its program ends or the
detach keys are pressed. Its history goes into this terminal's own scrollback. A
broken connection is made again. Ends with the program's exit code.
The size of this window counts as the terminal's size policy says. In a window of
another size as much is shown as it has room for, around the cursor; arrows (<^v>)
in a corner, or in the status line, say on which sides there is more.
With --raw standard input and output are the program's, byte for byte, for a file
transfer (rz, sz, trzsz) or a recorder; they need not be a terminal.
Inside a terminal of evertty another one is shown with --nested only, and never
one that shows the terminal this runs in.` + referenceHelp,
		Example: `  evertty attach build
  evertty attach build --detach-keys 'C-b d' --read-only`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
		RunE: func(c *cobra.Command, args []string) error {
			if v.raw {
				return a.attachRaw(c.Context(), args[0], v)
			}
			keys, err := canView(a, v)
			if err != nil {
				return err
			}
			server, err := a.reach()
			if err != nil {
				return err
			}
			list, err := server.Resolve(c.Context(), args[0])
			if err != nil {
				return err
			}
			info := list[0]
			in := a.surroundings()
			in.Nested = in.Nested || v.nested
			if err := checkNesting(in, info); err != nil {
				return err
			}
			return a.view(c.Context(), info, v, keys)
		},
	}
	v.flags(c)
	v.scrollback = client.AllHistory
	addFlags(c,
		flag{"raw", "", &v.raw, "pass bytes as they are, both ways: for zmodem and trzsz; no key detaches"},
		flag{"nested", "", &v.nested, "show it also inside another terminal of evertty"},
		flag{"scrollback", "", &v.scrollback, "`lines` of history to show at first; -1 for all"},
	)
	return a.talks(c)
}

// canView refuses options and streams that cannot show a terminal here, before anything is done. It returns the keys
// that detach.
func canView(a *app, v viewing) ([]key, error) {
	keys, err := parseDetachKeys(v.detachKeys)
	if err == nil {
		err = refuse(
			rule{v.clipboard && v.readOnly, "--clipboard and --read-only exclude each other: only who may type is " +
				"told what goes on the clipboard"},
			rule{!isTTY(a.stdin, a.stdout), "standard input and output are not a terminal; use new -d, send, logs or " +
				"snapshot"},
		)
	}
	if err != nil {
		return nil, usage(err)
	}
	return keys, nil
}

// view shows the terminal until it ends or is left, and says how on stderr.
func (a *app) view(ctx context.Context, info client.Terminal, o viewing, keys []key) error {
	o.readOnly = o.readOnly || a.guest != nil && a.guest.readOnly
	v := &viewer{target: target{connect: a.client, id: info.ID, name: nameOf(info), keys: keys, readOnly: o.readOnly,
		scrollback: o.scrollback, self: cmp.Or(o.name, a.userName()), secret: rand.Text()}}
	v.display.kept = info.Scrollback
	if o.predict == predictAuto && !o.readOnly {
		v.sent = make(chan sentKey, sentAhead)
	}
	if len(keys) > 0 {
		v.leaveKeys = o.detachKeys
	}
	if o.status {
		v.display.status = newStatusLine(info, v.leaveKeys, !colors(a.stdout))
		v.leaveKeys = "" // no hint: the line says it
	}
	if o.clipboard {
		v.clipboard = newUserClipboard()
	}
	v.inside = a.surroundings()
	v.inside.Nested = v.inside.Nested || o.nested
	exit, err := v.run(ctx, a.stdin, a.stdout)
	var signal signalError
	switch {
	case exit != nil:
		fmt.Fprintf(a.stderr, "[%s]\n", printable(epitaph(exit)))
		return ended(childCode(exit))
	case errors.Is(err, errDetached):
		fmt.Fprintf(a.stderr, "[detached from %s]\n", printable(v.name))
		return nil
	case errors.As(err, &signal):
		return signalCode(signal.Signal)
	}
	return nestingError(err, info)
}

// userName is the name of the account that runs this, "" when that is not known. Of a guest the server knows the name.
func (a *app) userName() string {
	u, err := user.Current()
	if err != nil || a.guest != nil {
		return ""
	}
	return u.Username
}

// epitaph says how the program ended.
func epitaph(e *wire.Exit) string {
	if e.Reason == "lost" {
		return "lost: the program is gone, nobody knows how it ended"
	}
	return "exited: " + ending(e)
}
