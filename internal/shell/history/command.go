// Package history keeps shells and their commands on disk, and has their types.
package history

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Errors of what a caller asks for.
var (
	ErrInvalid = errors.New("invalid command")
	// ErrBadEnv is of a name that is not ^[A-Za-z_][A-Za-z0-9_]*$ and of a value with NUL.
	ErrBadEnv = errors.New("invalid environment")
)

// Status says where a command is in its life.
type Status string

// The statuses. Only queued → running → one of the others is possible, and queued → cancelled or
// failed.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Done      Status = "done"
	Cancelled Status = "cancelled"
	Failed    Status = "failed" // it never got an exit code: it could not be started, or its shell was deleted
)

// Command is a command to run. Submit reads it and keeps nothing of it. Its tags name the keys of
// record.json.
type Command struct {
	Text string `json:"-"` // shell text, sourced by the shell; at most MaxText bytes, no NUL
	// Isolated runs Argv as one process beside the shell, in no queue: with the shell's directory
	// and environment, and without any other state of it.
	Isolated bool     `json:"isolated,omitzero"`
	Argv     []string `json:"argv,omitempty"`
	// Cwd is the directory of this command alone; relative ones are relative to the shell's. An
	// absent one ends the command with code 1 and the text on stderr.
	Cwd string            `json:"cwd,omitempty"`
	Env map[string]string `json:"env,omitempty"` // of this command alone
	// Within is the directory in which it may begin, as Shell.Directory tells it; in its turn it
	// fails with ErrMoved in another. "" is any.
	Within string `json:"within,omitempty"`
	// Timeout after which the command is cancelled with code 124; 0 means the shell's. It counts
	// from the start, without the wait for a turn.
	Timeout time.Duration `json:"timeout_ns,omitzero"`
	// QueueTimeout bounds the wait for a turn. A command that has not begun by then fails with
	// ErrQueueTimeout and never runs. 0 is no bound.
	QueueTimeout time.Duration `json:"queue_timeout_ns,omitzero"`
	Stdin        []byte        `json:"-"` // the command's input, then end of file; nil is end of file at once
	// StdinOpen lets Input write more after Stdin.
	StdinOpen bool `json:"stdin_open,omitzero"`
	// TTY is of commands that run on a terminal of their own; see Shell.Enroll.
	TTY bool `json:"tty,omitzero"`
	// Background runs the command beside those that follow it, as `{ … } &`.
	Background bool `json:"background,omitzero"`
	// MaxReply bounds what a reply or stream has of stdout and of stderr, in bytes; 0 means the
	// shell's. The log has more.
	MaxReply int64 `json:"max_reply,omitzero"`
	// MaxOutput bounds the logs of stdout and of stderr, in bytes; 0 means the shell's. The rest is
	// read and dropped.
	MaxOutput int64 `json:"max_output,omitzero"`
}

// Result is how a command ended. Its tags name the keys of record.json.
type Result struct {
	// ExitCode is bash's: 0..255, 124 after a timeout, 130 after a cancel.
	ExitCode  int  `json:"exit_code"`
	TimedOut  bool `json:"timed_out,omitzero"`
	Cancelled bool `json:"cancelled,omitzero"`
	// Background: it, or something it started, still holds its stdout or stderr: late output goes
	// to its log.
	Background bool `json:"background,omitzero"`
	// Truncated: a reply of MaxReply has not all, or the log has not; TruncatedReason says which,
	// one of Cut….
	Truncated       bool   `json:"truncated,omitzero"`
	TruncatedReason string `json:"truncated_reason,omitempty"`
	// Recreated: the shell had ended before this command and was started again with its state; Lost
	// names what could not be restored.
	Recreated bool     `json:"recreated,omitzero"`
	Lost      []string `json:"lost,omitempty"`
	// ShellEnded: the shell ended with this command (exit, exec, set -e, a signal, the second stage
	// of a cancel).
	ShellEnded bool   `json:"shell_ended,omitzero"`
	Cwd        string `json:"cwd"` // the shell's after the command
	// CwdFallback is the directory that was wanted when it is gone and the nearest parent was taken
	// instead.
	CwdFallback string `json:"cwd_fallback,omitempty"`
	// Reason is the reason that was given to Shell.Stop; "" when that did not end the command.
	Reason string `json:"ended_because,omitempty"`
}

// Status is the status of a command with the result.
func (r *Result) Status() Status {
	if r.Cancelled {
		return Cancelled
	}
	return Done
}

// Info is a command as lists show it. Its tags name the keys of record.json.
type Info struct {
	ID          string    `json:"id"`
	Shell       string    `json:"shell"`
	Command     string    `json:"command"`       // Text, or Argv quoted for a shell
	InFile      bool      `json:"long,omitzero"` // on disk alone: the text is in shelldir.TextFile
	Cwd         string    `json:"cwd"`           // where it began
	Status      Status    `json:"status"`
	Position    int       `json:"-"`            // in the queue, from 1; 0 of a command that is not in it
	PID         int       `json:"pid,omitzero"` // of the shell, the background subshell or the isolated process
	Background  bool      `json:"background,omitzero"`
	Isolated    bool      `json:"isolated,omitzero"`
	PTY         string    `json:"pty,omitempty"` // the terminal of a command that runs or ran on one; "" of others
	CreatedAt   time.Time `json:"created_at"`
	StartedAt   time.Time `json:"started_at,omitzero"`  // zero while queued
	FinishedAt  time.Time `json:"finished_at,omitzero"` // zero while it runs
	StdoutBytes int64     `json:"stdout_bytes"`         // in the log
	StderrBytes int64     `json:"stderr_bytes"`
	LogCut      string    `json:"-"`                // why the logs are not complete, an output.Cut…; "" when they are
	Error       string    `json:"error,omitempty"`  // why it Failed
	Result      *Result   `json:"result,omitempty"` // nil until it has ended
}

// Stream is one of a command's two outputs.
type Stream int

// The outputs.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// Check refuses what no shell runs. Errors: ErrInvalid, ErrBadEnv.
func (c *Command) Check() error {
	switch {
	case strings.ContainsRune(c.Text, 0) || len(c.Text) > MaxText:
		return fmt.Errorf("%w: the text has %d bytes, at most %d and no NUL are possible", ErrInvalid, len(c.Text),
			MaxText)
	case len(c.Stdin) > MaxStdin:
		return fmt.Errorf("%w: %d bytes of standard input, at most %d are possible", ErrInvalid, len(c.Stdin), MaxStdin)
	case strings.ContainsRune(c.Cwd, 0) || len(c.Cwd) >= maxPath:
		return fmt.Errorf("%w: directory %.80q", ErrInvalid, c.Cwd)
	case c.Timeout < 0 || c.QueueTimeout < 0 || c.MaxOutput < 0 || c.MaxReply < 0:
		return fmt.Errorf("%w: timeout %v, wait %v, output %d", ErrInvalid, c.Timeout, c.QueueTimeout, c.MaxOutput)
	case c.Isolated && (len(c.Argv) == 0 || c.Argv[0] == "" || slices.ContainsFunc(c.Argv,
		func(a string) bool { return strings.ContainsRune(a, 0) })):
		return fmt.Errorf("%w: an isolated command needs an argv without NUL", ErrInvalid)
	case !c.Isolated && c.Argv != nil:
		return fmt.Errorf("%w: an argv is for isolated commands", ErrInvalid)
	}
	return CheckEnv(c.Env)
}

// CheckEnv checks variables. The message never has a value, which may be secret. Errors: ErrBadEnv.
func CheckEnv(env map[string]string) error {
	total := 0
	for name, value := range env {
		if !variableName().MatchString(name) {
			return fmt.Errorf("%w: name %.80q", ErrBadEnv, name)
		}
		if strings.ContainsRune(value, 0) {
			return fmt.Errorf("%w: the value of %s holds a NUL byte", ErrBadEnv, name)
		}
		if total += len(name) + len(value); total > maxEnvironment {
			return fmt.Errorf("%w: more than %d bytes", ErrBadEnv, maxEnvironment)
		}
	}
	return nil
}

// variableName is what a shell can export.
var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// MaxText is the longest command, in bytes: generated scripts have some megabytes, and bash keeps
// all of it in memory.
const MaxText = 16 << 20

// MaxStdin is the most that Command.Stdin may have, in bytes; it is written to the disk before the
// command starts.
const MaxStdin = 64 << 20

// maxEnvironment is the most that the variables of one command or one SetEnv may have together, in
// bytes: four times what execve takes by default.
const maxEnvironment = 8 << 20

// maxPath is the longest directory, in bytes: PATH_MAX of Linux.
const maxPath = 4096

// idCharacters are those that an id may have.
const idCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
