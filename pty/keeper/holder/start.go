package holder

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// work does the jobs one after the other: forks happen so anyway, and only one that hangs on a dead file system must
// not stop the rest.
func (k *keeper) work() {
	for job := range k.jobs {
		job()
		k.memory.busy()
	}
}

// finishStarts waits until no start is under way; only the server's goroutine, which calls it, begins one. Errors:
// EBUSY when one hangs.
func (k *keeper) finishStarts() error {
	done := make(chan struct{})
	limit := time.After(protocol.SendTimeout)
	select {
	case k.jobs <- func() { close(done) }:
	case <-limit:
		return fmt.Errorf("starts are under way: %w", unix.EBUSY)
	}
	select {
	case <-done:
		return nil
	case <-limit:
		return fmt.Errorf("a start is under way: %w", unix.EBUSY)
	}
}

// start executes a plan for the server and answers. It owns the packet's descriptors.
func (k *keeper) start(s *session, p protocol.Packet) {
	own := protocol.StartFiles
	if p.Op == protocol.OpRun {
		own = protocol.RunFiles
	}
	plan, hold := p.FDs[0], p.FDs[own:]
	defer protocol.CloseFiles(p.FDs[:own])
	pid, err := k.spawn(s, p, hold)
	if err != nil {
		protocol.CloseFiles(hold)
		err = k.answer(s, p, err)
	} else {
		err = s.say(protocol.Packet{Op: protocol.OpDone, Number: p.Number, PID: pid}, plan) // now the pidfd
	}
	if err != nil {
		k.log.Warn("answer to a start", "id", p.ID, "pid", pid, "error", err)
		s.Close()
	}
}

// spawn starts the program of a packet and holds it and hold under the id. It puts a duplicate of the pidfd in the
// place of the plan. Errors: as proc.Plan.Exec, ErrTaken, ErrNonsense.
func (k *keeper) spawn(s *session, p protocol.Packet, hold []int) (pid int, err error) {
	planFile := p.FDs[0]
	plan, err := protocol.ReadPlan(planFile)
	if err == nil {
		err = room()
	}
	if err == nil {
		err = k.expect(s, p.ID)
	}
	if err != nil {
		return 0, err
	}
	kind, std := protocol.KindTerminal, [3]int{p.FDs[1], p.FDs[1], p.FDs[1]}
	if p.Op == protocol.OpRun {
		kind, std = protocol.KindProgram, [3]int(p.FDs[1:protocol.RunFiles])
	}
	plan.Tag, plan.Reports = p.Tag, p.Reports // no other goroutine forks
	pid, pidfd, err := plan.Exec(std, kind == protocol.KindTerminal)
	k.mu.Lock()
	defer k.mu.Unlock()
	early := k.early
	k.early = nil
	defer k.changed()
	if err != nil {
		return 0, err
	}
	// The server may release the terminal, and so close the pidfd, as soon as it is in the table. If this failed the
	// server would not find the pidfd of a process and release it.
	_ = unix.Dup3(pidfd, planFile, unix.O_CLOEXEC)
	h := &held{ID: p.ID, Kind: kind, PID: pid, Files: append([]int{pidfd}, hold...)}
	if e, ended := early[pid]; ended {
		h.Exit = &e
	}
	k.kept[p.ID] = h
	if k.server != nil {
		k.server.wakeTell()
	}
	return pid, nil
}

// expect makes reap remember children it does not know, until the new one is known. Errors: ErrTaken, os.ErrClosed when
// the start has no waiter any more.
func (k *keeper) expect(s *session, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.server != s || k.leaving {
		return os.ErrClosed
	}
	if k.kept[id] != nil {
		return fmt.Errorf("%w: %s", protocol.ErrTaken, id)
	}
	k.early = map[int]protocol.Exit{}
	return nil
}

// room reports whether another program can be held. Errors: EMFILE.
func room() error {
	open, limit, err := proc.Descriptors()
	if err == nil && open > limit-startReserve {
		err = fmt.Errorf("the keeper has %d of %d descriptors open: %w", open, limit, unix.EMFILE)
	}
	return err
}
