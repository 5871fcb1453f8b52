package pty

import (
	"errors"

	"github.com/evertty/evertty/internal/proc"
)

// The errors of this package. They come wrapped with what was tried and why it failed; test for them with errors.Is.
var (
	// ErrNoCommand means that the command does not exist, cannot be executed, or was not given.
	ErrNoCommand = proc.ErrNoCommand
	// ErrNoDir means that the working directory does not exist, is not a directory, or may not be entered.
	ErrNoDir = errors.New("working directory cannot be used")
	// ErrBadArg means that an argument holds a NUL byte or that the arguments are longer than the kernel takes.
	ErrBadArg = proc.ErrBadArg
	// ErrBadEnv means that an environment variable has no name, a name with '=', a NUL byte, or more than maxEnvEntry
	// bytes.
	ErrBadEnv = errors.New("bad environment variable")
	// ErrBadSize means that a terminal size is outside MinSize..MaxSize.
	ErrBadSize = errors.New("bad terminal size")
	// ErrBadSignal means that a signal is not one that may be sent.
	ErrBadSignal = errors.New("bad signal")
	// ErrNoPTY means that the system gives no further pseudo-terminal (kernel.pty.max, or no file descriptor left).
	ErrNoPTY = errors.New("no pseudo-terminal available")
	// ErrNotMaster means that a descriptor handed to NewMaster is not the master of a pseudo-terminal.
	ErrNotMaster = errors.New("not a pseudo-terminal master")
	// ErrNotPipe means that descriptors handed to PipeOf are not the two ends of one pipe.
	ErrNotPipe = errors.New("not the two ends of a pipe")
	// ErrPipeFull means that a Pipe has no room for further output until bytes are moved out of it.
	ErrPipeFull = errors.New("pipe is full")
	// ErrNotProcess means that a descriptor handed to Adopt is not a pidfd of the process it came with.
	ErrNotProcess = errors.New("not a descriptor of this process")
	// ErrBlocked means that the program did not take its input in time.
	ErrBlocked = errors.New("program does not read its input")
	// ErrLineTooLong means that input has a line that does not fit into the terminal's buffer, see MaxLine.
	ErrLineTooLong = errors.New("a line is too long for a program that reads whole lines")
	// ErrInterrupted means that Interrupt was called while nothing was read.
	ErrInterrupted = errors.New("interrupted")
	// ErrClosed means that the terminal was closed by this side.
	ErrClosed = errors.New("terminal is closed")
	// ErrUnsupported means that the kernel, the keeper, or the rights of this user cannot confine a program as it is
	// wanted.
	ErrUnsupported = proc.ErrUnsupported
	// ErrExited means that the child has exited.
	ErrExited = proc.ErrExited
)
