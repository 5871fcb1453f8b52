package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// policyFlags are the parts of a thread's policy on the command line.
type policyFlags struct {
	idle, most, cpu time.Duration
	commands        int
	bytes           int64
}

func (p *policyFlags) flags(c *cobra.Command) {
	const mostCommands = 1 << 30
	addFlags(c,
		flag{"idle", "", newDuration(&p.idle, 0), "how `long` a session lasts without activity"},
		flag{"max", "", newDuration(&p.most, 0), "how `long` a session lasts in all"},
		flag{"budget-cpu", "", newDuration(&p.cpu, 0), "CPU `time` of a session; 0 is any"},
		flag{"budget-commands", "", newInt(&p.commands, 0, 0, mostCommands),
			"commands of a session; 0 is any `number`"},
		flag{"budget-output", "", newSize(&p.bytes, 0), "output of a session, in `bytes`; 0 is any"},
	)
}

// policy is what was said, nil for nothing. A budget is given as a whole: parts of it
// that were not said stay as they are in had.
func (p *policyFlags) policy(c *cobra.Command, had *wire.Budget) *wire.SetPolicy {
	var out wire.SetPolicy
	said := c.Flags().Changed
	if said("idle") {
		out.IdleSeconds = new(p.idle.Seconds())
	}
	if said("max") {
		out.MaxSeconds = new(p.most.Seconds())
	}
	if said("budget-cpu") || said("budget-commands") || said("budget-output") {
		out.Budget = &wire.Budget{}
		if had != nil {
			*out.Budget = *had
		}
		if said("budget-cpu") {
			out.Budget.CPUSeconds = p.cpu.Seconds()
		}
		if said("budget-commands") {
			out.Budget.Commands = int64(p.commands)
		}
		if said("budget-output") {
			out.Budget.Bytes = p.bytes
		}
	}
	if out == (wire.SetPolicy{}) {
		return nil
	}
	return &out
}

func newThreadPolicy(a *app) *cobra.Command {
	var p policyFlags
	c := a.ofThread("policy", "Show or change how long the sessions of a thread last and what they may use")
	c.Long = `Without a flag it shows the policy. A change holds for the live session too; what is
not said stays as it is.`
	c.Example = "  evertty thread policy work --idle 4h --budget-commands 1000"
	p.flags(c)
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (wire.Policy, error) {
		th, err := server.Thread(c.Context(), args[0])
		if err != nil {
			return th.Policy, err
		}
		if change := p.policy(c, th.Policy.Budget); change != nil {
			th, err = server.SetThreadPolicy(c.Context(), args[0], *change)
		}
		return th.Policy, err
	}, printPolicy)
}

func printPolicy(w io.Writer, p wire.Policy) error {
	t := newTable(w)
	printRow(t, "idle", time.Duration(p.IdleSeconds*float64(time.Second)))
	printRow(t, "max", time.Duration(p.MaxSeconds*float64(time.Second)))
	if p.Budget != nil {
		cpu := time.Duration(p.Budget.CPUSeconds * float64(time.Second))
		for _, limit := range []struct {
			name string
			is   any
			none bool
		}{
			{"budget-cpu", cpu, p.Budget.CPUSeconds == 0},
			{"budget-commands", p.Budget.Commands, p.Budget.Commands == 0},
			{"budget-output", p.Budget.Bytes, p.Budget.Bytes == 0},
		} {
			if !limit.none {
				printRow(t, limit.name, limit.is)
			}
		}
	}
	return t.Flush()
}
