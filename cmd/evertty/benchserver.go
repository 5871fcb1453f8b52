//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/internal/bench"
)

// newBenchServer measures the server for whoever wants to know before they use it.
func newBenchServer(a *app) *cobra.Command {
	var b bench.Config
	var only string
	c := &cobra.Command{
		Use:   "server",
		Short: "Measure a server of this machine beside ttyd and tmux",
		Long: `Starts servers of its own in a temporary directory, measures them in turns and prints
a table: this program, ttyd and tmux where they are installed, the ratio to the best
of the others (bash, for exec), and what the project asks for. Your own server is left
alone, and nothing is left at the end, by Ctrl-C either. It takes some minutes, with
--quick half a minute. The machine should do nothing else meanwhile: read ratios, not
figures of different runs. $TMPDIR says which disk is used.

Processor time and memory are those of the server's process, at tmux of its clients too.
A dash is what a program has not, or what failed; the lines below the table say which.`,
		Example: `  evertty bench server --quick
  evertty bench server --only echo,flood --ttyd ~/bin/ttyd --json`,
		Args: cobra.NoArgs,
	}
	c.Flags().BoolVar(&b.Quick, "quick", false, "one short round")
	c.Flags().StringVar(&only, "only", "", "measure `LIST` only, of "+strings.Join(bench.Names(), ","))
	_ = c.RegisterFlagCompletionFunc("only",
		cobra.FixedCompletions(bench.Names(), cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&b.TTYD, "ttyd", "", "`program` of ttyd (default that of PATH)")
	c.Flags().StringVar(&b.Tmux, "tmux", "", "`program` of tmux (default that of PATH)")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if b.Only, err = benchScenarios(only); err != nil {
			return err
		}
		for name, given := range map[string]string{"ttyd": b.TTYD, "tmux": b.Tmux} {
			if _, err := bench.Installed(cmp.Or(given, "sh")); err != nil {
				return usage(fmt.Errorf("bench server: --%s: %w", name, err))
			}
		}
		if b.Self, err = os.Executable(); err != nil {
			return err
		}
		ctx, stop := endBySignal(c.Context())
		defer stop()
		r, err := a.benchServer(ctx, b)
		if err != nil {
			return signalled(ctx, err)
		}
		return printReply(a.stdout, *asJSON, r, printBench)
	}
	return c
}

// benchServer measures, and tells a person what is going on.
func (a *app) benchServer(ctx context.Context, b bench.Config) (bench.Report, error) {
	if load := bench.Load(); load > float64(runtime.NumCPU())/2 {
		a.tell(fmt.Sprintf("warning: the load average is %.1f on %d processors; figures are better on a quiet machine",
			load, runtime.NumCPU()))
	}
	if f, ok := a.stderr.(*os.File); ok && isTTY(f, f) {
		b.Progress = func(text string) { fmt.Fprintf(f, "\r\x1b[K%s", text) }
		defer fmt.Fprint(f, "\r\x1b[K")
	}
	return bench.Run(ctx, b)
}

// benchScenarios are the names in a list with commas; nil for "".
func benchScenarios(list string) (names []string, err error) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
		if !slices.Contains(bench.Names(), name) {
			return nil, usage(fmt.Errorf("bench server: --only: got %q, allowed is a list of %s", name,
				strings.Join(bench.Names(), ",")))
		}
		names = append(names, name)
	}
	return names, nil
}

// printBench prints the table, and below it what each server is.
func printBench(w io.Writer, r bench.Report) error {
	t := newTable(w)
	printRow(t, headCells("MEASURE\tEVERTTY\tTTYD\tTMUX\tRATIO\tASKED FOR")...)
	for _, row := range r.Rows {
		what := row.Measure
		if bash := row.Values["bash"]; bash > 0 {
			what += " (bash " + figure(bash, true) + ")"
		}
		cells := []any{what}
		for _, name := range []string{"evertty", "ttyd", "tmux"} {
			v, ok := row.Values[name]
			cells = append(cells, figure(v, ok))
		}
		printRow(t, append(cells, figure(row.Ratio, row.Ratio > 0), row.Asked)...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(r.Servers)) {
		lines = append(lines, name+": "+r.Servers[name])
	}
	for _, text := range append(lines, r.Notes...) {
		if _, err := fmt.Fprintln(w, printable(text)); err != nil {
			return err
		}
	}
	return nil
}

// figure is a number with three digits that count, or a dash when there is none.
func figure(v float64, ok bool) string {
	switch {
	case !ok:
		return "-"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
