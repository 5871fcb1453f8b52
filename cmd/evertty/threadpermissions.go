package main

import (
	"encoding/json"
	"errors"
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
	var lift bool
	c := a.ofThread("permissions", "Show or change what may be done with the terminals of a thread")
	c.Long = `Without a flag it shows the mode and the rules. Whatever is not given stays as it is.
Rules are an object {"allow":[…],"deny":[…],"ask":[…]} in JSON.`
	c.Example = `  evertty thread permissions work --mode read-only
  echo '{"ask":[{"tool":"exec","contains":"git push"}]}' | evertty thread permissions work --rules -`
	enumFlag(c, "mode", (*string)(&r.Mode), permission.Modes,
		"what is allowed without a `rule`: read-only, workspace-write, danger-full-access, prompt or allow")
	addFlags(c,
		flag{"rules", "", &rules, "`file` with the rules; - is standard input"},
		flag{"no-rules", "", &lift, "remove the rules of the thread"},
	)
	c.PreRunE = func(*cobra.Command, []string) error {
		if lift && rules != "" {
			return errors.New("thread permissions: --rules and --no-rules exclude each other")
		}
		return nil
	}
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (p client.Permissions, err error) {
		if lift {
			r.Rules = json.RawMessage(noRules)
		}
		if rules != "" {
			if r.Rules, err = recordText(a, rules); err != nil {
				return p, err
			}
		}
		p, err = server.API().GetPermissions(c.Context(), threadRef(args[0]))
		if err == nil && (r.Mode != "" || r.Rules != nil) {
			p, err = server.SetPermissions(c.Context(), args[0], r)
		}
		return p, err
	}, printPermissions)
}

func printPermissions(w io.Writer, p client.Permissions) error {
	t := newTable(w)
	printRow(t, "mode", p.Mode)
	var reply struct {
		Rules map[string][]json.RawMessage `json:"rules"`
	}
	if err := json.Unmarshal(p.Raw, &reply); err != nil {
		return err
	}
	for _, kind := range []string{"deny", "ask", "allow"} {
		for _, rule := range reply.Rules[kind] {
			printRow(t, kind, string(rule))
		}
	}
	return t.Flush()
}
