package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Everybody may read the pages that man writes, and their directory.
const (
	manMode     = 0o755
	manPageMode = 0o644
)

// newMan is for those who make packages, and hidden from the rest.
func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages, for packages",
		Hidden: true,
		Long: `Writes a manual page of section 1 for each verb into DIR, which is made when it is not
there. The pages have the date of SOURCE_DATE_EPOCH, in seconds since 1970, and the
same program writes the same bytes; without that variable the date is 1970.`,
		Example: "  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) evertty man dist/man",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			date, err := sourceDate()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], manMode); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			c.Root().InitDefaultCompletionCmd()
			return writeManPages(c.Root(), date, args[0])
		},
	}
}

// sourceDate is the time of the source, the beginning of 1970 when nobody says (reproducible-builds.org). Errors are
// wrong usage.
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, usage(fmt.Errorf("man: SOURCE_DATE_EPOCH: got %q, allowed are seconds since 1970", text))
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// writeManPages writes the pages of a verb and of those below it that are not hidden.
func writeManPages(c *cobra.Command, date time.Time, dir string) error {
	name := filepath.Join(dir, manName(c)+".1")
	if err := os.WriteFile(name, []byte(manPage(c, date)), manPageMode); err != nil {
		return fmt.Errorf("man: %w", err)
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeManPages(sub, date, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the manual page of a verb, in the macros of man(7).
func manPage(c *cobra.Command, date time.Time) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".nh\n.TH %q \"1\" %q %q \"evertty\"\n", strings.ToUpper(manName(c)), date.Format("Jan 2006"),
		"evertty "+programVersion())
	section := func(title, text string) { fmt.Fprintf(&b, ".SH %s\n%s\n", title, text) }
	section("NAME", roff(manName(c)+" - "+c.Short))
	section("SYNOPSIS", `\fB`+roff(c.UseLine())+`\fR`)
	section("DESCRIPTION", roff(cmp.Or(c.Long, c.Short)))
	if f := c.NonInheritedFlags(); f.HasAvailableFlags() {
		section("OPTIONS", manFlags(f))
	}
	if f := c.InheritedFlags(); f.HasAvailableFlags() {
		section("OPTIONS INHERITED FROM PARENT COMMANDS", manFlags(f))
	}
	if c.Example != "" {
		section("EXAMPLE", ".EX\n"+roff(c.Example)+"\n.EE")
	}
	var others []string
	if c.HasParent() {
		others = append(others, manName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, manName(sub))
		}
	}
	if len(others) > 0 {
		section("SEE ALSO", `\fB`+roff(strings.Join(others, "(1), ")+"(1)")+`\fR`)
	}
	return b.String()
}

// manFlags describes flags, a paragraph each.
func manFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name := `\fB\-\-` + roff(f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB\-` + f.Shorthand + `\fR, ` + name
		}
		what, usage := pflag.UnquoteUsage(f)
		if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		if what != "" {
			name += ` \fI` + roff(what) + `\fR`
		}
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", name, roff(usage))
	})
	return strings.TrimSuffix(b.String(), "\n")
}

// roffWords make text that man shows as it is: a line that begins with . or ' would be a request.
var roffWords = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

func roff(text string) string { return strings.TrimPrefix(roffWords.Replace("\n"+text), "\n") }
