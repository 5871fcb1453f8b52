package main

import (
	"context"
	"errors"
	"fmt"
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
	f := c.Flags()
	f.Var(newDuration(&p.idle, 0), "idle", "how `long` a session lasts without activity")
	f.Var(newDuration(&p.most, 0), "max", "how `long` a session lasts in all")
	f.Var(newDuration(&p.cpu, 0), "budget-cpu", "CPU `time` of a session; 0 is any")
	f.Var(newInt(&p.commands, 0, 0, mostCommands), "budget-commands", "commands of a session; 0 is any `number`")
	f.Var(newSize(&p.bytes, 0), "budget-output", "output of a session, in `bytes`; 0 is any")
}

// policy is what was said, nil for nothing. A budget is given as a whole: parts of it
// that were not said stay as they are in had.
func (p *policyFlags) policy(c *cobra.Command, had *wire.Budget) *wire.SetPolicy {
	var out wire.SetPolicy
	said := c.Flags().Changed
	seconds := func(d time.Duration) *float64 { s := d.Seconds(); return &s }
	if said("idle") {
		out.IdleSeconds = seconds(p.idle)
	}
	if said("max") {
		out.MaxSeconds = seconds(p.most)
	}
	if said("budget-cpu") || said("budget-commands") || said("budget-output") {
		b := wire.Budget{}
		if had != nil {
			b = *had
		}
		if said("budget-cpu") {
			b.CPUSeconds = p.cpu.Seconds()
		}
		if said("budget-commands") {
			b.Commands = int64(p.commands)
		}
		if said("budget-output") {
			b.Bytes = p.bytes
		}
		out.Budget = &b
	}
	if out == (wire.SetPolicy{}) {
		return nil
	}
	return &out
}

func newThreadNew(a *app) *cobra.Command {
	var r wire.CreateThread
	var p policyFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "new [THREAD]",
		Short: "Make a thread with its session, terminal and lease, and print its id",
		Long: "Makes a thread. THREAD is its id and the name of its session; the server chooses one when it is " +
			"not given.",
		Example: "  evertty thread new work --idle 2h --sandbox docker",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.ID = args[0]
			}
			r.Policy = p.policy(c, nil)
			server, err := a.client()
			if err != nil {
				return err
			}
			th, err := server.CreateThread(c.Context(), r)
			if err != nil {
				return err
			}
			return printOne(a.stdout, asJSON, th.Raw, th.ThreadID)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&r.Sandbox, "sandbox", "", "`provider` that its processes run at (default: this machine)")
	c.Flags().StringVar(&r.LeaseID, "lease", "", "existing `lease` whose compute it shares")
	p.flags(c)
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func newThreadRm(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "rm THREAD...",
		Short:             "End everything of threads and forget them",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeFirst(threadIDs),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			var failed error
			for _, id := range args {
				failed = errors.Join(failed, named(id, server.DeleteThread(c.Context(), id)))
			}
			return failed
		}),
	}
	return a.talks(c)
}

// named says which of several things an error is of.
func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func newThreadPause(a *app) *cobra.Command {
	var asJSON bool
	c := a.ofThread("pause", "Stop the processes of a thread where they are; resume lets them go on",
		func(c *cobra.Command, server *client.Client, thread string) error {
			th, err := server.PauseThread(c.Context(), thread)
			if err != nil {
				return err
			}
			return printOne(a.stdout, asJSON, th.Raw, orDash(th.Sandbox.Status))
		})
	jsonFlag(c, &asJSON)
	return c
}

func newThreadPolicy(a *app) *cobra.Command {
	var p policyFlags
	var asJSON bool
	c := a.ofThread("policy", "Show or change how long the sessions of a thread last and what they may use",
		func(c *cobra.Command, server *client.Client, thread string) error {
			th, err := server.Thread(c.Context(), thread)
			if err != nil {
				return err
			}
			if change := p.policy(c, th.Policy.Budget); change != nil {
				if th, err = server.SetThreadPolicy(c.Context(), thread, *change); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(a.stdout, th.Policy)
			}
			return printPolicy(a.stdout, th.Policy)
		})
	c.Long = `Without a flag it shows the policy. A change holds for the live session too; what is
not said stays as it is.`
	c.Example = "  evertty thread policy work --idle 4h --budget-commands 1000"
	p.flags(c)
	jsonFlag(c, &asJSON)
	return c
}

func printPolicy(w io.Writer, p wire.Policy) error {
	t := newTable(w)
	for _, one := range []struct {
		name    string
		seconds float64
	}{{"idle", p.IdleSeconds}, {"max", p.MaxSeconds}} {
		fmt.Fprintf(t, "%s\t%v\n", one.name, time.Duration(one.seconds*float64(time.Second)))
	}
	if b := p.Budget; b != nil {
		for _, one := range []struct {
			name string
			is   any
			any  bool
		}{
			{"budget-cpu", time.Duration(b.CPUSeconds * float64(time.Second)), b.CPUSeconds == 0},
			{"budget-commands", b.Commands, b.Commands == 0}, {"budget-output", b.Bytes, b.Bytes == 0},
		} {
			if !one.any {
				fmt.Fprintf(t, "%s\t%v\n", one.name, one.is)
			}
		}
	}
	return t.Flush()
}

func newThreadSteer(a *app) *cobra.Command {
	var drain, asJSON bool
	c := &cobra.Command{
		Use:   "steer THREAD TEXT | THREAD -",
		Short: "Leave a message for who drives a thread",
		Long: `Leaves a message that whoever drives the thread gets with its next turn; - reads it
from standard input. With --drain it takes the messages that wait and prints them.`,
		Example: `  evertty thread steer work "do not touch the database"
  evertty thread steer work --drain`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeFirst(threadIDs),
		RunE: func(c *cobra.Command, args []string) error {
			if drain == (len(args) == 2) {
				return usage(errors.New("thread steer: a TEXT or --drain is needed, and not both"))
			}
			server, err := a.client()
			if err != nil {
				return err
			}
			if drain {
				return drainThread(c.Context(), a, server, args[0], asJSON)
			}
			text, err := steerText(a, args[1])
			if err != nil {
				return err
			}
			if _, err := server.Thread(c.Context(), args[0]); err != nil {
				return err // a message would make a thread of a name that was mistyped
			}
			seq, err := server.SteerThread(c.Context(), args[0], text)
			if err == nil && asJSON {
				return printJSON(a.stdout, map[string]int64{"seq": seq})
			}
			return err
		},
	}
	c.Flags().BoolVar(&drain, "drain", false, "take the messages that wait")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

// maxSteer bounds a message, in bytes; the server takes less than that.
const maxSteer = 1 << 20

func steerText(a *app, word string) (string, error) {
	if word != "-" {
		return word, nil
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxSteer+1))
	if err == nil && len(text) > maxSteer {
		err = usage(fmt.Errorf("thread steer: the message has more than %d bytes", maxSteer))
	}
	return string(text), err
}

func drainThread(ctx context.Context, a *app, server *client.Client, id string, asJSON bool) error {
	list, err := server.DrainThread(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.stdout, append([]string{}, list...))
	}
	for _, message := range list {
		if _, err := fmt.Fprintln(a.stdout, safeText(message)); err != nil {
			return err
		}
	}
	return nil
}
