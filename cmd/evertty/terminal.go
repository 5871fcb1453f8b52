package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// creating has the flags of new.
type creating struct {
	wire.CreateTerminal
	session    string
	cols, rows int // 0: as this terminal
	scrollback int
	detached   bool
	asJSON     bool
}

const (
	// serverChooses is the value of --scrollback that leaves it to the server.
	serverChooses = -1
	maxSize       = 1000 // columns, rows: what the server takes
)

func (o *creating) flags(c *cobra.Command) {
	o.session = defaultSession
	o.scrollback = serverChooses
	addFlags(c,
		flag{"name", "", &o.Name, "`name` to find it by"},
		flag{"session", "s", &o.session, "`session` it belongs to"},
		flag{"cwd", "", &o.Cwd, "`directory` to start in (default: the current one)"},
		flag{"env", "", &o.Env, "set `K=V` in its environment; may be repeated"},
		flag{"cols", "", newInt(&o.cols, 0, 1, maxSize), "`columns` (default: those of this terminal)"},
		flag{"rows", "", newInt(&o.rows, 0, 1, maxSize), "`rows` (default: those of this terminal)"},
		flag{"scrollback", "", &o.scrollback, "`lines` of history (default: the server's)"},
		flag{"size-policy", "", (*string)(&o.SizePolicy),
			"whose `size` counts: latest, owner, smallest, largest or fixed"},
		flag{"detach", "d", &o.detached, "do not show it, print its id"},
	)
	c.Flags().Lookup("scrollback").DefValue = "0" // which is not shown
}

// terminalColumns are the columns of a list of terminals; terminalRow has their cells.
const terminalColumns = "ID\tNAME\tSESSION\tSTATE\tSIZE\tVIEWERS\tACTIVE\tTITLE"

// captionWidth bounds the last column of the list, in characters.
const captionWidth = 60

func terminalRow(i client.Terminal) []any {
	return []any{i.ID, orDash(i.Name), i.Session, stateOf(i), fmt.Sprintf("%dx%d", i.Cols, i.Rows), i.Viewers,
		age(time.Since(i.LastActivityAt)), clipped(caption(i), captionWidth)}
}

// stateOf is the state and, once the program has ended, how.
func stateOf(i client.Terminal) string {
	if i.Exit == nil || i.State != "exited" {
		return i.State
	}
	return i.State + "(" + ending(i.Exit) + ")"
}

// ending says in a word how a program ended: 3, SIGTERM or lost.
func ending(e *wire.Exit) string {
	switch {
	case e.Signal != "":
		return "SIG" + strings.TrimPrefix(e.Signal, "SIG")
	case e.Code != nil:
		return fmt.Sprint(*e.Code)
	}
	return e.Reason
}

// caption says what the terminal shows: its title, else its command.
func caption(i client.Terminal) string { return cmp.Or(i.Title, strings.Join(i.Cmd, " ")) }
