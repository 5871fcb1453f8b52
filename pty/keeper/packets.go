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

// exited reports the end of a child to its owner.
func (c *Client) exited(l *link, id string, e *pty.Exit) {
	switch k := c.held.exited(id, e); {
	case k == nil:
		l.noteExit(id, e)
	case k.child != nil:
		k.child.Exited(*e)
	}
}

// found adds a thing that the keeper has held.
func (c *Client) found(l *link, p protocol.Packet) {
	if c.held.has(p.ID) {
		protocol.CloseFiles(p.FDs)
		return
	}
	e := &entry{id: p.ID, kind: kindOf(p, l.pid)}
	var program *Program
	var err error
	if e.kind == protocol.KindTerminal {
		if e.terminal, err = assemble(p); err == nil {
			e.child = e.terminal.Process.Child()
		}
	} else if program, e.files, err = assembleProgram(p, e.kind); err == nil {
		e.child = program.Child
	}
	if err != nil {
		c.log.Warn("the keeper holds something that is not what it should be", "id", p.ID, "kind", p.Kind, "pid", p.PID,
			"error", err)
		return
	}
	exit := (*pty.Exit)(p.Exit)
	c.held.addFound(e, program, exit)
	switch {
	case e.child == nil:
	case exit != nil:
		e.child.Exited(*exit)
	case p.Adopted:
		e.child.Orphaned()
	}
}

// kindOf is the kind of a held thing. A keeper that was replaced by one from before there were kinds, and then by this
// release, has lost them.
func kindOf(p protocol.Packet, keeper int) string {
	if p.Kind != protocol.KindTerminal {
		return p.Kind
	}
	if p.PID == keeper {
		return protocol.KindFiles
	}
	if len(p.FDs) == terminalFiles {
		if _, err := unix.IoctlGetInt(p.FDs[1], unix.TIOCGPTN); err == nil {
			return protocol.KindTerminal
		}
	}
	return protocol.KindProgram
}

// terminalFiles is how many descriptors come with a terminal: pidfd, master, both ends of its pipe.
const terminalFiles = 4

// assemble makes a terminal of its parts. It owns the packet's descriptors.
func assemble(p protocol.Packet) (*Held, error) {
	if len(p.FDs) != terminalFiles {
		protocol.CloseFiles(p.FDs)
		return nil, fmt.Errorf("%w: %d descriptors instead of %d", ErrNonsense, len(p.FDs), terminalFiles)
	}
	master, err1 := pty.NewMaster(p.FDs[1])
	pipe, err2 := pty.PipeOf(p.FDs[2], p.FDs[3])
	err := errors.Join(err1, err2)
	if err != nil {
		protocol.CloseFiles(p.FDs[:1])
	} else {
		var child *pty.Child
		if child, err = pty.Adopt(p.PID, p.FDs[0]); err == nil {
			return &Held{ID: p.ID, Process: pty.Join(master, child), Pipe: pipe}, nil
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
	call := l.answered(p.Number)
	if call != nil && call.begins() && p.Op == protocol.OpDone && !call.abandoned {
		call.err = c.started(call, p)
		close(call.done)
		return
	}
	protocol.CloseFiles(p.FDs)
	switch {
	case call == nil:
		return
	case p.Op == protocol.OpFailed:
		call.err = p.Failure
		if call.op == protocol.OpAdopt { // Hold does not wait for the answer
			c.log.Warn("the keeper does not hold something", "id", call.id, "error", call.err)
		}
	case call.begins(): // and abandoned
		go c.Release(call.id) // not here: sending may wait until something is read
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
	e := &entry{id: call.id, kind: protocol.KindProgram, child: child, files: call.files}
	if call.op == protocol.OpStart {
		call.terminal = &Held{ID: call.id, Process: pty.Join(call.parts.master, child), Pipe: call.parts.pipe}
		e.kind, e.terminal = protocol.KindTerminal, call.terminal
	} else {
		call.program.Child = child
	}
	c.held.addStarted(e, call.exit)
	if call.exit != nil {
		child.Exited(*call.exit)
	}
	return nil
}

// abandon stops waiting for an answer, and reports whether there was none yet. What the keeper holds because of the
// request is released when the answer comes, or when there is a keeper again.
func (c *Client) abandon(l *link, call *call) bool {
	if !l.abandon(call) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != l {
		c.held.addReleased(call.id)
	}
	return true
}
