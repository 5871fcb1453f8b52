package keeper

import (
	"context"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// Program is what a keeper holds besides terminals: a process with files, or only files. Its owner waits for Child,
// closes Files, and calls [Client.Release].
type Program struct {
	ID    string
	Child *pty.Child // nil of files without a process
	Files []*os.File // the held files, in the order in which they were given; of this process, close-on-exec
}

// Run executes p in a new session without a controlling terminal, with std as its descriptors 0, 1 and 2, and has the
// keeper hold hold under the id, at most 249 files. std and hold stay the caller's; std become blocking, as programs
// expect of them. Files of the result are hold. Exactly one has to call Child.Wait. A failed Run leaves nothing, with
// the exception that [Client.Start] has; a program that was started nevertheless then runs on, and no keeper holds it.
// Errors: [Client.Start]'s, and ErrVersion when the keeper is an old one that could not be replaced.
func (c *Client) Run(id string, p proc.Plan, std [3]*os.File, hold ...*os.File) (*Program, error) {
	program, err := c.runPlan(id, p, std, hold)
	if err != nil {
		return nil, fmt.Errorf("keeper: run %q: %w", p.Path, err)
	}
	return program, nil
}

func (c *Client) runPlan(id string, p proc.Plan, std [3]*os.File, hold []*os.File) (*Program, error) {
	if err := checkHold(id, len(hold)); err != nil {
		return nil, err
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.exit()
	plan, err := protocol.WritePlan(p)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	l, err := c.await()
	if err == nil {
		err = l.knows(p)
	}
	if err == nil && !l.programs {
		err = fmt.Errorf("%w: process %d, release %q, holds terminals only", ErrVersion, l.pid, l.release)
	}
	if err != nil {
		return nil, err
	}
	program := &Program{ID: id, Files: slices.Clone(hold)}
	err = withFiles(append([]*os.File{plan, std[0], std[1], std[2]}, hold...), func(files []int) error {
		return c.runWith(l, program, p, files)
	})
	if err != nil {
		return nil, err
	}
	return program, nil
}

// runWith sends what the keeper receives of a run and completes the program with the answer.
func (c *Client) runWith(l *link, program *Program, plan proc.Plan, files []int) error {
	for _, fd := range files[protocol.RunFiles-3 : protocol.RunFiles] {
		if err := unix.SetNonblock(fd, false); err != nil {
			return err
		}
	}
	own, err := duplicates(files[protocol.RunFiles:])
	if err != nil {
		return err
	}
	call := l.begin(protocol.OpRun, program.ID)
	call.program, call.files = program, own
	err = c.answer(l, call, l.Conn.Send(protocol.Packet{Op: protocol.OpRun, Number: call.number, ID: program.ID,
		Tag: plan.Tag, Reports: plan.Reports}, files...))
	if err != nil {
		protocol.CloseFiles(own)
	}
	return err
}

// checkHold checks a request to hold files. Errors: ErrNonsense.
func checkHold(id string, files int) error {
	if id == "" || len(id) > protocol.MaxID {
		return fmt.Errorf("%w: id of %d bytes", ErrNonsense, len(id))
	}
	if files > protocol.MaxHold {
		return fmt.Errorf("%w: %d files, at most %d are possible", ErrNonsense, files, protocol.MaxHold)
	}
	return nil
}

// Hold has the keeper hold files under an id until Release, 1 to 249. They stay the caller's. It returns when the
// request is on its way, before it is carried out, and what the caller asks for later is carried out after it: a server
// that dies then has them held. While there is no keeper they are kept for the next one, like all that is held. Errors:
// ErrNonsense, ErrClosed, ErrTaken when something is held under the id, which stays; EMFILE.
func (c *Client) Hold(id string, files ...*os.File) error {
	err := checkHold(id, len(files))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: no files", ErrNonsense)
	}
	if err == nil {
		err = withFiles(files, func(files []int) error { return c.holdFiles(id, files) })
	}
	if err != nil {
		return fmt.Errorf("keeper: hold %s: %w", id, err)
	}
	return nil
}

func (c *Client) holdFiles(id string, files []int) error {
	l, err := c.remember(id, files)
	if l == nil || err != nil {
		return err
	}
	p := protocol.Packet{Op: protocol.OpAdopt, ID: id, Kind: protocol.KindFiles, PID: l.pid}
	if !l.programs { // an old keeper knows no adoption without an answer
		p.Number = l.begin(protocol.OpAdopt, id).number
	}
	if err := l.Conn.Send(p, files...); err != nil {
		l.Close() // the next keeper gets them with the rest
	}
	return nil
}

// remember keeps duplicates of files for the next keeper, and returns the connection to this one, nil when there is
// none. Errors: ErrClosed, ErrTaken, EMFILE.
func (c *Client) remember(id string, files []int) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if err := c.held.addFiles(id, files); err != nil {
		return nil, err
	}
	c.mustRepeat = c.mustRepeat || c.link == nil
	return c.link, nil
}

// TakePrograms returns what the keeper held at Connect besides terminals, once; it is the caller's then. Errors:
// ctx.Err().
func (c *Client) TakePrograms(ctx context.Context) ([]*Program, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("keeper: take: %w", err)
	}
	return take(c.held, &c.held.programs), nil
}

// withFiles calls f with the descriptors of files, which stay open meanwhile and what they are.
func withFiles(files []*os.File, f func(fds []int) error) error {
	return nest(files, make([]int, 0, len(files)), f)
}

func nest(files []*os.File, fds []int, f func(fds []int) error) error {
	if len(files) == 0 {
		return f(fds)
	}
	conn, err := files[0].SyscallConn()
	if err != nil {
		return err
	}
	return proc.Control(conn, func(fd int) error { return nest(files[1:], append(fds, fd), f) })
}

// duplicates are close-on-exec copies of descriptors, which the caller owns.
func duplicates(files []int) ([]int, error) {
	list := make([]int, 0, len(files))
	for _, fd := range files {
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			protocol.CloseFiles(list)
			return nil, err
		}
		list = append(list, dup)
	}
	return list, nil
}

// assembleProgram makes a program of its parts, and the duplicates for another keeper. It owns the packet's
// descriptors.
func assembleProgram(p protocol.Packet, kind string) (*Program, []int, error) {
	program, hold := &Program{ID: p.ID}, p.FDs
	var err error
	if kind == protocol.KindProgram {
		hold = p.FDs[1:]
		program.Child, err = pty.Adopt(p.PID, p.FDs[0])
	}
	var own []int
	if err == nil {
		own, err = duplicates(hold)
	}
	if err != nil {
		protocol.CloseFiles(hold)
		return nil, nil, err
	}
	for _, fd := range hold {
		program.Files = append(program.Files, os.NewFile(uintptr(fd), p.ID))
	}
	return program, own, nil
}
