package proc

import "errors"

// The errors of this package. They come wrapped with what was tried and why it failed; test for them with errors.Is.
var (
	// ErrNoCommand means that the command does not exist, cannot be executed, or was not given.
	ErrNoCommand = errors.New("command cannot be run")
	// ErrBadArg means that an argument holds a NUL byte or that the arguments are longer than the kernel takes.
	ErrBadArg = errors.New("bad argument")
	// ErrExited means that the process has ended.
	ErrExited = errors.New("child has exited")
	// ErrSurvived means that a process of the tree is still there after SIGKILL (stuck in the kernel, or another
	// user's).
	ErrSurvived = errors.New("processes survived")
)
