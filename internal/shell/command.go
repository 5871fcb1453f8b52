package shell

import "github.com/evertty/evertty/internal/shell/history"

// These types of package history are what callers of a shell submit and get.

type (
	// Command is what to run.
	Command = history.Command
	// Result is how a command ended.
	Result = history.Result
	Info   = history.Info
	Status = history.Status
	Stream = history.Stream
	Spec   = history.Spec
)

// The statuses of commands, and their outputs.
const (
	Queued    = history.Queued
	Running   = history.Running
	Done      = history.Done
	Cancelled = history.Cancelled
	Failed    = history.Failed

	Stdout = history.Stdout
	Stderr = history.Stderr
)

// MaxStdin is the most that Command.Stdin may have, in bytes.
const MaxStdin = history.MaxStdin
