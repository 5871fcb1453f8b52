package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newURL(a *app) *cobra.Command {
	withQR := false
	c := &cobra.Command{
		Use:   "url",
		Short: "Print a one-time URL that logs a browser in",
		Long: `The URL carries a ticket that works once and only for a short time. The
long-lived token never leaves its file. Where the server listens on all addresses of
the machine (serve --listen 0.0.0.0:PORT), standard error has the same with an address
that other machines reach. On a terminal, and with --qr, a QR code follows; a phone
reaches it where the server listens for others (serve --listen, --public-url).`,
		Example: "  xdg-open \"$(evertty url)\"",
		Args:    cobra.NoArgs,
	}
	c.Flags().BoolVar(&withQR, "qr", false, "print the QR code also where no terminal is")
	return asking(a, c, func(c *cobra.Command, server *client.Client, _ []string) (wire.Ticket, error) {
		t, err := server.Ticket(c.Context(), wire.TicketRequest{Login: true})
		if err == nil {
			err = reachesBrowsers("url", server, t.URL)
		}
		return t, err
	}, func(w io.Writer, t wire.Ticket) error {
		_, err := fmt.Fprintln(w, printable(t.URL))
		code := a.tellReach(t.URL, t.NetworkURL)
		if tty := isTTY(a.stdout, a.stdout); err == nil && (withQR || tty) {
			err = printQR(w, code, colors(a.stdout))
		}
		return err
	})
}

// reachesBrowsers fails where the address that a server gives is one that no browser reaches.
func reachesBrowsers(verb string, server *client.Client, address string) error {
	if strings.HasPrefix(server.Address(), "unix:") && !strings.HasPrefix(address, "https:") {
		return errors.New(verb + ": the server listens on a unix socket, which no browser reaches")
	}
	return nil
}

// tellReach says which browsers reach an address, and returns the one that a phone reads. network is the same address
// for other machines, "" without one.
func (a *app) tellReach(address, network string) (code string) {
	if network != "" {
		a.tell("browsers of other machines open " + printable(network))
		return network
	}
	if isLoopback(address) {
		a.tell("only browsers of this machine reach this address; for a phone start the server with serve " +
			"--listen ADDRESS:PORT of a network, and with --public-url where that is not its address")
	}
	return address
}

// isLoopback reports whether the address of a URL is one that only its own machine reaches.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// quietZone is the margin of a QR code, in modules (ISO/IEC 18004, 6.3.8).
const quietZone = 4

// printQR prints a QR code in half blocks: light modules are blocks, which a phone reads on a dark terminal. With
// colors it is dark on light on any.
func printQR(w io.Writer, text string, colors bool) error {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return fmt.Errorf("url: QR code: %w", err)
	}
	begin, end := "", ""
	if colors {
		begin, end = "\x1b[38;5;231;48;5;16m", "\x1b[m"
	}
	light := func(x, y int) bool { return !code.Black(x, y) } // so is all outside of it
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString(begin)
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch top, bottom := light(x, y), light(x, y+1); {
			case top && bottom:
				b.WriteString("█")
			case top:
				b.WriteString("▀")
			case bottom:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString(end + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}
