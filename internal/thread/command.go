package thread

import (
	"fmt"
	"slices"
	"time"
)

// CommandStatus says where a command is in its life.
type CommandStatus string

// The statuses of a command.
const (
	CommandQueued    CommandStatus = "queued"
	CommandRunning   CommandStatus = "running"
	CommandDone      CommandStatus = "done"
	CommandCancelled CommandStatus = "cancelled"
	CommandFailed    CommandStatus = "failed" // it never got an exit code
)

// CommandArrows has the allowed changes of a command's status.
var CommandArrows = map[CommandStatus][]CommandStatus{
	CommandQueued:    {CommandRunning, CommandDone, CommandCancelled, CommandFailed},
	CommandRunning:   {CommandDone, CommandCancelled, CommandFailed},
	CommandDone:      {},
	CommandCancelled: {},
	CommandFailed:    {},
}

// Command is the conversation of one command; what it printed is in files.
type Command struct {
	ID          string            `json:"command_id"`
	Terminal    string            `json:"terminal_id"`
	Runtime     string            `json:"runtime_id,omitempty"`
	Line        string            `json:"command"`
	Cwd         string            `json:"cwd"`
	Env         map[string]string `json:"-"` // of this command alone; never told, it may hold secrets
	Background  bool              `json:"background"`
	PID         int               `json:"pid,omitempty"`
	Status      CommandStatus     `json:"status"`
	ExitCode    *int              `json:"exit_code"` // nil until it has one
	StdoutBytes int64             `json:"stdout_bytes"`
	StderrBytes int64             `json:"stderr_bytes"`
	Reason      string            `json:"reason,omitempty"` // why the session had it ended: the session's CloseReason
	Log         string            `json:"-"`                // the directory of what it printed
	StartedAt   time.Time         `json:"started_at,omitzero"`
	FinishedAt  time.Time         `json:"finished_at,omitzero"`
}

// Ended reports whether nothing can change any more.
func (c Command) Ended() bool { return c.Status != CommandQueued && c.Status != CommandRunning }

// To returns the command in the next status. Errors: ErrTransition.
func (c Command) To(next CommandStatus) (Command, error) {
	if c.Status != next && !slices.Contains(CommandArrows[c.Status], next) {
		return c, fmt.Errorf("%w: command %s is %s, not to be %s", ErrTransition, c.ID, c.Status, next)
	}
	c.Status = next
	return c, nil
}
