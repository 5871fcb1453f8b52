package local

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// localPipeMost is the most that one read takes out of a pipe at the end, in bytes: the largest pipe that Linux gives a user (pipe-max-size, pipe(7)).
const localPipeMost = 1 << 20

// localPipes are the standard input, output and error of one command. They are not those of exec.Cmd, which after its WaitDelay leaves in the pipe what the command has written.
type localPipes struct {
	ours, theirs []*os.File
	move         []func() // one for each of ours
	moving       sync.WaitGroup
}

// openPipes connects a command that is not started. Whatever becomes of it, close has to be called.
func openPipes(cmd *exec.Cmd, stdin []byte, stdout, stderr io.Writer) (*localPipes, error) {
	p := &localPipes{}
	if len(stdin) > 0 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		cmd.Stdin = r
		p.add(w, r, func() {
			_, _ = w.Write(stdin) // a command need not read it
			_ = w.Close()
		})
	}
	for _, o := range []struct {
		end *io.Writer
		to  io.Writer
	}{{&cmd.Stdout, stdout}, {&cmd.Stderr, stderr}} {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, err
		}
		*o.end = w
		p.add(r, w, func() { pass(r, o.to) })
	}
	return p, nil
}

func (p *localPipes) add(ours, theirs *os.File, move func()) {
	p.ours, p.theirs, p.move = append(p.ours, ours), append(p.theirs, theirs), append(p.move, move)
}

// begin moves bytes from now on. The command has been started and has its ends.
func (p *localPipes) begin() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
	for _, move := range p.move {
		p.moving.Go(move)
	}
}

// end returns when all that the command has written is with the writers. The command has ended; who else holds its output is heard for so long.
func (p *localPipes) end(rest time.Duration) {
	for _, f := range p.ours {
		_ = f.SetDeadline(time.Now().Add(rest))
	}
	p.moving.Wait()
}

func (p *localPipes) close() {
	for _, f := range slices.Concat(p.ours, p.theirs) {
		_ = f.Close() // again, most of them
	}
}

// pass copies output until nobody can write any more, or until the deadline of r, and then what is in the pipe at that instant: a command that has ended has written before,
// however late its output is taken. It ends too when w fails.
func pass(r *os.File, w io.Writer) {
	defer r.Close()
	if _, err := io.Copy(w, r); !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	c, err := r.SyscallConn()
	if err != nil {
		return
	}
	left, n := make([]byte, localPipeMost), 0
	_ = c.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), left) }) // os.Pipe is non-blocking
	if n > 0 {
		_, _ = w.Write(left[:n])
	}
}
