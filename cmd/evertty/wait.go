package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// forExit is the condition whose result is the child's exit code.
const forExit = "exit"

func newWait(a *app) *cobra.Command {
	var r client.WaitRequest
	var since uint64
	r.For = forExit
	c := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until something has happened",
		Long: `Waits until the program has exited (the default), until text or a regular
expression (RE2) can be seen on the screen or in the history, until there was no
output for some time, until a shell waits for a command, or until the title has a
text. Text counts that was shown at any moment, also when it is gone at once.
With --since only what was printed behind that position counts: seq of send --json,
or of the wait before.
Ends with the program's own exit code for exit, 0 when the condition holds, and
124 when the time is over. When the server is restarted meanwhile, wait goes on and
misses nothing.` + referenceHelp,
		Example: `  evertty wait build && echo it worked
  evertty wait build --for text --pattern 'listening on' --timeout 30s
  evertty wait build --for regex --pattern '^(PASS|FAIL)' --ignore-echo \
    --since "$(evertty send build 'make test' --enter --json | jq .seq)"`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if onText(r.For) != (r.Pattern != "") {
			return usage(fmt.Errorf("wait: --for %s and --pattern: a pattern goes with text, regex and title, "+
				"and only with them", r.For))
		}
		if c.Flags().Changed("since") {
			r.Since = &since
		}
		id, err := a.idOf(c.Context(), args[0])
		if err != nil {
			return err
		}
		return a.wait(c.Context(), id, r, *asJSON)
	}
	c.Flags().Var(newEnum(&r.For, "exit", "text", "regex", "idle", "prompt", "title", "alt_screen"), "for",
		"`condition`: exit, text, regex, idle, prompt, title or alt_screen")
	c.Flags().StringVar(&r.Pattern, "pattern", "", "what to look for with text, regex and title")
	c.Flags().Var(newDuration(&r.Idle, 0), "idle", "how `long` without output is idle (default: the server's, 500ms)")
	c.Flags().Var(newDuration(&r.Timeout, 0), "timeout", "give up after this `time`; 0 never does")
	c.Flags().Uint64Var(&since, "since", 0, "only what was printed behind this `position` counts")
	c.Flags().BoolVar(&r.Not, "not", false, "wait until text, regex, prompt, title or alt_screen is not there")
	c.Flags().BoolVar(&r.IgnoreEcho, "ignore-echo", false, "the echo of what was sent does not count")
	c.Flags().BoolVar(&r.ScreenOnly, "screen-only", false, "leave the history out of text and regex")
	return a.talks(c)
}

// onText reports whether a condition is about text, which needs a pattern.
func onText(condition string) bool {
	return condition == "text" || condition == "regex" || condition == "title"
}

func (a *app) wait(ctx context.Context, id string, r client.WaitRequest, asJSON bool) error {
	w, err := a.follower().Wait(ctx, id, r)
	if asJSON {
		if w, ok := waited(w, err); ok {
			if err := printJSON(a.stdout, w); err != nil {
				return err
			}
		}
	}
	if err != nil || r.For != forExit {
		return err
	}
	return ended(childCode(w.Exit))
}

// waited is the line about a wait: what was found, or what there was instead
// when the condition did not come true.
func waited(w wire.Waited, err error) (wire.Waited, bool) {
	var refused *client.Error
	if errors.As(err, &refused) && (errors.Is(err, client.ErrTimeout) || errors.Is(err, client.ErrExited)) {
		w = wire.Waited{}
		return w, json.Unmarshal(refused.Details, &w) == nil
	}
	return w, err == nil
}
