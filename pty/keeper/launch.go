package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// find connects to the keeper, starting one when there is none.
func (c *Client) find(ctx context.Context) (*link, error) {
	var own *launched
	failed := 0
	var busy error // the last answer of a keeper that serves another
	pause := dialPauseMin
	for {
		l, err := c.dial(ctx)
		switch {
		case err == nil:
			return l, nil
		case errors.Is(err, ErrForeign), errors.Is(err, os.ErrPermission):
			return nil, err
		case errors.Is(err, ErrBusy):
			busy = err
		}
		if absent(err) && (own == nil || own.ended()) {
			if own != nil && own.err != nil {
				failed++
			}
			if failed == maxFailedLaunches {
				return nil, fmt.Errorf("%w: %q ended: %w: %s", ErrNoKeeper, c.config.Command[0], own.err,
					tail(c.config.Dir))
			}
			started, err := launch(c.config)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNoKeeper, err)
			}
			own = started
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, dialPauseMax)
		case <-ctx.Done():
			if busy != nil {
				return nil, busy
			}
			return nil, fmt.Errorf("%w: %w: %w", ErrNoKeeper, context.Cause(ctx), err)
		}
	}
}

// absent reports whether an error of dial means that there is no keeper.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED)
}

// dial connects to the keeper and exchanges hello and welcome. Errors: ErrForeign, ErrBusy, connect(2)'s.
func (c *Client) dial(ctx context.Context) (*link, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	err = protocol.AtSocket(c.config.Dir, func(path string) error {
		return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	})
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("connect to %s: %w", protocol.SocketName, err)
	}
	conn, err := protocol.NewConn(fd, true)
	if err != nil {
		return nil, err
	}
	l, err := c.greet(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

// greet exchanges hello and welcome.
func (c *Client) greet(ctx context.Context, conn *protocol.Conn) (*link, error) {
	pid, err := conn.Peer()
	if err != nil {
		return nil, err
	}
	limit := time.Now().Add(protocol.HelloTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(limit) {
		limit = d
	}
	if err := conn.SetReadDeadline(limit); err != nil {
		return nil, err
	}
	// The welcome is what counts: a keeper that is busy has hung up already.
	sendErr := conn.Send(protocol.Packet{Op: protocol.OpHello, Version: protocol.Version, Release: c.config.Release})
	p, err := conn.Receive()
	if err != nil {
		return nil, fmt.Errorf("hello to process %d: %w", pid, errors.Join(sendErr, err))
	}
	switch {
	case p.Op == protocol.OpBusy:
		return nil, &busyError{server: p.PID, release: p.Release}
	case p.Op != protocol.OpWelcome:
		protocol.CloseFiles(p.FDs)
		return nil, fmt.Errorf("%w: %s instead of %s", ErrNonsense, p.Op, protocol.OpWelcome)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return &link{Conn: conn, pid: p.PID, started: p.Born, version: p.Version, release: p.Release, programs: p.Programs,
		reports: p.Reports,
		calls:   map[uint64]*call{}}, nil
}

// launched is a keeper that this process started.
type launched struct {
	done chan struct{} // closed when it has ended
	err  error         // how, valid then
}

// launch starts a keeper and reaps it when it ends.
func launch(c Config) (*launched, error) {
	log, err := os.OpenFile(filepath.Join(c.Dir, protocol.LogName),
		os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(c.Command[0], c.Command[1:]...)
	cmd.Dir, cmd.Stderr = c.Dir, log
	cmd.Env = proc.PlainEnviron(os.Environ()) // the keeper is the parent of programs, and knows no secret
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	own := &launched{done: make(chan struct{})}
	go func() {
		defer close(own.done)
		own.err = cmd.Wait()
	}()
	return own, nil
}

func (l *launched) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// tail is the end of the keeper's log.
func tail(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, protocol.LogName))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(data[max(0, len(data)-logTail):]))
}
