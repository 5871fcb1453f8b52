package pty

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Process is one child on one terminal. All methods may be called at the same time from several goroutines. Somebody
// has to Read until io.EOF and somebody has to Close: until then the terminal exists, also after the child's exit.
type Process struct {
	master *Master
	child  *Child
	exit   Exit          // valid when done is closed
	done   chan struct{} // closed when the child was reaped and its output has ended
}

// starting holds one value for every Start that is past its checks, which may hang on a dead file system.
var starting = make(chan struct{}, maxStarting)

// Start runs s on a new terminal.
//
// The child is the leader of its own session, has the terminal as its controlling one and as descriptors 0, 1 and 2, no
// other descriptor (given CloseInherited was called), default signal dispositions and no blocked signal. Its
// environment is PATH, HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE, TZ, TMPDIR, XDG_RUNTIME_DIR, LC_* and XDG_*_HOME of
// this process, TERM=xterm-256color, COLORTERM=truecolor, then s.Env, which wins, and PWD. PATH, HOME and LANG (C.UTF-8
// when no locale is set) have defaults. It inherits the limits and the file mode creation mask of this process.
//
// A failed Start leaves no process, descriptor or goroutine. Errors: ErrNoCommand, ErrBadArg, ErrNoDir, ErrBadEnv,
// ErrBadSize, ErrNoPTY, and the kernel's own when it has no further process.
func Start(s Spec) (*Process, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, fmt.Errorf("pty: start: %w", err)
	}
	starting <- struct{}{}
	defer func() { <-starting }()
	master, tty, err := OpenPair(s.Cols, s.Rows)
	if err != nil {
		return nil, err
	}
	child, err := spawn(plan, tty)
	_ = tty.Close()
	if err != nil {
		_ = master.Close()
		return nil, err
	}
	return Join(master, child), nil
}

// Join makes a Process of a terminal and the child on it, as Start does, from parts that came from elsewhere. It owns
// both from now on and waits for the child.
func Join(m *Master, c *Child) *Process {
	p := &Process{master: m, child: c, done: make(chan struct{})}
	watch := func() { go p.watch() }
	if _, err := proc.Await(c.conn, watch); err != nil {
		watch()
	}
	return p
}

// watch is the goroutine of a Process whose child has exited. It ends when the output was read to its end or the
// terminal was closed.
func (p *Process) watch() {
	p.exit = p.child.Wait()
	p.master.Drain()
	<-p.master.ended
	close(p.done)
}

// PID is the child's process id, which is also the number of its session.
func (p *Process) PID() int { return p.child.PID() }

// Device names the far end of the terminal, see FileDevice.
func (p *Process) Device() (name string, ok bool) { return p.master.Device() }

// Master is the near end of the terminal, for those who have to hand it to another process.
func (p *Process) Master() *Master { return p.master }

// Child is the program on the far end, for those who hear of its exit from another process. Process waits for it.
func (p *Process) Child() *Child { return p.child }

// Read is [Master.Read].
func (p *Process) Read(buf []byte) (int, error) { return p.master.Read(buf) }

// Write is [Master.Write].
func (p *Process) Write(ctx context.Context, data []byte) (int, error) {
	return p.master.Write(ctx, data)
}

// Resize is [Master.Resize].
func (p *Process) Resize(cols, rows int) error { return p.master.Resize(cols, rows) }

// Foreground is [Master.Foreground].
func (p *Process) Foreground() (int, error) { return p.master.Foreground() }

// Cwd is [Child.Cwd].
func (p *Process) Cwd() (string, error) { return p.child.Cwd() }

// Signal sends a signal to the foreground process group, as the keyboard does; when that group has just ended, to the
// child's own. Errors: ErrBadSignal, ErrExited, ErrClosed.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := checkSignal(sig); err != nil {
		return err
	}
	group, err := p.master.Foreground()
	if err != nil {
		return err
	}
	err = p.child.living(func() error {
		if group > 0 && group != p.child.pid {
			if err := unix.Kill(-group, sig); !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
		return p.child.signalGroup(sig)
	})
	if err != nil {
		return fmt.Errorf("pty: signal %s: %w", proc.SignalName(sig), err)
	}
	return nil
}

// Done is closed when the exit status is known: the child was reaped and its output was read to the end, or the
// terminal was closed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns how the child ended. Errors: context.Cause(ctx), when ctx ends first.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	select {
	case <-p.done: // also when both have happened
		return p.exit, nil
	default:
		return Exit{}, fmt.Errorf("pty: wait for %d: %w", p.PID(), context.Cause(ctx))
	}
}

// Close closes the terminal; see [Master.Close]. It kills nobody but those who do not survive SIGHUP: call Kill first.
func (p *Process) Close() error { return p.master.Close() }
