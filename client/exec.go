package client

import (
	"context"
	"net/http"
	"time"

	"github.com/evertty/evertty/wire"
)

// ExecRequest says what to run in a shell. Zero fields are left to the server.
type ExecRequest struct {
	Command string // shell text, run by the shell itself: cd and export stay
	// Isolated runs Argv as one process beside the shell, with the shell's directory and
	// environment and nothing else of it.
	Isolated bool
	Argv     []string
	TTY      bool              // a terminal of its own instead of pipes; stdout has all its output
	Cwd      string            // of this command alone
	Env      map[string]string // of this command alone
	Timeout  time.Duration     // then it is cancelled with code 124; 0 means the shell's
	// QueueTimeout bounds the wait behind other commands. When it is over, the command is not run
	// and Exec returns an *Error with the code QUEUE_TIMEOUT. 0 is no bound.
	QueueTimeout time.Duration
	Stdin        []byte // any bytes
	// StdinOpen lets CommandInput write more; otherwise Stdin is all there is.
	StdinOpen  bool
	Background bool  // do not wait for its end
	MaxOutput  int64 // bytes kept of stdout and of stderr; 0 means the shell's
}

func (r ExecRequest) body(session, shell string) wire.Exec {
	b := wire.Exec{
		ShellRef: shellRef(session, shell),
		Isolated: r.Isolated, Argv: r.Argv, TTY: r.TTY, Cwd: r.Cwd, Env: setVariables(r.Env),
		TimeoutMS: milliseconds(r.Timeout), QueueTimeoutMS: milliseconds(r.QueueTimeout), StdinOpen: r.StdinOpen,
		Background: r.Background, MaxOutputBytes: r.MaxOutput,
	}
	if !r.Isolated {
		b.Command = &r.Command
	}
	if len(r.Stdin) > 0 {
		b.StdinB64 = &r.Stdin
	}
	return b
}

// milliseconds is a duration for the server. One below a millisecond counts as one, because 0 would
// be none.
func milliseconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return max(1, d.Milliseconds())
}

// Exec runs a command in a shell of a session, its default shell for "", and waits for its end. The
// session and its default shell are created when they are first used. A command that fails is not
// an error.
func (s shells) Exec(ctx context.Context, session, shell string, r ExecRequest) (ExecResult, error) {
	return send[ExecResult](ctx, s.API(), route{http.MethodPost, true, execPaths("")}, r.body(session, shell))
}

// execPaths are the paths that run a command: in a shell, and in the default one of a session.
func execPaths(suffix string) []string {
	return []string{"/session/:sid/shell/:shid/exec" + suffix, "/session/:sid/exec" + suffix}
}
