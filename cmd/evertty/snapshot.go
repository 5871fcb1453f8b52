package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// formatFlag adds --format to a verb.
func formatFlag(c *cobra.Command, format *string, preset client.Format) {
	*format = string(preset)
	c.Flags().Var(newEnum(format, string(client.ANSI), string(client.Text), string(client.JSON), string(client.HTML)),
		"format", "`form` of the output: ansi, text, json or html")
	_ = c.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions([]string{"ansi", "text", "json", "html"}, cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) newSnapshot() *cobra.Command {
	var format string
	var scrollback int
	c := &cobra.Command{
		Use:   "snapshot ID",
		Short: "Print the screen as it is now",
		Long: `ansi is what rebuilds the screen in a terminal of the same size, text is plain
lines, json tells every cell's style and the modes, html is a page fragment.`,
		Example: `  evertty snapshot build --format text
  evertty snapshot build --scrollback 100`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTerminals,
		RunE: func(c *cobra.Command, args []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			s, err := server.Snapshot(c.Context(), args[0], client.Format(format), scrollback)
			if err != nil {
				return err
			}
			return a.printText(s.Content(client.Format(format)), client.Format(format) != client.ANSI)
		},
	}
	formatFlag(c, &format, client.ANSI)
	c.Flags().IntVar(&scrollback, "scrollback", 0, "`lines` of history before the screen; -1 for all")
	return a.talks(c)
}

// printText writes s, with a newline at the end when lines are asked for.
func (a *app) printText(s string, lines bool) error {
	if lines && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	_, err := io.WriteString(a.stdout, s)
	return err
}
