package proc

import "errors"

// The errors of this package. They come wrapped with what was tried and why it failed; test for them with errors.Is.
var (
	// ErrNoCommand means that the command does not exist, cannot be executed, or was not given.
	ErrNoCommand = errors.New("command cannot be run")
	// ErrBadArg means that an argument holds a NUL byte or that the arguments are longer than the kernel takes.
	ErrBadArg = errors.New("bad argument")
	// ErrUnsupported means that the kernel, or the rights of this user, cannot confine a program as it is wanted.
	ErrUnsupported = errors.New("not possible here")
	// ErrMarked means that a process is in a sandbox and asks for what it must not have.
	ErrMarked = errors.New("a program in a sandbox may not reach its server")
	// ErrExited means that the process has ended.
	ErrExited = errors.New("child has exited")
	// ErrSurvived means that a process of the tree is still there after SIGKILL (stuck in the kernel, or another
	// user's).
	ErrSurvived = errors.New("processes survived")
)
