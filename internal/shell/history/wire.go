package history

import (
	"strings"
	"time"

	"github.com/evertty/evertty/wire"
)

// LoginText begins the Text of a command that reads the files of a login shell first (bash's
// manual, INVOCATION). It is on the first line of the command, so that the line numbers in messages
// stay right. It reads nothing of the command's input.
const LoginText = `{ if [ -r /etc/profile ]; then . /etc/profile; fi; if [ -r ~/.bash_profile ]; then . ` +
	`~/.bash_profile; elif [ -r ~/.bash_login ]; then . ~/.bash_login; ` +
	`elif [ -r ~/.profile ]; then . ~/.profile; fi; } </dev/null; `

// ttyNote is the note in the result of a command on a terminal.
const ttyNote = "cd, export and other changes of a tty command are not kept: it ran in a process of its own, not in " +
	"the shell"

// Text is the command without LoginText.
func (i *Info) Text() string { return strings.TrimPrefix(i.Command, LoginText) }

// Wire is the command as the API shows it, in a session.
func (i *Info) Wire(session string) wire.Command {
	c := wire.Command{CommandID: i.ID, Session: session, Shell: i.Shell,
		Text: i.Text(), Cwd: i.Cwd, Status: wire.CommandStatus(i.Status),
		QueuePosition: i.Position, Error: i.Error, PID: i.PID, Background: i.Background, Isolated: i.Isolated,
		PTY: i.PTY, CreatedAt: i.CreatedAt.UTC(), StartedAt: timeOrNil(i.StartedAt),
		FinishedAt: timeOrNil(i.FinishedAt), DurationMS: i.DurationMS(), StdoutBytes: i.StdoutBytes,
		StderrBytes: i.StderrBytes}
	if r := i.Result; r != nil {
		c.ExitCode, c.TimedOut, c.Truncated, c.TruncatedReason = &r.ExitCode, r.TimedOut, r.Truncated, r.TruncatedReason
		c.ShellEnded, c.Recreated, c.Reason = r.ShellEnded, r.Recreated, r.Reason
	}
	if i.LogCut != "" {
		c.Truncated, c.TruncatedReason = true, i.LogCut
	}
	return c
}

// WireEnd is the end of a command with a Result, as the API shows it.
func (i *Info) WireEnd(session string) wire.EventComplete {
	r := i.Result
	e := wire.EventComplete{Success: r.ExitCode == 0, ExitCode: r.ExitCode, ExitCodeAlias: r.ExitCode,
		Truncated: r.Truncated, TruncatedReason: r.TruncatedReason, TimedOut: r.TimedOut, Cancelled: r.Cancelled,
		Reason: r.Reason, DurationMS: i.DurationMS(), Timestamp: i.FinishedAt.UTC(),
		Command: i.Text(), CommandID: i.ID, Session: session, Shell: i.Shell, PTY: i.PTY,
		Cwd: r.Cwd, CwdFallback: r.CwdFallback, Background: r.Background, Recreated: r.Recreated,
		Lost: append([]string{}, r.Lost...), ShellEnded: r.ShellEnded, StdoutBytes: i.StdoutBytes,
		StderrBytes: i.StderrBytes}
	if i.PTY != "" {
		e.Note = ttyNote
	}
	return e
}

// DurationMS is how long the command ran or has run, in milliseconds.
func (i *Info) DurationMS() int64 {
	switch {
	case i.StartedAt.IsZero():
		return 0
	case i.FinishedAt.IsZero():
		return time.Since(i.StartedAt).Milliseconds()
	}
	return i.FinishedAt.Sub(i.StartedAt).Milliseconds()
}

// timeOrNil is a time in UTC, nil for the zero one: null in JSON.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
