package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newLabels(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:   "labels ID [KEY=VALUE | KEY-]...",
		Short: "Show, set and remove the labels of a terminal",
		Long: `Without more arguments it prints the labels. KEY=VALUE sets one, KEY- removes one;
all at once, or nothing when one is wrong. A terminal has at most 32. A key has 1 to
63 letters, digits and . _ - / with a letter or digit at both ends; a value at most
255 bytes.` + referenceHelp,
		Example: `  evertty labels build team=web stage-
  evertty ls --label team=web`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return a.complete(labelWords)(c, args, word)
			}
			return a.complete(terminalNames)(c, args, word)
		},
	}, func(c *cobra.Command, server *client.Client, args []string) (wire.Labels, error) {
		changes, err := parseLabelChanges(args[1:])
		if err != nil {
			return nil, usage(err)
		}
		list, err := server.Resolve(c.Context(), args[0])
		if err != nil || len(changes) == 0 {
			return labelsOf(list), err
		}
		labels := labelsOf(list)
		for _, change := range changes {
			change(labels)
		}
		info, err := server.Change(c.Context(), list[0].ID, wire.ChangeTerminal{Labels: labels})
		return info.Labels, err
	}, func(w io.Writer, labels wire.Labels) error {
		_, err := io.WriteString(w, strings.Join(labelLines(labels), ""))
		return err
	})
}

// labelsOf are the labels of the one terminal of a list; the caller owns them.
func labelsOf(list []client.Terminal) wire.Labels {
	labels := wire.Labels{}
	for _, t := range list {
		maps.Copy(labels, t.Labels)
	}
	return labels
}

// parseLabelChanges reads KEY=VALUE and KEY-.
func parseLabelChanges(words []string) (changes []func(wire.Labels), err error) {
	for _, word := range words {
		key, value, set := strings.Cut(word, "=")
		switch gone, remove := strings.CutSuffix(word, "-"); {
		case set && key != "":
			changes = append(changes, func(l wire.Labels) { l[key] = value })
		case remove && !set && gone != "":
			changes = append(changes, func(l wire.Labels) { delete(l, gone) })
		default:
			return nil, fmt.Errorf("labels: got %.80q, allowed is KEY=VALUE or KEY-", word)
		}
	}
	return changes, nil
}

// labelLines are KEY=VALUE of each label, in order of the keys.
func labelLines(labels wire.Labels) (lines []string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		lines = append(lines, printable(k+"="+labels[k])+"\n")
	}
	return lines
}

// labelText is the labels in a cell of a table.
func labelText(labels wire.Labels) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.Join(labelLines(labels), ""), "\n"), "\n", ",")
}

// labelWords are the labels of all terminals, as KEY=VALUE.
func labelWords(ctx context.Context, server *client.Client) (words []string) {
	list, _ := server.List(ctx, "")
	for _, t := range list {
		for k, v := range t.Labels {
			words = append(words, k+"="+v)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// labelFlag adds --label, which chooses terminals, to a verb.
func (a *app) labelFlag(c *cobra.Command, labels *[]string) {
	addFlags(c, flag{"label", "", labels, "only terminals with the label `KEY=VALUE`; may be repeated"})
	_ = c.RegisterFlagCompletionFunc("label", a.complete(labelWords))
}
