package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
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
	sandbox    string
	memory     int64 // 0: no limit, like the next three
	cpu        int
	pids       int
	nofile     int
	cols, rows int  // 0: as this terminal
	statusRow  bool // but for its last row
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
		flag{"label", "", (*map[string]string)(&o.Labels), "label `KEY=VALUE` to find it by; may be repeated"},
		flag{"cols", "", newInt(&o.cols, 0, 1, maxSize), "`columns` (default: those of this terminal)"},
		flag{"rows", "", newInt(&o.rows, 0, 1, maxSize), "`rows` (default: those of this terminal)"},
		flag{"scrollback", "", &o.scrollback, "`lines` of history (default: the server's)"},
		flag{"size-policy", "", newEnum((*string)(&o.SizePolicy), sizePolicies...),
			"whose `size` counts: latest, owner, smallest, largest or fixed"},
		flag{"sandbox", "", newEnum(&o.sandbox, sandboxes...),
			"what it may touch, a `word`: none, workspace (write here and in /tmp) or read-only (default none)"},
		flag{"memory", "", newSizeOf(&o.memory, 0, 16<<20, 1<<50), "most memory it may use, a `size` like 512MiB"},
		flag{"cpu", "", newInt(&o.cpu, 0, 1, 100_000), "most processor time, in `percent` of a core"},
		flag{"pids", "", newInt(&o.pids, 0, 1, 1<<22), "most processes and threads, a `number`"},
		flag{"nofile", "", newInt(&o.nofile, 0, 16, 1<<20), "most open files of a process, a `number`"},
		flag{"restore", "", (*restoreFlag)(&o.Restore),
			"what starts in it by itself after a crash of the machine: none, command, or another `command` line"},
		flag{"detach", "d", &o.detached, "do not show it, print its id"},
	)
	c.Flags().Lookup("scrollback").DefValue = "0" // which is not shown
}

// sandboxes are the values of --sandbox.
var sandboxes = []string{string(wire.SandboxNone), string(wire.SandboxWorkspace), string(wire.SandboxReadOnly)}

// sizePolicies are the values of --size-policy.
var sizePolicies = []string{string(wire.SizePolicyLatest), string(wire.SizePolicyOwner),
	string(wire.SizePolicySmallest), string(wire.SizePolicyLargest), string(wire.SizePolicyFixed)}

// limits are those that were given; nil for none.
func (o *creating) limits() *wire.Limits {
	given := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	l := wire.Limits{MemoryBytes: given(o.memory), CPUPercent: given(int64(o.cpu)), Pids: given(int64(o.pids)),
		Nofile: given(int64(o.nofile))}
	if l == (wire.Limits{}) {
		return nil
	}
	return &l
}

// terminalColumns are the columns of a list of terminals; terminalRow has their cells.
const terminalColumns = "ID\tNAME\tSESSION\tSTATE\tSIZE\tVIEWERS\tACTIVE\tTITLE"

// terminalTable prints a list of terminals, with their labels when any has some.
func terminalTable(w io.Writer, list []client.Terminal) error {
	if !slices.ContainsFunc(list, func(i client.Terminal) bool { return len(i.Labels) > 0 }) {
		return table(terminalColumns, terminalRow)(w, list)
	}
	return table(terminalColumns+"\tLABELS", func(i client.Terminal) []any {
		return append(terminalRow(i), orDash(labelText(i.Labels)))
	})(w, list)
}

func terminalRow(i client.Terminal) []any {
	return []any{i.ID, orDash(i.Name), i.Session, stateOf(i), fmt.Sprintf("%dx%d", i.Cols, i.Rows), i.Viewers,
		age(time.Since(i.LastActivityAt)), caption(i)}
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
