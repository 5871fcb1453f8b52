package keeper

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// handle acts on one packet of the keeper. It owns the packet's descriptors and runs in the one goroutine that reads
// the link. Errors: ErrNonsense.
func (c *Client) handle(l *link, p protocol.Packet) error {
	switch p.Op {
	case protocol.OpExited:
		c.exited(l, p.ID, (*pty.Exit)(p.Exit))
	case protocol.OpKept:
		c.found(l, p)
	case protocol.OpDone, protocol.OpFailed:
		c.answered(l, p)
	case protocol.OpWelcome: // after an upgrade
		l.upgraded(p)
	default:
		protocol.CloseFiles(p.FDs)
		return fmt.Errorf("%w: %s out of turn", ErrNonsense, p.Op)
	}
	return nil
}

// exited tells a child's owner that it has ended.
func (c *Client) exited(l *link, id string, e *pty.Exit) {
	c.mu.Lock()
	k := c.held[id]
	if k != nil && k.child != nil {
		k.end(e)
	}
	c.mu.Unlock()
	if k != nil {
		if k.child != nil {
			k.child.Exited(*e)
		}
		return
	}
	l.ended(id, e)
}

// found takes in a thing that the keeper has held.
func (c *Client) found(l *link, p protocol.Packet) {
	if c.holds(p.ID) {
		protocol.CloseFiles(p.FDs)
		return
	}
	k := &entry{id: p.ID, kind: kindOf(p, l.pid)}
	var program *Program
	var err error
	if k.kind == protocol.KindTerminal {
		if k.terminal, err = assemble(p); err == nil {
			k.child = k.terminal.Process.Child()
		}
	} else if program, k.files, err = assembleProgram(p, k.kind); err == nil {
		k.child = program.Child
	}
	if err != nil {
		c.log.Warn("the keeper holds something that is not what it should be", "id", p.ID, "kind", p.Kind, "pid", p.PID,
			"err", err)
		return
	}
	c.takeIn(k, program, (*pty.Exit)(p.Exit), p.Adopted)
}

// takeIn notes what was found, for Take or TakePrograms.
func (c *Client) takeIn(k *entry, program *Program, e *pty.Exit, adopted bool) {
	c.mu.Lock()
	c.held[k.id] = k
	if program != nil {
		c.programs = append(c.programs, program)
	} else {
		c.taken = append(c.taken, k.terminal)
	}
	if k.child != nil {
		k.end(e)
	}
	c.mu.Unlock()
	switch {
	case k.child == nil:
	case e != nil:
		k.child.Exited(*e)
	case adopted:
		k.child.Orphaned()
	}
}

// kindOf is the kind of a kept thing. A keeper that was replaced by one from before there were kinds, and has come
// back, has lost them.
func kindOf(p protocol.Packet, keeper int) string {
	if p.Kind != protocol.KindTerminal {
		return p.Kind
	}
	if p.PID == keeper {
		return protocol.KindFiles
	}
	if len(p.FDs) == keptFiles {
		if _, err := unix.IoctlGetInt(p.FDs[1], unix.TIOCGPTN); err == nil {
			return protocol.KindTerminal
		}
	}
	return protocol.KindProgram
}

func (c *Client) holds(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held[id] != nil
}

// keptFiles is how many descriptors come with a terminal: pidfd, master, both ends of its pipe.
const keptFiles = 4

// assemble makes a terminal of its parts. It owns the packet's descriptors.
func assemble(p protocol.Packet) (*Kept, error) {
	if len(p.FDs) != keptFiles {
		protocol.CloseFiles(p.FDs)
		return nil, fmt.Errorf("%w: %d descriptors instead of %d", ErrNonsense, len(p.FDs), keptFiles)
	}
	master, err1 := pty.NewMaster(p.FDs[1])
	pipe, err2 := pty.PipeOf(p.FDs[2], p.FDs[3])
	err := errors.Join(err1, err2)
	if err != nil {
		protocol.CloseFiles(p.FDs[:1])
	} else {
		var child *pty.Child
		if child, err = pty.Adopt(p.PID, p.FDs[0]); err == nil {
			return &Kept{ID: p.ID, Process: pty.Join(master, child), Pipe: pipe}, nil
		}
	}
	if err1 == nil {
		_ = master.Close()
	}
	if err2 == nil {
		_ = pipe.Close()
	}
	return nil, err
}

// answered ends a request.
func (c *Client) answered(l *link, p protocol.Packet) {
	call := l.take(p.Number)
	switch {
	case call == nil:
		protocol.CloseFiles(p.FDs)
		return
	case p.Op == protocol.OpFailed:
		call.err = p.Failure
		if call.op == protocol.OpAdopt { // nobody else tells
			c.log.Warn("the keeper does not hold something", "id", call.id, "err", call.err)
		}
		protocol.CloseFiles(p.FDs)
	case call.abandoned:
		protocol.CloseFiles(p.FDs)
		if call.begins() {
			go c.Release(call.id) // not here: sending may wait until something is read
		}
	case call.begins():
		call.err = c.started(call, p)
	default:
		protocol.CloseFiles(p.FDs)
	}
	close(call.done)
}

// started completes a call whose program runs now. Exits that come after this packet find it.
func (c *Client) started(call *call, p protocol.Packet) error {
	if len(p.FDs) != 1 || p.PID <= 0 {
		protocol.CloseFiles(p.FDs)
		return fmt.Errorf("%w: a start without a process", ErrNonsense)
	}
	child, err := pty.Adopt(p.PID, p.FDs[0])
	if err != nil {
		go c.Release(call.id)
		return err
	}
	k := &entry{id: call.id, kind: protocol.KindProgram, child: child, files: call.files}
	if call.op == protocol.OpStart {
		call.kept = &Kept{ID: call.id, Process: pty.Join(call.parts.master, child), Pipe: call.parts.pipe}
		k.kind, k.terminal = protocol.KindTerminal, call.kept
	} else {
		call.program.Child = child
	}
	c.mu.Lock()
	c.held[call.id] = k
	k.end(call.exit)
	delete(c.drop, call.id)
	c.mu.Unlock()
	if call.exit != nil {
		child.Exited(*call.exit)
	}
	return nil
}

// abandon stops waiting for an answer, and reports whether there was none yet. What the keeper holds because of the
// request is released when the answer comes, or when there is a keeper again.
func (c *Client) abandon(l *link, call *call) bool {
	if !l.leave(call) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != l {
		c.drop[call.id] = true
	}
	return true
}
