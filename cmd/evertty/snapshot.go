package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// formatFlag adds --format to a verb.
func formatFlag(c *cobra.Command, format *string, preset client.Format) {
	*format = string(preset)
	forms := wire.ScreenFormats
	enumFlag(c, "format", format, forms, "`form` of the output: "+strings.Join(forms[:len(forms)-1], ", ")+" or "+
		forms[len(forms)-1])
}

func newSnapshot(a *app) *cobra.Command {
	var format string
	var scrollback int
	c := &cobra.Command{
		Use:   "snapshot ID",
		Short: "Print the screen as it is now",
		Long: `ansi is what rebuilds the screen in a terminal of the same size, and on a terminal
the lines with their colours and no modes. text is plain lines, json tells every
cell's style and the modes, html is a page fragment.` + referenceHelp,
		Example: `  evertty snapshot build --format text
  evertty snapshot build --scrollback 100`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			ids, err := idsOf(c.Context(), server, args[0])
			if err != nil {
				return err
			}
			s, err := server.Snapshot(c.Context(), ids[0], client.Format(format), scrollback)
			if err != nil {
				return err
			}
			if client.Format(format) == client.ANSI {
				return printANSI(a, s)
			}
			return printText(a, s.Content(client.Format(format)), true)
		}),
	}
	formatFlag(c, &format, client.ANSI)
	jsonFormat(c, &format)
	c.Flags().IntVar(&scrollback, "scrollback", 0, "`lines` of history before the screen; -1 for all")
	return a.talks(c)
}

// printANSI writes a snapshot as it is, and on a terminal its lines alone: the modes of the
// program, its margins and its alternate screen would stay there.
func printANSI(a *app, s client.Snapshot) error {
	if !isTTY(a.stdout, a.stdout) {
		return printText(a, s.Data, false)
	}
	e := vt.NewEngine(vt.Config{Cols: s.Cols, Rows: s.Rows, Scrollback: vt.MaxScrollback})
	e.Write([]byte(s.Data))
	return printRows(a.stdout, e.Freeze())
}

// printRows writes the lines of history and screen with their colours, without the empty ones at the end.
func printRows(w io.Writer, f *vt.Frame) error {
	lines := append(f.History.Slice(), f.Active().Lines...)
	for len(lines) > 0 && lines[len(lines)-1].Text() == "" {
		lines = lines[:len(lines)-1]
	}
	var b bytes.Buffer
	for _, l := range lines {
		b.Write(snapshot.PaintRow(l, 0, f.Cols))
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// printText writes s, with a newline at the end when lines are asked for.
func printText(a *app, s string, lines bool) error {
	if lines && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	_, err := io.WriteString(a.stdout, s)
	return err
}
