package holder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// session is the connection of the server that is served.
type session struct {
	*protocol.Conn
	pid  int
	wake chan struct{} // has a value when there may be an exit to tell; closed when the session is over
}

// newSession makes a session of a connection of this user. It owns fd, also when it fails. Errors: ErrForeign.
func newSession(fd int) (*session, error) {
	c, err := protocol.NewConn(fd, false)
	if err != nil {
		return nil, err
	}
	pid, err := c.Peer()
	if err == nil { // a program of a sandbox would start others outside
		err = proc.CheckUnmarked(pid)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return &session{Conn: c, pid: pid, wake: make(chan struct{}, 1)}, nil
}

// say sends a packet. One that comes too late for a server that has left is no error: what that has said before counts,
// and receive tells when that is all. Of one that left without reading everything the kernel says so once, to whoever
// sends or receives next (ECONNRESET).
func (s *session) say(p protocol.Packet, files ...int) error {
	if err := s.Send(p, files...); !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return err
	}
	return nil
}

// serve does what the server asks for until it leaves or says nonsense. With greeted it has been welcome to the keeper
// that this process was before.
func (k *keeper) serve(s *session, greeted bool) {
	go k.tell(s)
	err := k.hello(s, greeted)
	for err == nil {
		err = k.handle(s)
	}
	if !errors.Is(err, io.EOF) {
		k.log.Warn("hung up on the server", "server", s.pid, "error", err)
	}
	s.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	close(s.wake)
	k.server = nil
	k.changed()
}

// hello waits for the first packet and answers it, and makes every exit unreported for this server.
func (k *keeper) hello(s *session, greeted bool) error {
	if !greeted {
		if err := s.SetReadDeadline(time.Now().Add(protocol.HelloTimeout)); err != nil {
			return err
		}
		p, err := s.Receive()
		if err != nil {
			return err
		}
		if p.Op != protocol.OpHello {
			protocol.CloseFiles(p.FDs)
			return fmt.Errorf("%w: %s before %s", protocol.ErrNonsense, p.Op, protocol.OpHello)
		}
		if err := s.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	if err := s.say(protocol.Packet{Op: protocol.OpWelcome, Version: protocol.Version, Release: k.Release,
		PID: os.Getpid(), Born: k.born, Programs: true, Reports: true}); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.kept {
		h.told = false
	}
	s.wakeTell()
	return nil
}

// handle receives one request and carries it out.
func (k *keeper) handle(s *session) error {
	p, err := s.Receive()
	if errors.Is(err, unix.EMFILE) && p.Op != "" {
		return k.answer(s, p, err)
	}
	if err != nil {
		return err
	}
	if k.light(p) {
		k.memory.quiet.Reset(restAfter)
	} else {
		k.memory.busy()
	}
	switch p.Op {
	case protocol.OpTake:
		return k.take(s, p)
	case protocol.OpStart, protocol.OpRun:
		select {
		case k.jobs <- func() { k.start(s, p) }:
			return nil
		default: // no client of ours has so many on their way: some hang in the kernel
			protocol.CloseFiles(p.FDs)
			return k.answer(s, p, unix.EAGAIN)
		}
	case protocol.OpAdopt:
		return k.answer(s, p, k.adopt(p))
	case protocol.OpRelease:
		k.release(p.ID)
		return k.answer(s, p, nil)
	case protocol.OpUpgrade:
		err := k.finishStarts()
		if err == nil {
			err = k.become(s, p.Argv)
		}
		return k.answer(s, p, err)
	}
	protocol.CloseFiles(p.FDs)
	return fmt.Errorf("%w: %s out of turn", protocol.ErrNonsense, p.Op)
}

// light reports whether a request is part of a shell's command, which comes often and leaves nothing: files that are
// held, or released.
func (k *keeper) light(p protocol.Packet) bool {
	switch p.Op {
	case protocol.OpAdopt:
		return p.Kind == protocol.KindFiles
	case protocol.OpRelease:
		k.mu.Lock()
		defer k.mu.Unlock()
		h := k.kept[p.ID]
		return h != nil && h.Kind == protocol.KindFiles
	}
	return false
}

// answer sends the result of a request.
func (k *keeper) answer(s *session, p protocol.Packet, err error) error {
	switch {
	case err != nil && p.Number == 0:
		k.log.Warn("request without an answer", "op", p.Op, "id", p.ID, "error", err)
		return nil
	case err != nil:
		return s.say(protocol.Packet{Op: protocol.OpFailed, Number: p.Number, Failure: protocol.FailureOf(err)})
	case p.Number == 0:
		return nil
	}
	return s.say(protocol.Packet{Op: protocol.OpDone, Number: p.Number})
}

// take sends everything that is held. Descriptors stay open meanwhile: only this goroutine releases.
func (k *keeper) take(s *session, p protocol.Packet) error {
	k.mu.Lock()
	list := make([]held, 0, len(k.kept))
	for _, h := range k.kept {
		list = append(list, *h)
	}
	k.mu.Unlock()
	for _, h := range list {
		kept := protocol.Packet{Op: protocol.OpKept, Number: p.Number, ID: h.ID, Kind: h.Kind, PID: h.PID,
			Adopted: h.Adopted, Exit: h.Exit}
		if err := s.say(kept, h.Files...); err != nil {
			return err
		}
	}
	return k.answer(s, p, nil)
}

// adopt holds files, or what another keeper has held. It owns the packet's descriptors. What is held already stays as
// it is. Errors: ErrTaken.
func (k *keeper) adopt(p protocol.Packet) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.kept[p.ID]
	if old == nil {
		k.kept[p.ID] = &held{ID: p.ID, Kind: p.Kind, PID: p.PID, Files: p.FDs, Adopted: true, Exit: p.Exit}
		return nil
	}
	protocol.CloseFiles(p.FDs)
	if old.PID != p.PID {
		return fmt.Errorf("%w: %s by process %d", protocol.ErrTaken, p.ID, old.PID)
	}
	return nil
}

// release forgets an id.
func (k *keeper) release(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.kept[id]; h != nil {
		delete(k.kept, id)
		protocol.CloseFiles(h.Files)
		k.changed()
	}
}

// tell sends exits until the session is over.
func (k *keeper) tell(s *session) {
	for range s.wake {
		for _, p := range k.untold(s) {
			if err := s.say(p); err != nil {
				s.Close() // which ends serve
				break
			}
		}
	}
}

// untold are the exits that the server was not told yet, none when it has left.
func (k *keeper) untold(s *session) []protocol.Packet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.server != s {
		return nil
	}
	var list []protocol.Packet
	for _, h := range k.kept {
		if h.Exit != nil && !h.told {
			h.told = true
			list = append(list, protocol.Packet{Op: protocol.OpExited, ID: h.ID, Exit: h.Exit})
		}
	}
	return list
}

// wakeTell lets tell look. The keeper's lock is held.
func (s *session) wakeTell() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
