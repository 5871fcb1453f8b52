package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/permission"
)

// noRules lifts all rules of a thread; the server's stay.
const noRules = "{}"

func newThreadPermissions(a *app) *cobra.Command {
	var r client.PermissionsRequest
	var rules string
	var lift, asJSON bool
	c := &cobra.Command{
		Use:   "permissions THREAD",
		Short: "Show or change what may be done with the terminals of a thread",
		Long: `Without a flag it shows the mode and the rules. Whatever is not given stays as it is.
Rules are an object {"allow":[…],"deny":[…],"ask":[…]} in JSON.`,
		Example: `  evertty thread permissions work --mode read-only
  echo '{"ask":[{"tool":"exec","contains":"git push"}]}' | evertty thread permissions work --rules -`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(threadIDs),
		RunE: func(c *cobra.Command, args []string) error {
			if lift && rules != "" {
				return usage(errors.New("thread permissions: --rules and --no-rules exclude each other"))
			}
			if lift {
				r.Rules = json.RawMessage(noRules)
			}
			if rules != "" {
				var err error
				if r.Rules, err = recordText(a, rules); err != nil {
					return err
				}
			}
			server, err := a.client()
			if err != nil {
				return err
			}
			p, err := server.Permissions(c.Context(), args[0])
			if err == nil && (r.Mode != "" || r.Rules != nil) {
				p, err = server.SetPermissions(c.Context(), args[0], r)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, p.Raw)
			}
			return printPermissions(a.stdout, p)
		},
	}
	c.Flags().Var(newEnum((*string)(&r.Mode), permission.Modes...), "mode",
		"what is allowed without a `rule`: read-only, workspace-write, danger-full-access, prompt or allow")
	_ = c.RegisterFlagCompletionFunc("mode",
		cobra.FixedCompletions(permission.Modes, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&rules, "rules", "", "`file` with the rules; - is standard input")
	c.Flags().BoolVar(&lift, "no-rules", false, "remove the rules of the thread")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func printPermissions(w io.Writer, p client.Permissions) error {
	t := newTable(w)
	fmt.Fprintf(t, "mode\t%s\n", printable(string(p.Mode)))
	var reply struct {
		Rules map[string][]json.RawMessage `json:"rules"`
	}
	if err := json.Unmarshal(p.Raw, &reply); err != nil {
		return err
	}
	for _, kind := range []string{"deny", "ask", "allow"} {
		for _, rule := range reply.Rules[kind] {
			fmt.Fprintf(t, "%s\t%s\n", kind, printable(string(rule)))
		}
	}
	return t.Flush()
}
