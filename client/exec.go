package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// ExecRequest says what to run in a shell. Zero fields are left to the server.
type ExecRequest struct {
	Command string // shell text, run by the shell itself: cd and export stay
	// Isolated runs Argv as one process beside the shell, with the shell's directory
	// and environment and nothing else of it.
	Isolated bool
	Argv     []string
	TTY      bool              // a terminal of its own instead of pipes; all its output comes as stdout
	Cwd      string            // of this command alone
	Env      map[string]string // of this command alone
	Timeout  time.Duration     // then it is cancelled with code 124; 0 means the shell's
	// QueueTimeout bounds the wait behind other commands; the command is not run
	// after it, and Exec returns an *Error with the code QUEUE_TIMEOUT. 0 is no bound.
	QueueTimeout time.Duration
	Stdin        []byte // what it reads, any bytes
	// StdinOpen lets CommandInput write more; otherwise Stdin is all there is.
	StdinOpen  bool
	Background bool  // do not wait for its end
	MaxOutput  int64 // what is kept of stdout and of stderr, in bytes; 0 means the shell's
}

// execBody is the JSON of an ExecRequest.
type execBody struct {
	Command      *string           `json:"command,omitempty"`
	Isolated     bool              `json:"isolated,omitempty"`
	Argv         []string          `json:"argv,omitempty"`
	TTY          bool              `json:"tty,omitempty"`
	Cwd          string            `json:"cwd,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Timeout      int64             `json:"timeout_ms,omitempty"`
	QueueTimeout int64             `json:"queue_timeout_ms,omitempty"`
	Stdin        []byte            `json:"stdin_b64,omitempty"`
	StdinOpen    bool              `json:"stdin_open,omitempty"`
	Background   bool              `json:"background,omitempty"`
	MaxOutput    int64             `json:"max_output_bytes,omitempty"`
}

// MarshalJSON writes the body of the request. A timeout below a millisecond counts
// as one, because 0 would be none.
func (r ExecRequest) MarshalJSON() ([]byte, error) {
	b := execBody{
		Isolated: r.Isolated, Argv: r.Argv, TTY: r.TTY, Cwd: r.Cwd, Env: r.Env, Stdin: r.Stdin, StdinOpen: r.StdinOpen,
		Background: r.Background, MaxOutput: r.MaxOutput,
	}
	if !r.Isolated {
		b.Command = &r.Command
	}
	if r.Timeout > 0 {
		b.Timeout = max(1, r.Timeout.Milliseconds())
	}
	if r.QueueTimeout > 0 {
		b.QueueTimeout = max(1, r.QueueTimeout.Milliseconds())
	}
	return json.Marshal(b)
}

// ExecReply is how a command ended, or with Background only its CommandID and PID.
type ExecReply struct {
	Success   bool   `json:"success"`
	ExitCode  int    `json:"exit_code"` // 0..255; 124 after a timeout, 130 after a cancel
	Stdout    string `json:"stdout"`    // what is not UTF-8 is U+FFFD there
	Stderr    string `json:"stderr"`
	StdoutB64 []byte `json:"stdout_b64"` // nil when Stdout is exact
	StderrB64 []byte `json:"stderr_b64"`
	Truncated bool   `json:"truncated"` // there was more output
	// TruncatedReason says why, and whether the logs have it: max_output_bytes and reply_limit do.
	TruncatedReason string `json:"truncated_reason"`
	TimedOut        bool   `json:"timed_out"`
	Duration        int64  `json:"duration_ms"`
	Command         string `json:"command"`
	CommandID       string `json:"command_id"`
	PID             int    `json:"pid"`
	Session         string `json:"session"`
	Cwd             string `json:"cwd"` // the shell's after the command
	// Reason is why the end of its session ended it, as budget; "" when it ended otherwise.
	Reason string `json:"reason"`
	// CwdFallback is the directory that was wanted when it is gone.
	CwdFallback string `json:"cwd_fallback"`
	// Background: something the command left behind still has its stdout or stderr.
	Background bool `json:"background"`
	// Recreated: the shell had ended before and was started again with its state;
	// Lost names what of it is gone.
	Recreated bool     `json:"recreated"`
	Lost      []string `json:"lost"`
	// Note says of a command with TTY that its changes of directory and variables are not kept.
	Note       string `json:"note"`
	ShellEnded bool   `json:"shell_ended"` // with this command; the next one starts it again
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (r *ExecReply) UnmarshalJSON(p []byte) error {
	type plain ExecReply
	if err := json.Unmarshal(p, (*plain)(r)); err != nil {
		return err
	}
	r.Raw = append(r.Raw[:0], p...)
	return nil
}

// Output is the exact stdout and stderr.
func (r *ExecReply) Output() (stdout, stderr []byte) {
	stdout, stderr = r.StdoutB64, r.StderrB64
	if stdout == nil {
		stdout = []byte(r.Stdout)
	}
	if stderr == nil {
		stderr = []byte(r.Stderr)
	}
	return stdout, stderr
}

// Exec runs a command in a shell of a session, its default shell for "", and
// waits for its end. The session and its default shell come into being when first
// used. A command that fails is not an error.
func (c *Client) Exec(ctx context.Context, session, shell string, r ExecRequest) (ExecReply, error) {
	var reply ExecReply
	err := c.call(ctx, http.MethodPost, c.at(nil, shellPath(session, shell, "exec")...), r, &reply)
	return reply, err
}

// shellPath is the path of what belongs to a shell, the default one for "".
func shellPath(session, shell string, rest ...string) []string {
	path := []string{"session", session}
	if shell != "" {
		path = append(path, "shell", shell)
	}
	return append(path, rest...)
}
