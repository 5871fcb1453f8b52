package proc

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Plan is a program to execute that was found runnable: all that is left to fail is the kernel. It is plain data, so
// that another process can carry it out. It may hold any bytes but NUL: package json would change those that are not
// UTF-8.
type Plan struct {
	Path string   `json:"path"` // absolute, of the executable file
	Argv []string `json:"argv"`
	Env  []string `json:"env"` // NAME=VALUE, all of it
	Dir  string   `json:"dir"` // absolute

	// Tag marks the program and all that it starts, see [Tag]; 0 is none. While a plan with one is executed this
	// process must start nothing else.
	Tag uint64 `json:"brand,omitempty"`

	// Reports says that Path is a program of ours that executes another one in its place. It writes on descriptor
	// 3 why it cannot ([Report]), and this descriptor closes when the other program runs.
	Reports bool `json:"-"`
}

// Exec forks and runs the plan in a new session with files as descriptors 0, 1 and 2, default signal dispositions and
// no blocked signal, and returns when the new program runs. With ctty, files[0] becomes the controlling terminal of
// that session, and is made blocking, as programs expect of a terminal. It does not wait for, reap or watch the
// process: whoever calls it does. The pidfd is close-on-exec and the caller's; files stay the caller's.
//
// A failed Exec leaves no process. Errors: ErrNoCommand, ErrBadArg, and the kernel's own when it has no further
// process; of a plan with Reports also ErrUnsupported.
func (p Plan) Exec(files [3]int, ctty bool) (pid, pidfd int, err error) {
	if p.Path == "" || len(p.Argv) == 0 {
		return 0, -1, fmt.Errorf("pty: start: %w: none given", ErrNoCommand)
	}
	if ctty {
		if err := unix.SetNonblock(files[0], false); err != nil {
			return 0, -1, fmt.Errorf("pty: start %q: terminal: %w", p.Argv[0], err)
		}
	}
	all := []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])}
	if p.Reports {
		return p.forkReporting(all, ctty)
	}
	if pid, pidfd, err = p.fork(all, ctty); err != nil {
		return 0, -1, fmt.Errorf("pty: start %q: %w", p.Argv[0], err)
	}
	return pid, pidfd, nil
}

// fork is Exec without its checks.
func (p Plan) fork(files []uintptr, ctty bool) (pid, pidfd int, err error) {
	pidfd = -1
	attr := &syscall.ProcAttr{
		Dir: p.Dir, Env: p.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: ctty, Ctty: 0, PidFD: &pidfd},
	}
	err = withDefaultSignals(func() error {
		return withTag(p.Tag, func() (err error) {
			pid, err = syscall.ForkExec(p.Path, p.Argv, attr)
			return err
		})
	})
	if err != nil {
		return 0, -1, execReason(err)
	}
	if pidfd >= 0 {
		return pid, pidfd, nil
	}
	// A kernel that cannot make one while it forks (clone(2), Linux 5.2).
	if pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		KillChild(pid)
		return 0, -1, fmt.Errorf("pidfd_open, which needs Linux 5.3: %w", err)
	}
	return pid, pidfd, nil
}

// KillChild ends and reaps a child of this process.
func KillChild(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// execReason turns what fork and exec answered into one of our errors.
func execReason(err error) error {
	switch {
	case errors.Is(err, unix.E2BIG):
		return fmt.Errorf("%w: arguments and environment are too long together: %w", ErrBadArg, err)
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%w: its interpreter is missing: %w", ErrNoCommand, err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOEXEC),
		errors.Is(err, unix.ETXTBSY), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELIBBAD),
		errors.Is(err, unix.EINVAL), errors.Is(err, unix.ELOOP):
		return fmt.Errorf("%w: %w", ErrNoCommand, err)
	}
	return err
}
