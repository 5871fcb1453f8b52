package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newThread(a *app) *cobra.Command {
	return group("thread", "Make, show and steer threads, what lasts of sessions; their permissions and records",
		newThreadLs(a), newThreadShow(a), newThreadNew(a), newThreadRm(a), newThreadPause(a), newThreadResume(a),
		newThreadPolicy(a), newThreadPermissions(a), newThreadApprovals(a), newThreadApprove(a), newThreadDeny(a),
		newThreadSteer(a), newThreadExport(a), newThreadImport(a), newThreadCompact(a))
}

func newThreadLs(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the threads",
		Args:    cobra.NoArgs,
	}, func(c *cobra.Command, server *client.Client, _ []string) ([]client.Thread, error) {
		return server.Threads(c.Context())
	}, table("ID\tSANDBOX\tSTATUS\tLEASE\tAGE", func(th client.Thread) []any {
		return []any{th.ThreadID, th.Sandbox.Type, orDash(th.Sandbox.Status), th.LeaseID, age(time.Since(th.CreatedAt))}
	}))
}

// ofThread is a verb about the thread that its argument names.
func (a *app) ofThread(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " THREAD",
		Short:             short,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(threadIDs),
	}
}

func threadRef(id string) wire.ThreadRef { return wire.ThreadRef{Thread: id} }

func newThreadShow(a *app) *cobra.Command {
	c := a.ofThread("show", "Show a thread with its session, terminals and lease")
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		th, err := server.Thread(c.Context(), args[0])
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, th, func(w io.Writer, th client.Thread) error {
			return showThread(c.Context(), w, server, th)
		})
	})
	return a.talks(c)
}

func showThread(ctx context.Context, w io.Writer, server *client.Client, th client.Thread) error {
	ref := threadRef(th.ThreadID)
	terminals, err := server.ThreadTerminals(ctx, th.ThreadID)
	if err != nil {
		return err
	}
	lease, err := server.API().GetThreadLease(ctx, ref)
	if err != nil {
		return err
	}
	s, err := server.API().GetThreadSession(ctx, ref)
	if err != nil && !errors.Is(err, client.ErrNotFound) { // it may never have had one
		return err
	}
	t := newTable(w)
	printRow(t, "thread", th.ThreadID)
	if s.SessionID != nil && s.Status != nil {
		printRow(t, "session", *s.SessionID, sessionState(s, time.Now()))
	}
	printRow(t, "lease", lease.LeaseID, lease.ProviderName+" "+string(lease.ObservedState))
	for _, one := range terminals {
		printRow(t, one.Kind, one.TerminalID,
			fmt.Sprintf("%s  version %d %s", one.Cwd, one.Version, yes(one.Active, "(active)")))
		for _, name := range slices.Sorted(maps.Keys(one.EnvDelta)) {
			printRow(t, "", "", name+"="+one.EnvDelta[name])
		}
		if len(one.EnvUnset) > 0 {
			printRow(t, "", "", "unset "+strings.Join(one.EnvUnset, " "))
		}
	}
	return t.Flush()
}

// sessionState is the status of a session, and when it expires or why it was closed.
func sessionState(s wire.ThreadSession, now time.Time) string {
	if s.EndedAt.IsZero() && s.ExpiresAt != nil {
		return fmt.Sprintf("%s, expires in %s", *s.Status, age(s.ExpiresAt.Sub(now)))
	}
	return string(*s.Status) + ": " + s.CloseReason
}

func newThreadNew(a *app) *cobra.Command {
	var r wire.CreateThread
	var p policyFlags
	c := &cobra.Command{
		Use:   "new [THREAD]",
		Short: "Make a thread with its session, terminal and lease, and print its id",
		Long: "Makes a thread. THREAD is its id and the name of its session; the server chooses one when it is " +
			"not given.",
		Example:           "  evertty thread new work --idle 2h --sandbox docker",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	addFlags(c,
		flag{"sandbox", "", &r.Sandbox, "`provider` that its processes run at (default: this machine)"},
		flag{"lease", "", &r.LeaseID, "existing `lease` whose compute it shares"},
	)
	p.flags(c)
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (client.Thread, error) {
		if len(args) == 1 {
			r.ID = args[0]
		}
		r.Policy = p.policy(c, nil)
		return server.API().CreateThread(c.Context(), r)
	}, line(func(th client.Thread) string { return th.ThreadID }))
}

func newThreadRm(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "rm THREAD...",
		Short:             "End everything of threads and forget them",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.complete(threadIDs),
	}
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		gone := []removed{}
		err := each(args, func(id string) error {
			_, err := server.API().DeleteThread(c.Context(), threadRef(id))
			if err == nil {
				gone = append(gone, removed{id})
			}
			return named(id, err)
		})
		if *asJSON {
			err = errors.Join(err, printJSON(a.stdout, gone))
		}
		return err
	})
	return a.talks(c)
}

// each does the same to several things, one after the other, and returns all errors.
func each(list []string, do func(string) error) error {
	var failed error
	for _, one := range list {
		failed = errors.Join(failed, do(one))
	}
	return failed
}

// named says which of several things an error is of.
func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func newThreadPause(a *app) *cobra.Command {
	return asking(a, a.ofThread("pause", "Stop the processes of a thread where they are; resume lets them go on"),
		func(c *cobra.Command, server *client.Client, args []string) (client.Thread, error) {
			return server.PauseThread(c.Context(), args[0])
		}, line(func(th client.Thread) string { return orDash(th.Sandbox.Status) }))
}

func newThreadResume(a *app) *cobra.Command {
	c := a.ofThread("resume", "Take over a thread, by default the one that was changed last, and show where it stands")
	c.Use, c.Args = "resume [THREAD]", cobra.MaximumNArgs(1)
	owner := c.Flags().String("owner", defaultOwner, "the type of who drives the thread from now on")
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (s client.Attached, err error) {
		thread, err := threadOrLatest(c.Context(), server, args)
		if err != nil {
			return s, err
		}
		s, err = server.API().Attach(c.Context(), wire.Attach{ThreadRef: threadRef(thread), OwnerType: *owner})
		if err != nil {
			return s, err
		}
		th, errThread := server.Thread(c.Context(), thread)
		if errThread == nil && th.Sandbox.Status == "paused" {
			_, err = server.ResumeThread(c.Context(), thread)
		}
		return s, err
	}, printStanding)
}

// defaultOwner is who resumes a thread by hand.
const defaultOwner = "CommandLine"

func threadOrLatest(ctx context.Context, server *client.Client, args []string) (string, error) {
	if len(args) == 1 {
		_, err := server.Thread(ctx, args[0]) // a name that was mistyped makes no thread
		return args[0], err
	}
	h, err := server.LatestRecord(ctx)
	return h.ThreadID, err
}

func printStanding(w io.Writer, s client.Attached) error {
	task := "-"
	if s.CurrentTask != nil {
		task = *s.CurrentTask
	}
	t := newTable(w)
	printRow(t, "thread", s.ThreadID)
	printRow(t, "record", s.SessionID)
	printRow(t, "task", task)
	printRow(t, "mode", s.WorkflowMode)
	printRow(t, "permissions", s.PermissionMode)
	return t.Flush()
}
