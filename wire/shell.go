package wire

import "time"

// ShellInfo is a shell in a list.
type ShellInfo struct {
	// The shell's id.
	ID string `json:"id" pattern:"^[A-Za-z0-9._-]{1,64}$"`
	// Its session.
	Session string `json:"session" owned:"session"`
	// It is the one of calls that name no shell.
	Default bool `json:"default"`
	// Of bash; 0 while none runs.
	PID int `json:"pid" minimum:"0"`
	// Its directory now.
	Cwd string `json:"cwd"`
	// `ended`: bash has gone (exit, a signal), and comes back with the next command.
	State string `json:"state" enum:"running,ended,deleted"`
	// What its commands may touch, those on a terminal and beside the shell too.
	Sandbox Sandbox `json:"sandbox"`
	// A command runs.
	Busy bool `json:"busy"`
	// Commands that wait.
	Queued int `json:"queued" minimum:"0"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
}

// ShellList has shells, oldest first.
//
//schema:reply "The shells."
type ShellList struct {
	// The shells.
	Shells []ShellInfo `json:"shells"`
	// `after` of the next part, with limit; absent at the end. In the list of all sessions it is SESSION/ID.
	Next string `json:"next,omitempty"`
}

// Shell is a shell of a session.
//
//schema:reply "The shell."
type Shell struct {
	ShellInfo
	// It has read the profile files.
	Login bool `json:"login"`
	// Of commands that give none; 0 is none.
	CommandTimeoutMS int64 `json:"command_timeout_ms" minimum:"0"`
	// What the reply or stream of a command has of each output, where the command does not say. Its
	// logs have all up to their own bounds.
	MaxOutputBytes int64 `json:"max_output_bytes" minimum:"0"`
	// What was changed or added in its environment since its start.
	EnvDelta map[string]string `json:"env_delta"`
	// What was removed from it.
	EnvUnset []string `json:"env_unset"`
}

// CreateShell asks for a new shell.
type CreateShell struct {
	SessionRef
	// Its id; absent: the server gives one.
	ID string `json:"id,omitempty" pattern:"^[A-Za-z0-9._-]{1,64}$|^$"`
	// Where it begins; absent: the home directory.
	Cwd string `json:"cwd,omitempty"`
	// Added to the environment.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	//schema:additionalProperties {"type": "string"}
	Env map[string]*string `json:"env,omitempty"`
	// After which its commands are cancelled, where they do not say; 0 is never.
	CommandTimeoutMS int64 `json:"command_timeout_ms,omitempty" minimum:"0" maximum:"2592000000" default:"0"`
	// What the reply or stream of a command has of each output; 0 is the server's default. Its logs
	// have all up to their own bounds.
	MaxOutputBytes int64 `json:"max_output_bytes,omitempty" minimum:"0" maximum:"1073741824" default:"0"`
	// Read the profile files, as a login shell does.
	Login bool `json:"login,omitempty"`
	// What its commands may touch; "" is `none`. 501 CAPABILITY where the kernel cannot, and at a provider.
	Sandbox Sandbox `json:"sandbox,omitempty" enum:",none,workspace,read-only" default:"none"`
}

// Exec is a command to run: exactly one of `command` and `argv`.
//
//schema:oneOf [{"required": ["command"], "properties": {"argv": false}}, {"required": ["argv"],
//schema:and "properties": {"command": false}}]
type Exec struct {
	ShellRef
	// Shell text, of any length and number of lines. It is run in the shell itself, not in a
	// subshell: what it changes lasts.
	Command *string `json:"command,omitempty"`
	// A program and its arguments, which arrive as they are.
	Argv []string `json:"argv,omitempty" minItems:"1"`
	// One process beside the shell, in no queue, with the shell's directory and environment and
	// nothing else of it. `command` is then run by `bash -c`.
	Isolated bool `json:"isolated,omitempty"`
	// Directory of this command alone. An absent one is a result: code 1, and the reason on stderr.
	Cwd string `json:"cwd,omitempty"`
	// Variables of this command alone.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	//schema:additionalProperties {"type": "string"}
	Env map[string]*string `json:"env,omitempty"`
	// After which it is cancelled, with code 124; 0 is the shell's. It counts from its start;
	// `queue_timeout_ms` bounds the wait before.
	TimeoutMS int64 `json:"timeout_ms,omitempty" minimum:"0" maximum:"2592000000" default:"0"`
	// How long it may wait for its turn behind other commands; 0 is no bound. One that has not begun
	// by then is answered with 429 QUEUE_TIMEOUT, or has the status failed when nobody waits for it,
	// and never runs.
	QueueTimeoutMS int64 `json:"queue_timeout_ms,omitempty" minimum:"0" maximum:"2592000000" default:"0"`
	// What it reads, then end of file; absent: end of file at once.
	Stdin *string `json:"stdin,omitempty"`
	// The same as bytes.
	StdinB64 *[]byte `json:"stdin_b64,omitempty"`
	// More can be written by POST …/commands/{cid}/input, which also closes it.
	StdinOpen bool `json:"stdin_open,omitempty"`
	// Run it beside those that follow.
	Background bool `json:"background,omitempty"`
	// What its reply or stream has of each output; the command goes on, and its logs have all up to
	// their own bounds. 0 is the shell's.
	MaxOutputBytes int64 `json:"max_output_bytes,omitempty" minimum:"0" maximum:"1073741824" default:"0"`
	// Read the profile files before it, unless the shell has.
	Login bool `json:"login,omitempty"`
	// Run it on a terminal of its own, as one process: stdout has everything. `stdin` is typed. Not
	// with `stdin_open` or `background`.
	TTY bool `json:"tty,omitempty"`
	// Cancel it when this request's connection ends before it does.
	CancelOnDisconnect bool `json:"cancel_on_disconnect,omitempty"`
}

// ExecResult says how a command ended and what it printed.
//
//schema:reply "It has ended, with whatever code."
type ExecResult struct {
	EventComplete
	// Its output; a byte that is not UTF-8 is one U+FFFD.
	Stdout string `json:"stdout"`
	// The bytes of stdout, in base64; only where they are not UTF-8.
	StdoutB64 []byte `json:"stdout_b64,omitempty"`
	// Its errors, likewise.
	Stderr string `json:"stderr"`
	// The bytes of stderr, in base64; only where they are not UTF-8.
	StderrB64 []byte `json:"stderr_b64,omitempty"`
}

// EventComplete says how a command ended.
type EventComplete struct {
	// The code is 0.
	Success bool `json:"success"`
	// 0 to 255; 124 after a timeout, 130 after a cancel.
	ExitCode int `json:"exit_code" minimum:"0" maximum:"255"`
	// The same.
	ExitCodeAlias int `json:"exitCode" minimum:"0" maximum:"255"`
	// An output had more than is kept, or than this reply carries (10 MiB); the logs have what is
	// kept.
	Truncated bool `json:"truncated"`
	// Why `truncated` is set, and absent when it is not. max_output_bytes, reply_limit: the reply
	// has not all, the logs have. log_limit: the log of one output has all that it may. log_quota:
	// the logs of all commands have (--exec-log-quota); the oldest go first. disk_full,
	// write_failed: the disk did not take it. not_followed: the server and its keeper ended while it
	// printed.
	//schema:enum ["max_output_bytes", "reply_limit", "log_limit", "log_quota", "disk_full",
	//schema:and "write_failed", "not_followed"]
	TruncatedReason string `json:"truncated_reason,omitempty"`
	// The timeout ended it.
	TimedOut bool `json:"timed_out"`
	// A cancel ended it.
	Cancelled bool `json:"cancelled"`
	// How long it ran.
	DurationMS int64 `json:"duration_ms" minimum:"0"`
	// When it ended.
	Timestamp time.Time `json:"timestamp"`
	// What was run.
	Command string `json:"command"`
	// Its id.
	CommandID string `json:"command_id"`
	// Its session.
	Session string `json:"session" owned:"session"`
	// Its shell.
	Shell string `json:"shell"`
	// With tty: the terminal, whose screen stays readable by its id for a day.
	PTY string `json:"pty,omitempty"`
	// The shell's directory after it.
	Cwd string `json:"cwd"`
	// The directory that was wanted and is gone; the nearest parent was taken.
	CwdFallback string `json:"cwd_fallback,omitempty"`
	// Something that it started still runs and may print; that goes to its logs.
	Background bool `json:"background"`
	// The shell had ended and was started again with its state before this command.
	Recreated bool `json:"recreated"`
	// With recreated: what could not be restored, in words.
	Lost []string `json:"lost"`
	// The shell ended with this command (exit, exec, set -e, a signal).
	ShellEnded bool `json:"shell_ended"`
	// Bytes of stdout in the log.
	StdoutBytes int64 `json:"stdout_bytes" minimum:"0"`
	// Bytes of stderr in the log.
	StderrBytes int64 `json:"stderr_bytes" minimum:"0"`
	// Of a command on a terminal: that what it did to directory and variables is not the shell's.
	// Absent of others.
	Note string `json:"note,omitempty"`
	// Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or
	// thread_deleted. Absent when it ended otherwise.
	Reason string `json:"reason,omitempty"`
}

// EventStart says that the command runs.
type EventStart struct {
	// Its id.
	CommandID string `json:"command_id"`
	// Of the shell, of the background process, or of the one beside the shell.
	PID int `json:"pid" minimum:"0"`
	// With tty: the terminal.
	PTY string `json:"pty,omitempty"`
	// Its session.
	Session string `json:"session" owned:"session"`
	// Its shell.
	Shell string `json:"shell"`
	// What is run.
	Command string `json:"command"`
	// Since when.
	Timestamp time.Time `json:"timestamp"`
}

// EventOutput is a piece of an output: text, or bytes that are not UTF-8.
//
//schema:oneOf [{"required": ["data"]}, {"required": ["data_b64"]}]
type EventOutput struct {
	// Text, never half a character.
	Data string `json:"data,omitempty"`
	// Bytes that are not UTF-8.
	DataB64 []byte `json:"data_b64,omitempty"`
}

// ExecAccepted is the reply to a command in the background.
//
//schema:reply "It runs in the background."
type ExecAccepted struct {
	// Always true.
	Success bool `json:"success"`
	// Its id.
	CommandID string `json:"command_id"`
	// Of the background process; 0 while it waits behind other commands.
	PID    int           `json:"pid" minimum:"0"`
	Status CommandStatus `json:"status"`
	// Its session.
	Session string `json:"session" owned:"session"`
	// Its shell.
	Shell string `json:"shell"`
}

// CommandStatus is the state of a command. `failed`: it never got a code.
type CommandStatus string

// The values of CommandStatus.
const (
	CommandStatusQueued    CommandStatus = "queued"
	CommandStatusRunning   CommandStatus = "running"
	CommandStatusDone      CommandStatus = "done"
	CommandStatusCancelled CommandStatus = "cancelled"
	CommandStatusFailed    CommandStatus = "failed"
)

// SetEnv changes the environment of a shell.
type SetEnv struct {
	ShellRef
	// Variables to export.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	//schema:additionalProperties {"type": "string"}
	Env map[string]*string `json:"env,omitempty"`
	// Variables to remove.
	//schema:items {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	Unset []string `json:"unset,omitempty"`
}

// Command is a command of a shell.
//
//schema:reply "The command."
type Command struct {
	// Its id.
	CommandID string `json:"command_id"`
	// Its session.
	Session string `json:"session" owned:"session"`
	// Its shell.
	Shell string `json:"shell"`
	// What was run; in a list at most 4 KiB of it.
	Text string `json:"command"`
	// This is not all of the text.
	Clipped bool `json:"clipped,omitempty"`
	// Where it began.
	Cwd    string        `json:"cwd"`
	Status CommandStatus `json:"status"`
	// Its place in the queue of its shell, 1 is the next one; absent of one that does not wait
	// there.
	QueuePosition int `json:"queue_position,omitempty" minimum:"1"`
	// Why it failed; absent of one that did not.
	Error string `json:"error,omitempty"`
	// As in the event start; 0 before.
	PID int `json:"pid" minimum:"0"`
	// null before the end.
	ExitCode *int `json:"exit_code" minimum:"0" maximum:"255"`
	// It was to run beside the others.
	Background bool `json:"background"`
	// It ran beside the shell.
	Isolated bool `json:"isolated"`
	// The terminal that it runs or ran on, with `tty`; absent of others. After the end of the
	// command it is on no list, and readable by its id for a day.
	PTY string `json:"pty,omitempty"`
	// The timeout ended it.
	TimedOut bool `json:"timed_out"`
	// The log has not all.
	Truncated bool `json:"truncated"`
	// Why `truncated` is set, as in the reply of exec.
	//schema:enum ["max_output_bytes", "reply_limit", "log_limit", "log_quota", "disk_full",
	//schema:and "write_failed", "not_followed"]
	TruncatedReason string `json:"truncated_reason,omitempty"`
	// Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or
	// thread_deleted. Absent when it ended otherwise.
	Reason string `json:"reason,omitempty"`
	// The shell ended with it.
	ShellEnded bool `json:"shell_ended"`
	// The shell was started again before it.
	Recreated bool `json:"recreated"`
	// When it was given.
	CreatedAt time.Time `json:"created_at"`
	// When it began; null before.
	StartedAt *time.Time `json:"started_at"`
	// When it ended; null before.
	FinishedAt *time.Time `json:"finished_at"`
	// How long it ran, or has run.
	DurationMS int64 `json:"duration_ms" minimum:"0"`
	// Bytes of stdout in the log.
	StdoutBytes int64 `json:"stdout_bytes" minimum:"0"`
	// Bytes of stderr in the log.
	StderrBytes int64 `json:"stderr_bytes" minimum:"0"`
}

// CommandList has commands, newest last.
//
//schema:reply "The commands."
type CommandList struct {
	// The commands.
	Commands []Command `json:"commands"`
	// `after` of the next part, when `after` was given; absent at the end.
	Next string `json:"next,omitempty"`
}

// CommandLogs has the output of a command up to now.
type CommandLogs struct {
	// Its id.
	CommandID string        `json:"command_id"`
	Status    CommandStatus `json:"status"`
	// There was more than is kept.
	Truncated bool `json:"truncated"`
	// Why `truncated` is set, as in the reply of exec.
	//schema:enum ["max_output_bytes", "reply_limit", "log_limit", "log_quota", "disk_full",
	//schema:and "write_failed", "not_followed"]
	TruncatedReason string `json:"truncated_reason,omitempty"`
	// Bytes of stdout.
	StdoutBytes int64 `json:"stdout_bytes" minimum:"0"`
	// Bytes of stderr.
	StderrBytes int64 `json:"stderr_bytes" minimum:"0"`
	// Its output; a byte that is not UTF-8 is one U+FFFD.
	Stdout string `json:"stdout"`
	// The bytes of stdout, in base64; only where they are not UTF-8.
	StdoutB64 []byte `json:"stdout_b64,omitempty"`
	// Its errors, likewise.
	Stderr string `json:"stderr"`
	// The bytes of stderr, in base64; only where they are not UTF-8.
	StderrB64 []byte `json:"stderr_b64,omitempty"`
}

// ExecInput is input for a command: text or base64, or only their end.
//
//schema:anyOf [{"required": ["data"], "properties": {"data_b64": false}},
//schema:and {"required": ["data_b64"], "properties": {"data": false}}, {"required": ["eof"],
//schema:and "properties": {"eof": {"const": true}, "data": false, "data_b64": false}}]
type ExecInput struct {
	CommandRef
	// Text.
	Data *string `json:"data,omitempty"`
	// Bytes in base64.
	DataB64 *[]byte `json:"data_b64,omitempty"`
	// Close its input after this.
	EOF bool `json:"eof,omitempty"`
}

// CommandCancelled is the reply to a cancel.
//
//schema:reply "It ends now, or has ended."
type CommandCancelled struct {
	// Always true.
	Success bool `json:"success"`
	// Its id.
	CommandID string        `json:"command_id"`
	Status    CommandStatus `json:"status"`
}
