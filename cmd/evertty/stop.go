//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
)

// stopLimit is how long stop waits for the server's end, which takes at most 5 s.
const stopLimit = 10 * time.Second

// stoppedServer is what stop says.
type stoppedServer struct {
	PID int    `json:"pid"`
	Dir string `json:"data_dir"`
}

func newStop(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "stop",
		Short: "Stop the server; programs go on running",
		Long: `Ends the server of the data directory as SIGTERM does and waits for its end. Programs
go on running: the next server, which any verb starts, has them with all that they
printed. evertty kill --all ends them. Without a server stop ends with 3.`,
		Example: "  evertty stop",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		s, err := a.chosen()
		if err == nil && s.dir == "" {
			err = usage(fmt.Errorf("stop: %s is not the server of a data directory here; stop it where it runs", s.url))
		}
		if err != nil {
			return err
		}
		pid, err := stopServer(s.dir)
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, stoppedServer{pid, s.dir}, line(func(s stoppedServer) string {
			return fmt.Sprintf("stopped the server, process %d; its programs go on running and are there at the next start",
				s.PID)
		}))
	}
	return a.talks(c)
}

// stopServer ends the server of the data directory and waits for its end. Signals reach no other process: it is the one
// that answers at the directory's socket.
func stopServer(dir string) (pid int, err error) {
	if pid, err = serverAt(dir); err != nil {
		return 0, fmt.Errorf("%w: nothing answers at %s", client.ErrNoServer, dir)
	}
	process, err := unix.PidfdOpen(pid, 0)
	if pid <= 0 || err != nil {
		return pid, fmt.Errorf("stop: the server of %s is not among the processes that can be seen from here", dir)
	}
	defer unix.Close(process)
	if again, err := serverAt(dir); err != nil || again != pid {
		return 0, fmt.Errorf("%w: that of %s has just ended", client.ErrNoServer, dir)
	}
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGCONT} { // SIGCONT: it may be stopped
		if err := unix.PidfdSendSignal(process, s, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return pid, fmt.Errorf("stop: process %d: %w", pid, err)
		}
	}
	if !endsSoon(process) {
		return pid, fmt.Errorf("stop: the server, process %d, has not ended within %v; kill -9 %d ends it, and its "+
			"programs go on", pid, stopLimit, pid)
	}
	return pid, nil
}

// endsSoon waits up to stopLimit for the end of a process (pidfd_open(2): it is readable then).
func endsSoon(process int) bool {
	for end := time.Now().Add(stopLimit); ; {
		left := time.Until(end)
		if left <= 0 {
			return false
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 && err == nil {
			return true
		}
	}
}
