package pty

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Fill waits for output as [Master.Read] does, with the same end and the same errors, and moves up to limit bytes of it
// into p: without passing through this process's memory, unless p is plain. It takes all there is, as far as p has
// room; a limit of 64 KiB saves most of the wake-ups in a flood. One Read or Fill runs at a time.
//
// Further errors: ErrPipeFull when p has no room at all, and as splice(2): EINVAL from a kernel that cannot splice a
// terminal. Nothing was taken then, so that the caller may move bytes out of p, or make it plain, and go on.
func (m *Master) Fill(p *Pipe, limit int) (int, error) {
	if limit <= 0 {
		return 0, nil
	}
	return m.output("fill", func(fd int) (n int, err error) {
		err = p.Control(func(r, w int) (err error) {
			if p.isPlain() {
				n, err = p.fillHeld(r, fd, limit)
			} else {
				n, err = spliceIn(fd, w, limit, p.isEmpty(r))
				p.filled += n
			}
			return err
		})
		return n, err
	})
}

// isEmpty reports whether nothing is in the kernel's pipe; false where that is not known.
func (p *Pipe) isEmpty(r int) bool {
	if p.filled < 0 {
		if n, err := proc.Uint32Now(r, unix.TIOCINQ); err == nil && n == 0 { // which is FIONREAD
			p.filled = 0
		}
	}
	return p.filled == 0
}

// fillHeld is Fill without splice: the bytes wait in memory.
func (p *Pipe) fillHeld(r, fd, limit int) (int, error) {
	if err := p.gather(r); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) >= heldMax {
		return 0, ErrPipeFull
	}
	have := len(p.held)
	p.held = slices.Grow(p.held, limit)
	// The terminal is non-blocking: this read is as short as the copy that it is.
	n, err := take(fd, p.held[have:have+limit])
	p.held = p.held[:have+n]
	return n, err
}

// Fill is [Master.Fill].
func (p *Process) Fill(pipe *Pipe, limit int) (int, error) { return p.master.Fill(pipe, limit) }
