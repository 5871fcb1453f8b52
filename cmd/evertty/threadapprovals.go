package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/permission"
)

func newThreadApprovals(a *app) *cobra.Command {
	const all = "all"
	status := permission.Pending
	var asJSON bool
	words := []string{permission.Pending, permission.Approved, permission.Denied, permission.Used,
		permission.Expired, all}
	c := a.ofThread("approvals", "List the calls that wait for an approval",
		func(c *cobra.Command, server *client.Client, thread string) error {
			wanted := status
			if wanted == all {
				wanted = ""
			}
			list, err := server.Approvals(c.Context(), thread, wanted)
			if err != nil {
				return err
			}
			if asJSON {
				raw := []json.RawMessage{}
				for _, one := range list {
					raw = append(raw, one.Raw)
				}
				return printJSON(a.stdout, raw)
			}
			for _, one := range list {
				printApproval(a.stdout, one)
			}
			return nil
		})
	c.Flags().Var(newEnum(&status, words...), "status", "which: pending, approved, denied, used, expired or `all`")
	_ = c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	jsonFlag(c, &asJSON)
	return c
}

// newThreadApprove is the verb that approves calls after it has shown them.
func newThreadApprove(a *app) *cobra.Command {
	var yes, show, asJSON bool
	c := newThreadDecide(a, "approve", "Let calls that wait through, each once", &asJSON,
		func(c *cobra.Command, server *client.Client, thread, id string) (done client.Approval, err error) {
			one, err := server.Approval(c.Context(), thread, id, show)
			if err != nil {
				return done, err
			}
			if !yes && !isTTY(a.stdin, a.stdout) {
				return done, usage(errors.New("it asks on a terminal, and there is none: say --yes"))
			}
			to := io.Writer(a.stdout)
			if asJSON {
				to = a.stderr
			}
			printApproval(to, one)
			if len(one.Hidden) > 0 {
				return done, errors.New("it has hidden values: --show shows them")
			}
			if !yes {
				fmt.Fprint(to, "Approve this call once? [y/N] ")
				line, _ := bufio.NewReader(a.stdin).ReadString('\n') // no answer is no
				if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
					return done, errors.New("not approved")
				}
			}
			return server.Decide(c.Context(), thread, id, true)
		})
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&show, "show", false, "show hidden values too")
	return c
}

func newThreadDeny(a *app) *cobra.Command {
	var asJSON bool
	return newThreadDecide(a, "deny", "Refuse calls that wait", &asJSON,
		func(c *cobra.Command, server *client.Client, thread, id string) (client.Approval, error) {
			return server.Decide(c.Context(), thread, id, false)
		})
}

// newThreadDecide is a verb that decides about calls that wait, one after the other.
func newThreadDecide(a *app, verb, short string, asJSON *bool, decide func(c *cobra.Command, server *client.Client,
	thread, id string) (client.Approval, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   verb + " THREAD APPROVAL...",
		Short: short,
		Args:  cobra.MinimumNArgs(2),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			raw := []json.RawMessage{}
			var failed error
			for _, id := range args[1:] {
				done, err := decide(c, server, args[0], id)
				if err == nil {
					raw = append(raw, done.Raw)
				}
				failed = errors.Join(failed, named(id, err))
			}
			if *asJSON {
				failed = errors.Join(failed, printJSON(a.stdout, raw))
			}
			return failed
		}),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.complete(threadIDs)(c, args, word)
			}
			return a.complete(approvalIDs(args[0]))(c, args, word)
		},
	}
	jsonFlag(c, asJSON)
	return a.talks(c)
}

// approvalWidth is how many characters of a value stand in one line: with wide ones, two columns
// each, it fits into most windows.
const approvalWidth = 64

// printApproval prints a call as a whole. Nothing in it can hide: unprintable characters are escaped,
// and every line that goes on with a value begins with |.
func printApproval(w io.Writer, a client.Approval) {
	fmt.Fprintf(w, "%s  %s  %s  %s\n", printable(a.ID), printable(a.Status), age(time.Since(a.CreatedAt)),
		escaped(a.Tool))
	var args map[string]json.RawMessage
	if json.Unmarshal(a.Arguments, &args) != nil {
		args = map[string]json.RawMessage{"arguments": a.Arguments}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		var text string
		if json.Unmarshal(args[name], &text) != nil {
			text = string(args[name])
		}
		printValue(w, name, escaped(text))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Hidden)) {
		printValue(w, "hidden", fmt.Sprintf("%s=***(%d)", escaped(name), a.Hidden[name]))
	}
	printValue(w, "reason", escaped(a.Reason))
}

func printValue(w io.Writer, name, value string) {
	lead := "  " + escaped(name) + ": "
	for line := range slices.Chunk([]rune(value), approvalWidth) {
		fmt.Fprintf(w, "%s%s\n", lead, string(line))
		lead = "  | "
	}
}

// escaped is text with escapes of Go in the place of all that is not printable: a newline is \n.
func escaped(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
