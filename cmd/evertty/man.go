package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manMode is of the pages that man writes: everybody may read them.
const manMode = 0o755

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
			root := c.Root()
			root.InitDefaultCompletionCmd()
			root.DisableAutoGenTag = true // it would be today's date
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date,
				Source: "evertty " + programVersion(), Manual: "evertty"}, args[0])
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
