package holder

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// watch acts on signals. It is the only one who reaps. Children may have ended before the signals were caught: it looks
// at once.
func (k *keeper) watch(signals <-chan os.Signal) {
	k.reap()
	for sig := range signals {
		switch sig {
		case unix.SIGCHLD:
			k.reap()
		case unix.SIGTERM:
			k.terminate()
		case unix.SIGUSR1:
			k.ask()
		}
	}
}

// reap takes the statuses of all children that have ended.
func (k *keeper) reap() {
	for k.reapOne() {
	}
}

// reapOne takes one status. It is noted under the same lock, so that an upgrade finds it either here or in the kernel.
func (k *keeper) reapOne() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	var status unix.WaitStatus
	pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
	if pid > 0 {
		code, signal := proc.ExitOf(status)
		k.noteExit(pid, protocol.Exit{Code: code, Signal: signal})
	}
	return pid > 0 || err == unix.EINTR
}

// noteExit notes how a child has ended. The lock is held.
func (k *keeper) noteExit(pid int, e protocol.Exit) {
	for _, h := range k.kept {
		if h.PID == pid && h.Exit == nil && !h.Adopted {
			h.Exit = &e
			if k.server != nil {
				k.server.wakeTell()
			}
			return
		}
	}
	if k.early != nil {
		k.early[pid] = e
	}
}

// terminate ends a keeper that holds nothing, and with its programs one whose directory is gone.
func (k *keeper) terminate() {
	lost := k.lock.lost(true)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.leaving:
		return
	case k.holds() && lost:
		k.leave("SIGTERM, and the data directory is gone")
		return
	case k.holds():
		k.log.Warn("SIGTERM is ignored: there are terminals or programs; SIGKILL ends the keeper", "held", len(k.kept))
		return
	}
	k.ending = true
	k.socket.wake(time.Now())
}
