package pty

import (
	"context"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Kill ends the child and everything it started, as [proc.Target.Kill] does; m, which may be nil or closed, is asked
// which session it controls. After the child's exit it ends what the child left behind. Errors: proc.ErrSurvived with
// the process ids.
func (c *Child) Kill(ctx context.Context, m *Master) error { return c.kill(ctx, m, 0) }

// kill is Kill, with a tag also of all that have it; see proc.Target.
func (c *Child) kill(ctx context.Context, m *Master, tag uint64) error {
	t := proc.Target{PID: c.pid, Start: c.birth, TTY: m.processes, Tag: tag}
	c.life.RLock()
	t.Ended = c.ended
	c.life.RUnlock()
	if c.birth == 0 && !c.groupLives() {
		t.Ended = proc.EndUnknown
	}
	if c.adoption != nil {
		t.Reaper = c.adoption.parent
	}
	err := t.Kill(ctx)
	if err != nil {
		// Without a view of the others the child at least has to go.
		_ = c.signal(unix.SIGKILL)
	}
	return err
}

// Kill is [Child.Kill] with this terminal. It does not close the terminal: the last words are still to be read.
func (p *Process) Kill(ctx context.Context) error { return p.child.Kill(ctx, p.master) }

// KillTagged is Kill, and ends with the tree all processes that have the tag, wherever they are. Processes of the tree
// with another tag are spared, with what these have started: a server in the terminal may hold programs that are not
// this one's.
func (p *Process) KillTagged(ctx context.Context, tag uint64) error {
	return p.child.kill(ctx, p.master, tag)
}

// processes returns what the terminal says of the processes that use it; nothing when it is nil or closed.
func (m *Master) processes() proc.TTY {
	if m == nil {
		return proc.TTY{}
	}
	session, err := m.session()
	dev, _ := proc.PTYAt(m.path)
	if err != nil || isClosed(m.closed) {
		return proc.TTY{}
	}
	return proc.TTY{Session: session, Device: dev}
}
