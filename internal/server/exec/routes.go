package exec

import (
	"context"
	"net/http"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// eventStream is the media type of streams whose events are described beside it.
var eventStream = []httpapi.Media{{Type: "text/event-stream", Schema: `{"type": "string"}`}}

// Replies that are written by hand, as the document has them.
var (
	execResult   = httpapi.Reply{Status: http.StatusOK, JSON: []any{wire.ExecResult{}}}
	execAccepted = httpapi.Reply{Name: "ExecAccepted", Status: http.StatusAccepted,
		Text: "It runs in the background.", JSON: []any{wire.ExecAccepted{}}}
	execEvents = httpapi.Reply{Name: "ExecStream", Status: http.StatusOK,
		Text: "`start`, then `stdout` and `stderr` as they come, at the end `complete` or `error`. A comment every " +
			"15 s when nothing comes. A client that reads slowly gets everything later; nothing is dropped and " +
			"nobody waits for it.",
		Headers: []httpapi.Header{{Name: commandHeader, Schema: `{"type": "string"}`,
			Text: "The command's id, before the first event; absent with tty."}},
		Media: eventStream, Events: wire.ExecEvents}
	commandLogs = httpapi.Reply{Name: "CommandLogs", Status: http.StatusOK,
		Text: "Both outputs; with follow=1 as events, those of POST …/exec/stream, which end when nothing more can " +
			"come.",
		JSON: []any{wire.CommandLogs{}}, Media: eventStream}
)

// Routes are served below /session/:sid, for the session's default shell or all of its commands, and below
// /session/:sid/shell/:shid. A request that waits for a command has no deadline: it may take hours.
func (s *Service) Routes() []httpapi.Route {
	running := func(r httpapi.Route) httpapi.Route {
		return r.Body("The command.").UpTo(MaxBody).Streams().Audited("command.run").
			Refusing(httpapi.Starting, httpapi.DirectoryChanged, httpapi.ShellGone, httpapi.Approved, httpapi.NoSpace)
	}
	finds := func(_ context.Context, ref wire.CommandRef) error {
		_, err := s.commandOf(ref)
		return err
	}
	return httpapi.Group("commands",
		running(httpapi.Hand(http.MethodPost, "exec", "/exec", "Run a command and wait for its result", s.exec,
			execResult, execAccepted)).
			Text("The commands of a shell run one after the other, those of different shells at the same time; up "+
				"to 64 wait. A command goes on when its client leaves, and when the server is replaced: look at "+
				"its logs then. `exit 3` is a result with code 3; the next command has a new shell with the old "+
				"state."),
		running(httpapi.Hand(http.MethodPost, "execStream", "/exec/stream",
			"Run a command and get its output as it comes", s.execStream, execEvents)).
			Text("What cannot be started at all is refused as by POST …/exec; later errors are events."),
		httpapi.Post("setEnv", "/env", "Change the environment of the shell", s.setEnv).
			Text("In its turn among the commands.").
			Body("The changes.").UpTo(MaxBody).Streams().Audited("shell.env").
			Refusing(httpapi.ShellGone, httpapi.Approved, httpapi.NotStarted, httpapi.NoSpace),
		httpapi.Get("listCommands", "/commands", "The commands that were run", s.listCommands).
			Text("Newest last: the newest ones, or those before one. With `after`, also an empty one, the oldest "+
				"behind it. The newest 1000 of each shell are kept, over restarts of the server too.").
			Refusing(httpapi.Absent),
		httpapi.Get("getCommand", "/commands/:cid", "One command", s.getCommand).Refusing(httpapi.Absent),
		httpapi.Finding(httpapi.Delete("cancelCommand", "/commands/:cid", "Cancel a command", s.cancelCommand), finds).
			Text("SIGINT as by Ctrl-C, SIGKILL after a second; SIGTERM to one in the background. One that waits "+
				"never starts. One that has ended is left alone. The reply waits two seconds for the end. With "+
				"`purge=1` a command that has ended by then is forgotten: its text, output and input, also in the "+
				"events and answered approvals of the thread.").
			Refusing(httpapi.Absent, httpapi.CommandRuns, httpapi.Approved).Audited("command.cancel"),
		httpapi.Finding(httpapi.Hand(http.MethodGet, "getCommandLogs", "/commands/:cid/logs", "What a command printed",
			s.getCommandLogs, commandLogs), finds).Refusing(httpapi.Absent).Streams(),
		httpapi.Post("commandInput", "/commands/:cid/input", "Write to the input of a command", s.commandInput).
			Text("The reply comes when the command, or the pipe to it, has taken everything.").
			Body("What to write.").UpTo(MaxBody).Streams().Audited(httpapi.NotAudited).
			Refusing(httpapi.Absent, httpapi.NoStdin, httpapi.CommandFinished, httpapi.Approved, httpapi.Unavailable),
	)
}

// ShellRoutes are about the shells of a session.
func (s *Service) ShellRoutes() []httpapi.Route {
	return httpapi.Group("commands",
		httpapi.Post("createShell", "/session/:sid/shell", "Start a shell", s.createShell).
			Text("It is for commands alone: the session's default shell comes into being by itself.").
			OptionalBody("The shell. An empty body starts one with the server's defaults.").
			Status(http.StatusCreated, "The shell.").Audited("shell.create").
			Refusing(httpapi.Starting, httpapi.ShellExists, httpapi.Approved, httpapi.NoSpace),
		httpapi.Get("listShells", "/session/:sid/shell", "The shells of a session", s.listShells).
			Refusing(httpapi.Absent),
		httpapi.Delete("deleteShells", "/session/:sid/shell", "End all shells of a session", s.deleteShells).
			Text("As DELETE of each, at once. A session without shells is no error.").
			Refusing(httpapi.Approved, httpapi.NotStarted, httpapi.NoSpace).Audited("shell.delete"),
		httpapi.Get("listAllShells", "/shell", "The shells of all sessions", s.listShells).Refusing(httpapi.Absent),
		httpapi.Get("getShell", "/session/:sid/shell/:shid", "One shell", s.getShell).Refusing(httpapi.Absent),
		httpapi.Delete("deleteShell", "/session/:sid/shell/:shid", "End a shell and everything it started",
			s.deleteShell).
			Text("Also what it left in the background. Commands that run or wait end with 410 SESSION_DESTROYED; "+
				"their history goes too.").
			Refusing(httpapi.Absent, httpapi.Approved, httpapi.NotStarted, httpapi.NoSpace).Audited("shell.delete"),
	)
}
