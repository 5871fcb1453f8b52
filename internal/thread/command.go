package thread

import (
	"time"

	"github.com/evertty/evertty/wire"
)

// CommandStatus is the state of a command.
type CommandStatus = wire.CommandStatus

// The statuses of a command.
const (
	CommandQueued    = wire.CommandStatusQueued
	CommandRunning   = wire.CommandStatusRunning
	CommandDone      = wire.CommandStatusDone
	CommandCancelled = wire.CommandStatusCancelled
	CommandFailed    = wire.CommandStatusFailed
)

// Command is the row of one command; what it printed is in files.
type Command struct {
	ID          string
	Terminal    string
	Runtime     string
	Line        string
	Cwd         string
	Env         map[string]string // of this command alone; it may have secrets
	Background  bool
	PID         int
	Status      CommandStatus
	ExitCode    *int // nil until it has one
	StdoutBytes int64
	StderrBytes int64
	Reason      string // why the session had it ended: the session's CloseReason
	Log         string // the directory of what it printed
	StartedAt   time.Time
	FinishedAt  time.Time
}

// Ended reports whether nothing can change any more.
func (c Command) Ended() bool { return c.Status != CommandQueued && c.Status != CommandRunning }
