package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/output"
)

const (
	// maxCommandList bounds a list of commands; `before` gets the next part.
	maxCommandList = 1000
	// maxListedCommand bounds a command's text in a list, in bytes; alone it is told as a whole.
	maxListedCommand = 4 << 10
)

// commandReply is a command as lists tell it, and alone. What only a result has is absent before the end.
type commandReply struct {
	CommandID   string       `json:"command_id"`
	Session     string       `json:"session"`
	Shell       string       `json:"shell"`
	Command     string       `json:"command"`
	Clipped     bool         `json:"clipped,omitempty"`
	Cwd         string       `json:"cwd"`
	Status      shell.Status `json:"status"`
	Position    int          `json:"queue_position,omitempty"`
	Error       string       `json:"error,omitempty"`
	PID         int          `json:"pid"`
	ExitCode    *int         `json:"exit_code"`
	Background  bool         `json:"background"`
	Isolated    bool         `json:"isolated"`
	PTY         string       `json:"pty,omitempty"`
	TimedOut    bool         `json:"timed_out"`
	Truncated   bool         `json:"truncated"`
	Reason      string       `json:"truncated_reason,omitempty"`
	EndReason   string       `json:"reason,omitempty"` // why the end of its session ended it
	ShellEnded  bool         `json:"shell_ended"`
	Recreated   bool         `json:"recreated"`
	CreatedAt   time.Time    `json:"created_at"`
	StartedAt   *time.Time   `json:"started_at"`
	FinishedAt  *time.Time   `json:"finished_at"`
	DurationMS  int64        `json:"duration_ms"`
	StdoutBytes int64        `json:"stdout_bytes"`
	StderrBytes int64        `json:"stderr_bytes"`
}

func commandReplyOf(session string, i shell.Info) commandReply {
	reply := commandReply{CommandID: i.ID, Session: session, Shell: i.Shell, Command: shownCommand(i), Cwd: i.Cwd, Status: i.Status, Position: i.Position, Error: i.Error, PID: i.PID,
		Background: i.Background, Isolated: i.Isolated, PTY: i.PTY, CreatedAt: i.CreatedAt.UTC(), StartedAt: timeOrNil(i.StartedAt),
		FinishedAt: timeOrNil(i.FinishedAt), DurationMS: durationOf(i), StdoutBytes: i.StdoutBytes, StderrBytes: i.StderrBytes}
	if r := i.Result; r != nil {
		reply.ExitCode, reply.TimedOut, reply.Truncated, reply.Reason = &r.ExitCode, r.TimedOut, r.Truncated, r.TruncatedReason
		reply.ShellEnded, reply.Recreated, reply.EndReason = r.ShellEnded, r.Recreated, r.Reason
	}
	if cut := logCut(i); cut != "" {
		reply.Truncated, reply.Reason = true, cut
	}
	return reply
}

// logCut is why the logs of a command miss something, "" when they have all. The result knows more than a log that a later server has found.
func logCut(i shell.Info) string {
	if r := i.Result; i.LogCut == output.CutLog && r != nil && r.TruncatedReason != output.CutReply && r.TruncatedReason != "" {
		return r.TruncatedReason
	}
	if r := i.Result; i.LogCut == "" && r != nil && r.TruncatedReason == output.CutUnheld {
		return r.TruncatedReason
	}
	return i.LogCut
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// shownCommand is the command without what the server has put before it.
func shownCommand(i shell.Info) string { return strings.TrimPrefix(i.Command, loginText) }

// commandListReply is the reply of GET …/commands.
type commandListReply struct {
	Commands []commandReply `json:"commands"`
}

func (s *Server) getCommands(c echo.Context) error {
	session, err := shellSessionOf(c)
	if err != nil {
		return err
	}
	limit, err := numberOf(c, "limit", 1, maxCommandList, maxCommandList)
	if err != nil {
		return err
	}
	list, err := s.commandsOf(c, session, int(limit))
	if err != nil {
		return err
	}
	reply := commandListReply{Commands: make([]commandReply, 0, len(list))}
	for _, i := range list {
		line := commandReplyOf(session, i)
		if len(line.Command) > maxListedCommand {
			line.Command, line.Clipped = line.Command[:wholeRunes([]byte(line.Command[:maxListedCommand]))], true
		}
		reply.Commands = append(reply.Commands, line)
	}
	return writeJSON(c, http.StatusOK, reply)
}

func (s *Server) commandsOf(c echo.Context, session string, limit int) ([]shell.Info, error) {
	before := c.QueryParam("before")
	if c.Param("shid") == "" {
		return s.Mux.Commands(session, limit, before), nil
	}
	sh, err := s.shellOf(c)
	if err != nil {
		return nil, err
	}
	return sh.Commands(limit, before), nil
}

// numberOf is a whole number in the query.
func numberOf(c echo.Context, name string, low, high, otherwise int64) (int64, error) {
	q := c.QueryParam(name)
	if q == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(q, 10, 64)
	if err != nil || n < low || n > high {
		return 0, badRequest("%s %q: %d to %d are allowed", name, clip(q), low, high)
	}
	return n, nil
}

// commandOf is the command a path names.
func (s *Server) commandOf(c echo.Context) (session string, e *shell.Exec, err error) {
	if session, err = shellSessionOf(c); err != nil {
		return "", nil, err
	}
	if c.Param("shid") == "" {
		e, err = s.Mux.Command(session, c.Param("cid"))
		return session, e, err
	}
	sh, err := s.shellOf(c)
	if err != nil {
		return "", nil, err
	}
	e, err = sh.Command(c.Param("cid"))
	return session, e, err
}

func (s *Server) getCommand(c echo.Context) error {
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, commandReplyOf(session, e.Info()))
}

// logsHead is what the reply of GET …/logs has besides the outputs.
type logsHead struct {
	CommandID   string       `json:"command_id"`
	Status      shell.Status `json:"status"`
	Truncated   bool         `json:"truncated"`
	Reason      string       `json:"truncated_reason,omitempty"`
	StdoutBytes int64        `json:"stdout_bytes"`
	StderrBytes int64        `json:"stderr_bytes"`
}

func (s *Server) getCommandLogs(c echo.Context) error {
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	follow, err := switchOf(c, "follow")
	if err != nil {
		return err
	}
	if follow {
		return s.followLogs(c, e, session)
	}
	i := e.Info()
	head := logsHead{CommandID: i.ID, Status: i.Status, StdoutBytes: e.Size(shell.Stdout), StderrBytes: e.Size(shell.Stderr)}
	head.Reason = logCut(i)
	head.Truncated = head.Reason != ""
	return sendLogs(c, e, head, head.StdoutBytes, head.StderrBytes)
}

// followLogs goes on with the output, with late=0 until the result and else until nothing can come any more.
func (s *Server) followLogs(c echo.Context, e *shell.Exec, session string) error {
	from, err := positionsOf(c, e)
	if err != nil {
		return err
	}
	late := c.QueryParam("late") == ""
	if !late {
		if late, err = switchOf(c, "late"); err != nil {
			return err
		}
	}
	if isHead(c) {
		return headOfEvents(c)
	}
	s.follow(c, e, ownEvents{session}, following{from: from, end: -1, late: late})
	return nil
}

// positionsOf are the bytes of each output that the client has already.
func positionsOf(c echo.Context, e *shell.Exec) (from [2]int64, err error) {
	if from[0], err = numberOf(c, "stdout_from", 0, e.Size(shell.Stdout), 0); err != nil {
		return from, err
	}
	from[1], err = numberOf(c, "stderr_from", 0, e.Size(shell.Stderr), 0)
	return from, err
}

// commandInput is the body of POST …/commands/:cid/input.
type commandInput struct {
	inputRequest
	EOF bool `json:"eof"`
}

func (s *Server) postCommandInput(c echo.Context) error {
	var req commandInput
	if err := bindExec(c, &req, false); err != nil {
		return err
	}
	var p []byte
	if !req.EOF || req.Data != nil || req.B64 != nil {
		var err error
		if p, err = req.bytes(); err != nil {
			return err
		}
	}
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	if err := s.permit(c, session, conversation.ToolCommandInput, newInputDeed(e.ID(), p, req.EOF)); err != nil {
		return err
	}
	ctx, cancel := s.contextOf(c)
	defer cancel()
	if err := e.Input(ctx, p, req.EOF); err != nil {
		return commandError(c, e, err)
	}
	return c.JSON(http.StatusOK, inputReply{true, len(p)})
}

// cancelReply says what became of a command that was cancelled.
type cancelReply struct {
	Success   bool         `json:"success"`
	CommandID string       `json:"command_id"`
	Status    shell.Status `json:"status"`
}

func (s *Server) deleteCommand(c echo.Context) error {
	session, e, err := s.commandOf(c)
	if err != nil {
		return err
	}
	if err := s.permit(c, session, conversation.ToolCancel, commandDeed{Command: e.ID()}); err != nil {
		return err
	}
	e.Cancel()
	ctx, cancel := context.WithTimeout(unhurried(c), startPatience)
	defer cancel()
	select {
	case <-e.Done():
	case <-ctx.Done():
	}
	return c.JSON(http.StatusOK, cancelReply{true, e.ID(), e.Info().Status})
}
