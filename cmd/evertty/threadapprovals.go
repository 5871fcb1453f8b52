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
	"github.com/evertty/evertty/wire"
)

func newThreadApprovals(a *app) *cobra.Command {
	const all = "all"
	status := permission.Pending
	c := a.ofThread("approvals", "List the calls that wait for an approval")
	enumFlag(c, "status", &status, []string{permission.Pending, permission.Approved, permission.Denied,
		permission.Used, permission.Expired, all}, "which: pending, approved, denied, used, expired or `all`")
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) ([]client.Approval, error) {
		in := wire.ListApprovals{ThreadRef: threadRef(args[0])}
		if status != all {
			in.Status = status
		}
		list, err := server.API().ListApprovals(c.Context(), in)
		return list.Approvals, err
	}, func(w io.Writer, list []client.Approval) error {
		for _, one := range list {
			printApproval(w, one)
		}
		return nil
	})
}

// newThreadApprove is the verb that approves calls after it has shown them.
func newThreadApprove(a *app) *cobra.Command {
	var yes, show bool
	c, asJSON := newThreadDecide(a, "approve", "Let calls that wait through, each once")
	c.RunE = a.decide(asJSON, func(c *cobra.Command, server *client.Client, call wire.ApprovalRef) (string, error) {
		one, err := server.API().GetApproval(c.Context(), wire.GetApproval{ApprovalRef: call, Reveal: show})
		if err != nil {
			return "", err
		}
		if !yes && !isTTY(a.stdin, a.stdout) {
			return "", usage(errors.New("it asks on a terminal, and there is none: say --yes"))
		}
		to := io.Writer(a.stdout)
		if *asJSON {
			to = a.stderr
		}
		printApproval(to, one)
		if len(one.Hidden) > 0 {
			return "", errors.New("it has hidden values: --show shows them")
		}
		if !yes {
			fmt.Fprint(to, "Approve this call once? [y/N] ")
			line, _ := bufio.NewReader(a.stdin).ReadString('\n') // no answer is no
			if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
				return "", errors.New("not approved")
			}
		}
		return approve, nil
	})
	addFlags(c,
		flag{"yes", "y", &yes, "do not ask"},
		flag{"show", "", &show, "show hidden values too"},
	)
	return c
}

func newThreadDeny(a *app) *cobra.Command {
	c, asJSON := newThreadDecide(a, "deny", "Refuse calls that wait")
	c.RunE = a.decide(asJSON, func(*cobra.Command, *client.Client, wire.ApprovalRef) (string, error) {
		return deny, nil
	})
	return c
}

// The decisions about a call.
const (
	approve = "approve"
	deny    = "deny"
)

// newThreadDecide is a verb that decides about calls that wait.
func newThreadDecide(a *app, verb, short string) (c *cobra.Command, asJSON *bool) {
	c = a.talks(&cobra.Command{
		Use:   verb + " THREAD APPROVAL...",
		Short: short,
		Args:  cobra.MinimumNArgs(2),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.complete(threadIDs)(c, args, word)
			}
			return a.complete(approvalIDs(args[0]))(c, args, word)
		},
	})
	return c, jsonFlag(c)
}

// decide decides about calls, one after the other, and prints them with asJSON.
func (a *app) decide(asJSON *bool, decision func(*cobra.Command, *client.Client, wire.ApprovalRef) (string, error),
) func(*cobra.Command, []string) error {
	return a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		decided := []client.Approval{}
		failed := each(args[1:], func(id string) error {
			call := wire.ApprovalRef{ThreadRef: threadRef(args[0]), Approval: id}
			word, err := decision(c, server, call)
			if err != nil {
				return named(id, err)
			}
			done, err := server.API().DecideApproval(c.Context(),
				wire.DecideApproval{ApprovalRef: call, Decision: word})
			if err == nil {
				decided = append(decided, done)
			}
			return named(id, err)
		})
		if *asJSON {
			failed = errors.Join(failed, printJSON(a.stdout, decided))
		}
		return failed
	})
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
