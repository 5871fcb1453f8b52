package exec

import (
	"strings"
	"time"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/wire"
)

const (
	// MaxBody bounds bodies with commands, their input or files, in bytes: scripts of megabytes exist, and do not fit
	// on a command line.
	MaxBody = 8 << 20
	// maxExecTimeout bounds a timeout, in milliseconds: 30 days. Longer commands need none.
	maxExecTimeout = int64(30 * 24 * time.Hour / time.Millisecond)
	// maxExecOutput bounds max_output_bytes, in bytes: its log is as large, which is all that a shell may have of the
	// disk.
	maxExecOutput = 1 << 30
)

// EnvValues are the variables of a request. Errors: 400 for null.
func EnvValues(env map[string]*string) (map[string]string, error) {
	values := make(map[string]string, len(env))
	for name, v := range env {
		if v == nil {
			return nil, httpapi.BadRequest("the variable %q has the value null: text is needed",
				httpapi.Clip(name)).WithField("env")
		}
		values[name] = *v
	}
	return values, nil
}

// Action returns the arguments of the command that the permissions see.
func Action(r *wire.Exec) permission.ExecArgs {
	a := permission.ExecArgs{Command: permission.ShellWords(r.Argv), Cwd: r.Cwd, Env: r.Env, StdinOpen: r.StdinOpen,
		Isolated: r.Isolated, TTY: r.TTY, Login: r.Login, Background: r.Background}
	if r.Command != nil {
		a.Command = *r.Command
	}
	switch {
	case r.Stdin != nil:
		a.Stdin = *r.Stdin
	case r.StdinB64 != nil:
		a.Stdin, a.StdinB64 = permission.Text(*r.StdinB64)
	}
	return a
}

// ShellCommand is the command of a request, for a shell that has read the profile files. Errors: 400, as
// registry.CheckTTY.
func ShellCommand(r *wire.Exec) (c shell.Command, err error) {
	if err := check(r); err != nil {
		return c, err
	}
	c = shell.Command{Isolated: r.Isolated, Argv: r.Argv, Cwd: r.Cwd,
		Timeout:      time.Duration(r.TimeoutMS) * time.Millisecond,
		QueueTimeout: time.Duration(r.QueueTimeoutMS) * time.Millisecond,
		StdinOpen:    r.StdinOpen, Background: r.Background, MaxReply: r.MaxOutputBytes}
	switch {
	case r.Command == nil && !r.Isolated:
		c.Text, c.Argv = permission.ShellWords(r.Argv), nil
	case r.Command != nil && r.Isolated && r.Login:
		c.Argv = []string{"bash", "-l", "-c", *r.Command}
	case r.Command != nil && r.Isolated:
		c.Argv = []string{"bash", "-c", *r.Command}
	case r.Command != nil:
		c.Text = *r.Command
	}
	if r.Stdin != nil {
		c.Stdin = []byte(*r.Stdin)
	} else if r.StdinB64 != nil {
		c.Stdin = *r.StdinB64
	}
	if c.Env, err = EnvValues(r.Env); err == nil && r.TTY {
		err = registry.CheckTTY(c)
	}
	return c, err
}

// check refuses contradictions, and numbers out of range.
func check(r *wire.Exec) error {
	switch {
	case (r.Command == nil) == (r.Argv == nil):
		return httpapi.BadRequest(`exactly one of "command" (shell text) and "argv" (a list of words) is needed`)
	case r.Argv != nil && len(r.Argv) == 0:
		return httpapi.BadRequest(`"argv" is empty: a program and its arguments are needed`).WithField("argv")
	case r.Command != nil && strings.ContainsRune(*r.Command, 0):
		return httpapi.BadRequest(`"command" has a NUL character, which no shell can read`).WithField("command")
	case strings.Contains(strings.Join(r.Argv, ""), "\x00"):
		return httpapi.BadRequest(`"argv" has a NUL character, which no program can be given`).WithField("argv")
	case r.Stdin != nil && r.StdinB64 != nil:
		return httpapi.BadRequest(`only one of "stdin" (text) and "stdin_b64" (bytes in base64) is allowed`)
	case r.TTY && (r.Background || r.StdinOpen):
		return httpapi.BadRequest(`"tty" goes with neither "background" nor "stdin_open": start a terminal for that ` +
			`(POST /session/NAME/pty)`)
	}
	if r.QueueTimeoutMS < 0 || r.QueueTimeoutMS > maxExecTimeout {
		return httpapi.BadRequest("queue_timeout_ms %d: 0 to %d are allowed, 0 is no bound", r.QueueTimeoutMS,
			maxExecTimeout).WithField("queue_timeout_ms")
	}
	return CheckLimits(r.TimeoutMS, r.MaxOutputBytes, "timeout_ms")
}

// CheckLimits checks a timeout in milliseconds and a size in bytes; 0 is the default of each.
func CheckLimits(timeout, output int64, name string) error {
	if timeout < 0 || timeout > maxExecTimeout {
		return httpapi.BadRequest("%s %d: 0 to %d are allowed, 0 is the shell's", name, timeout,
			maxExecTimeout).WithField(name)
	}
	if output < 0 || output > maxExecOutput {
		return httpapi.BadRequest("max_output_bytes %d: 0 to %d are allowed, 0 is the shell's", output,
			maxExecOutput).WithField("max_output_bytes")
	}
	return nil
}
