package shell

import (
	"errors"

	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/stdio"
)

// Sentinels of the package; httpapi maps them to status codes.
var (
	ErrInvalid      = history.ErrInvalid
	ErrBadEnv       = history.ErrBadEnv
	ErrQueueFull    = errors.New("too many commands wait")                                   // maxQueue
	ErrQueueTimeout = errors.New("the command did not get its turn in time and was not run") // Command.QueueTimeout
	ErrUnended      = errors.New("the command, or something that it started, still runs")
	// ErrMoved is of a command that was approved for another directory than the one it would begin in.
	ErrMoved   = errors.New("the shell has left the directory that the command was approved in; it was not run")
	ErrDeleted = errors.New("the shell was deleted") // SESSION_DESTROYED
	// ErrTimedOut and ErrCancelled end Exec.Running.
	ErrTimedOut  = errors.New("timed out")
	ErrCancelled = errors.New("cancelled")
	// SESSION_TERMINATED: it cannot be started again
	ErrEnded    = bash.ErrEnded
	ErrNotFound = errors.New("no such command")
	ErrNoStdin  = stdio.ErrNoStdin
	ErrFinished = stdio.ErrFinished
	ErrNoSpace  = shelldir.ErrNoSpace
	ErrNoFiles  = shelldir.ErrNoFiles
	ErrDamaged  = shelldir.ErrDamaged
	ErrClosing  = bash.ErrClosing
)
