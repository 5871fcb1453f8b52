package shell

import "github.com/evertty/evertty/internal/shell/history"

type (
	// Command is what to run.
	Command = history.Command
	// Result is how a command ended.
	Result = history.Result
	// Info is the state of a command.
	Info = history.Info
	// Status is the state of a command.
	Status = history.Status
	// Stream is one output of a command: stdout or stderr.
	Stream = history.Stream
	// Spec is how a shell is started.
	Spec = history.Spec
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

// LoginText begins the Text of a command that reads the files of a login shell first.
const LoginText = history.LoginText

// MaxStdin is the most that Command.Stdin may have, in bytes.
const MaxStdin = history.MaxStdin
