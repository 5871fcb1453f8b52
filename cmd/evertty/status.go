package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// statusLimit is how long a server may take to tell how it is; one that hangs tells nothing.
const statusLimit = 10 * time.Second

// serverStatus is what status says of a server.
type serverStatus struct {
	Address   string     `json:"address"`
	PID       int        `json:"pid"`
	Version   string     `json:"version"`
	Dir       string     `json:"data_dir"` // "" when it was found by its address
	StartedAt *time.Time `json:"started_at"`
	Uptime    int64      `json:"uptime_seconds"`
	Terminals int        `json:"terminals"`
	Running   int        `json:"running"` // of them
	Viewers   int        `json:"viewers"`
}

func newStatus(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Say whether a server runs, and what it has",
		Long: `Prints the server's address, process, version, data directory, how long it runs, its
terminals and their viewers. It starts no server: without one it ends with 3.`,
		Example: "  evertty status --json",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := a.chosen()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), statusLimit)
		defer cancel()
		reply, err := s.status(ctx)
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, reply, printStatus)
	}
	return a.talks(c)
}

// status asks the server.
func (s chosen) status(ctx context.Context) (serverStatus, error) {
	server, err := s.client()
	if err != nil {
		return serverStatus{}, err
	}
	defer server.Close()
	h, err := server.API().GetHealth(ctx)
	var list []client.Terminal
	if err == nil {
		list, err = server.List(ctx, "")
	}
	if err != nil {
		return serverStatus{}, err
	}
	status := serverStatus{Address: server.Address(), PID: h.PID, Version: h.Version, Dir: s.dir, StartedAt: h.StartedAt,
		Terminals: len(list)}
	if h.StartedAt != nil {
		status.Uptime = max(0, int64(time.Since(*h.StartedAt).Seconds()))
	}
	for _, t := range list {
		status.Viewers += t.Viewers
		if t.State == "running" {
			status.Running++
		}
	}
	return status, nil
}

func printStatus(w io.Writer, s serverStatus) error {
	t := newTable(w)
	printRow(t, "server", s.Address)
	if s.PID != 0 {
		printRow(t, "process", s.PID)
	}
	if s.Version != "" { // a user who is no administrator is not told
		printRow(t, "version", s.Version)
	}
	if s.Dir != "" {
		printRow(t, "data directory", s.Dir)
	}
	if s.StartedAt != nil {
		printRow(t, "running for", age(time.Duration(s.Uptime)*time.Second))
	}
	printRow(t, "terminals", fmt.Sprintf("%d, %d running", s.Terminals, s.Running))
	printRow(t, "viewers", s.Viewers)
	return t.Flush()
}
