//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider/relay"
)

// newRelay is the verb that runs for a process elsewhere; see package relay. What it needs is in a file of the
// directory, never among its arguments.
func newRelay(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:    "relay",
		Short:  "Stand for a process at a provider (serve starts it by itself)",
		Hidden: true,
		// Its job has the keys of a provider.
		PersistentPreRunE: func(*cobra.Command, []string) error { return proc.Undumpable() },
	}
	c.AddCommand(
		&cobra.Command{
			Use:   "exec DIR",
			Short: "Have a command run",
			Args:  cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
				code := relay.Exec(ctx, args[0], a.stdin, a.stdout, a.stderr)
				interrupted := ctx.Err() != nil
				stop()
				if interrupted { // the shell goes on after anything else
					interrupt()
				}
				return ended(code)
			},
		},
		&cobra.Command{
			Use:   "pty DIR",
			Short: "Have a program run on a terminal",
			Args:  cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGHUP)
				defer stop()
				return a.relayTerminal(ctx, args[0])
			},
		},
	)
	return c
}

// interrupt ends this process by SIGINT before it returns, unless that is ignored. The signal is for this thread: one
// for the process may come after the exit.
func interrupt() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGINT)
}

func (a *app) relayTerminal(ctx context.Context, dir string) error {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	state, err := term.MakeRaw(int(a.stdin.Fd()))
	if err != nil {
		return fmt.Errorf("relay: raw mode: %w", err)
	}
	defer term.Restore(int(a.stdin.Fd()), state) //nolint:errcheck // the terminal ends with this process
	size := func() (cols, rows int) {
		cols, rows, _ = sizeOf(a.stdin)
		return cols, rows
	}
	return ended(relay.Run(ctx, dir, relay.Screen{In: a.stdin, Out: a.stdout, Size: size, Resized: resized}))
}
