package exec

import (
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// Routes are served below /session/:sid, for the session's default shell or all of its commands, and below
// /session/:sid/shell/:shid. A request that waits for a command has no deadline: it may take hours.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/exec", s.postExec, "run a command in the shell and wait for its result").Streams().
			Doc("exec", "commands", "Run a command and wait for its result").
			Text("The commands of a shell run one after the other, those of different shells at the same time; up "+
				"to 64 wait. A command goes on when its client leaves, and when the server is replaced: look at "+
				"its logs then. `exit 3` is a result with code 3; the next command has a new shell with the old "+
				"state.").
			Takes(wire.Exec{}, "The command.").
			Gives("ExecResult ExecAccepted CannotStart DirectoryChanged ShellGone TooLargeExec NotJSON NeedsApproval " +
				"CannotStartNow NoSpace"),
		httpapi.OldPost("/exec/stream", s.postExecStream,
			"run a command; Server-Sent Events: start, stdout, stderr, complete, error").Streams().
			Doc("execStream", "commands", "Run a command and get its output as it comes").
			Text("What cannot be started at all is refused as by POST …/exec; later errors are events.").
			Takes(wire.Exec{}, "The command.").
			Gives("ExecStream CannotStart DirectoryChanged ShellGone TooLargeExec NotJSON NeedsApproval " +
				"CannotStartNow NoSpace"),
		httpapi.OldPost("/env", s.postEnv, "export and unset variables in the shell").Streams().
			Doc("setEnv", "commands", "Change the environment of the shell").
			Text("In its turn among the commands.").
			Takes(wire.SetEnv{}, "The changes.").
			Gives("Done Invalid ShellGone TooLargeExec NotJSON NeedsApproval CannotStartNow NoSpace"),
		httpapi.OldGet("/commands", s.getCommands, "the commands, newest last; ?limit=&before=&after=").
			Doc("listCommands", "commands", "The commands that were run").
			Text("Newest last: the newest ones, or those before one. With `after`, also an empty one, the oldest " +
				"behind it. The newest 1000 of each shell are kept, over restarts of the server too.").
			Params("limit before listAfter").
			Gives("CommandList Invalid NotFound"),
		httpapi.OldGet("/commands/:cid", s.getCommand, "one command's state").
			Doc("getCommand", "commands", "One command").
			Gives("Command Invalid NotFound"),
		httpapi.OldDelete("/commands/:cid", s.deleteCommand, "cancel a command; ?purge=1 forgets it").
			Doc("cancelCommand", "commands", "Cancel a command").
			Text("SIGINT as by Ctrl-C, SIGKILL after a second; SIGTERM to one in the background. One that waits " +
				"never starts. One that has ended is left alone. The reply waits two seconds for the end. With " +
				"`purge=1` a command that has ended by then is forgotten: its text, output and input, also in the " +
				"events and answered approvals of the thread.").
			Params("purgeCommand").
			Gives("CommandCancelled Invalid NotFound CommandRuns TooLarge NotJSON NeedsApproval"),
		httpapi.OldGet("/commands/:cid/logs", s.getCommandLogs,
			"what a command printed; ?follow=1 as Server-Sent Events").Streams().
			Doc("getCommandLogs", "commands", "What a command printed").
			Params("follow late stdoutFrom stderrFrom").
			Gives("CommandLogs Invalid NotFound"),
		httpapi.OldPost("/commands/:cid/input", s.postCommandInput,
			"write to the standard input of a command with stdin_open").Streams().
			Doc("commandInput", "commands", "Write to the input of a command").
			Text("The reply comes when the command, or the pipe to it, has taken everything.").
			Takes(wire.ExecInput{}, "What to write.").
			Gives("InputTaken Invalid NotFound NoStdin CommandFinished TooLargeExec NotJSON NeedsApproval " +
				"Unavailable"),
	}
}

// ShellRoutes are about the shells of a session.
func (s *Service) ShellRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/session/:sid/shell", s.postShell, "start a shell").
			Doc("createShell", "commands", "Start a shell").
			Text("It is for commands alone: the session's default shell comes into being by itself.").
			MayTake(wire.CreateShell{}, "The shell. An empty body starts one with the server's defaults.").
			Gives("Shell CannotStart ShellExists TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
		httpapi.OldGet("/session/:sid/shell", s.getShells, "the shells of a session, oldest first; ?after=&limit=").
			Doc("listShells", "commands", "The shells of a session").
			Params("listAfter listLimit").
			Gives("ShellList Invalid NotFound"),
		httpapi.OldDelete("/session/:sid/shell", s.deleteShells, "end all shells of a session").
			Doc("deleteShells", "commands", "End all shells of a session").
			Text("As DELETE of each, at once. A session without shells is no error.").
			Gives("Done Invalid TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
		httpapi.OldGet("/shell", s.getShells, "the shells of all sessions, oldest first; ?after=&limit=").
			Doc("listAllShells", "commands", "The shells of all sessions").
			Params("listAfter listLimit").
			Gives("ShellList Invalid NotFound"),
		httpapi.OldGet("/session/:sid/shell/:shid", s.getShell, "one shell's state").
			Doc("getShell", "commands", "One shell").
			Gives("200 Shell Invalid NotFound"),
		httpapi.OldDelete("/session/:sid/shell/:shid", s.deleteShell, "end a shell and everything it started").
			Doc("deleteShell", "commands", "End a shell and everything it started").
			Text("Also what it left in the background. Commands that run or wait end with 410 SESSION_DESTROYED; " +
				"their history goes too.").
			Gives("Done Invalid NotFound TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
	}
}
