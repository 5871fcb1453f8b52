package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

const (
	// presetShare is how long a share lasts unless --expires says otherwise.
	presetShare = time.Hour
	// maxShare is the longest, as of the server.
	maxShare = 30 * 24 * time.Hour
	// maxShareUses is the most that --uses takes, as the server does.
	maxShareUses = 1000
)

func newShare(a *app) *cobra.Command {
	r, expires, withQR, uses := wire.ShareRequest{}, time.Duration(0), false, 0
	c := &cobra.Command{
		Use:   "share [ID]",
		Short: "Make a link that shows a terminal to whoever has it",
		Long: `Prints a link. Opened in a browser it shows this terminal, or with --session all of
a session, and nothing else; with --role write its viewers may type too. It opens
nothing new once it has expired, was used up or revoked (evertty share rm); it
survives restarts of the server. One use is one opening of the link, so a preview
that a chat makes of it may be one. evertty share ls lists the links.
A terminal that is called ls or rm is shared by its id or as SESSION/NAME.` + referenceHelp,
		Example: `  evertty share build
  evertty share build --role write --expires 10m --uses 1
  evertty share --session dev --name team --qr
  evertty share rm K7RZ5Q2MLN3XHB6VTWE4CYAD2F`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
	}
	enumFlag(c, "role", &r.Role, []string{"read", "write"}, "what viewers may do (default read)")
	c.Flags().Var(newDuration(&expires, presetShare), "expires", "how long the link opens something, up to 30 days")
	c.Flags().Var(newInt(&uses, 0, 0, maxShareUses), "uses", "how often it may be opened; 0 is no limit")
	addFlags(c, flag{"session", "s", &r.Session, "share all terminals of this `session`, also later ones"},
		flag{"name", "", &r.Name, "what you call the link, for evertty share ls and its viewers"},
		flag{"qr", "", &withQR, "print a QR code of the link too"})
	c = asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (wire.MadeShare, error) {
		if len(args) == 1 {
			r.PTY = args[0]
		}
		if expires < time.Second || expires > maxShare {
			return wire.MadeShare{}, usage(fmt.Errorf("--expires: got %v, allowed is 1s to %v", expires, maxShare))
		}
		seconds := int(expires.Round(time.Second) / time.Second)
		r.TTLS, r.Uses = &seconds, &uses
		return makeShare(c.Context(), server, r)
	}, func(w io.Writer, s wire.MadeShare) error {
		_, err := fmt.Fprintln(w, printable(s.URL))
		if code := a.tellReach(s.URL, s.NetworkURL); err == nil && withQR {
			err = printQR(w, code, colors(a.stdout))
		}
		return err
	})
	c.AddCommand(newShareLs(a), newShareRm(a))
	return c
}

// makeShare makes a link for a terminal as a person calls it, or for a session.
func makeShare(ctx context.Context, server *client.Client, r wire.ShareRequest) (s wire.MadeShare, err error) {
	if (r.PTY == "") == (r.Session == "") {
		return s, usage(errors.New("share: say what is shared: ID, or --session and a session"))
	}
	if r.PTY != "" {
		ids, err := idsOf(ctx, server, r.PTY)
		if err != nil {
			return s, err
		}
		r.PTY = ids[0]
	}
	if s, err = server.API().CreateShare(ctx, r); err == nil {
		err = reachesBrowsers("share", server, s.URL)
	}
	return s, err
}

func newShareLs(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the links",
		Long: `Lists the links that may open something, and those whose viewers are still there.
LEFT is how often one may still be opened, VIEW how many watch by it now.`,
		Args: cobra.NoArgs,
	}, func(c *cobra.Command, server *client.Client, _ []string) ([]wire.Share, error) {
		list, err := server.API().ListShares(c.Context())
		return list.Shares, err
	}, table("ID\tSHARED\tROLE\tENDS\tLEFT\tVIEW\tBY\tNAME", shareRow))
}

func shareRow(s wire.Share) []any {
	left, ends := "-", "ended"
	if s.UsesLeft != nil {
		left = fmt.Sprint(*s.UsesLeft)
	}
	if rest := time.Until(s.ExpiresAt); s.Closed {
		ends = "closed"
	} else if rest > 0 {
		ends = "in " + age(rest)
	}
	return []any{s.ID, shared(s), s.Role, ends, left, s.Viewers, s.By, s.Name}
}

// shared says what a link shows.
func shared(s wire.Share) string {
	if s.Session != "" {
		return "session " + s.Session
	}
	return cmp.Or(s.PTY, "-")
}

func newShareRm(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:               "rm ID",
		Short:             "Revoke a link",
		Long:              "The link opens nothing more, and who watches by it is disconnected at once. Programs go on.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(shareIDs),
	}, func(c *cobra.Command, server *client.Client, args []string) (removed, error) {
		_, err := server.API().DeleteShare(c.Context(), wire.ShareRef{ID: args[0]})
		return removed{args[0]}, err
	}, silent)
}
