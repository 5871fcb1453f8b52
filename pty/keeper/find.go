package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// Process is a keeper that runs, as /proc shows it.
type Process struct {
	PID int
	Dir string // absolute, as it was started with
}

// askTimeout bounds how long a keeper may take to say who it is.
const askTimeout = 2 * time.Second

// Processes are the keepers of this user, whoever started them: processes that were started as `NAME keeper --data-dir
// DIR`. Errors: the kernel's, when /proc cannot be read.
func Processes() ([]Process, error) {
	all, err := proc.List()
	if err != nil {
		return nil, fmt.Errorf("keeper: processes: %w", err)
	}
	var list []Process
	for _, p := range all {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline") // empty when it has ended
		if data, ok := dirOf(line); ok && isOurs(p.PID) {
			list = append(list, Process{p.PID, data})
		}
	}
	return list, nil
}

// dirOf is the data directory in the command line of a keeper.
func dirOf(line []byte) (string, bool) {
	words := strings.Split(string(bytes.TrimSuffix(line, []byte{0})), "\x00")
	if len(words) < 3 || words[1] != "keeper" {
		return "", false
	}
	for i, word := range words[2:] {
		if dir, ok := strings.CutPrefix(word, "--data-dir="); ok {
			return dir, filepath.IsAbs(dir)
		}
		if word == "--data-dir" && i+3 < len(words) {
			return words[i+3], filepath.IsAbs(words[i+3])
		}
	}
	return "", false
}

// isOurs reports whether a process is this user's. The owner of its files in /proc does not say so: those of an
// undumpable one are root's.
func isOurs(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, found := strings.Cut(string(text), "\nUid:")
	fields := strings.Fields(rest)
	return err == nil && found && len(fields) > 1 && fields[1] == strconv.Itoa(os.Geteuid())
}

// Reachable is nil when a server finds this keeper by its directory, and otherwise says why none does.
func (p Process) Reachable() error {
	if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
		return errors.New("its data directory is gone")
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, protocol.LockName))
	if err != nil {
		return fmt.Errorf("its lock is gone: %w", err)
	}
	if holder := strings.TrimSpace(string(text)); holder != strconv.Itoa(p.PID) {
		return fmt.Errorf("the directory has another keeper, process %.20s", holder)
	}
	id, err := protocol.SocketAt(filepath.Join(p.Dir, protocol.SocketName))
	if err != nil || id == (protocol.FileID{}) {
		return errors.New("its socket is gone; it makes it again within seconds")
	}
	return nil
}

// Release asks the keeper for its release: "" when it does not say, as one of an older release does that serves a
// server. It is a visit that changes nothing.
func (p Process) Release() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	c := &Client{config: Config{Dir: p.Dir}, log: slog.New(slog.DiscardHandler)}
	l, err := c.dial(ctx)
	if busy, ok := errors.AsType[*busyError](err); ok {
		return busy.release, nil
	}
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.release, nil
}

// End asks the keeper to leave, which only one without a directory does while it holds something, and waits until it
// has, or until ctx ends.
func (p Process) End(ctx context.Context) error {
	keeper, ok := proc.Find(p.PID)
	if !ok {
		return nil
	}
	if err := keeper.Signal(unix.SIGTERM); err != nil {
		return fmt.Errorf("keeper: process %d: %w", p.PID, err)
	}
	if keeper.Wait(ctx) != nil {
		return fmt.Errorf("keeper: process %d is still there; kill -9 %d ends it and closes its terminals", p.PID,
			p.PID)
	}
	return nil
}
