package exec

import (
	"github.com/evertty/evertty/internal/server/httpapi"
)

// Routes are served below /session/:sid, where they are about the session's
// default shell or all of its commands, and below /session/:sid/shell/:shid.
// What waits for a command has no deadline: it may take hours.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Post("/exec", s.postExec, "run a command in the shell and wait for its result").Streams(),
		httpapi.Post("/exec/stream", s.postExecStream, "run a command; Server-Sent Events: start, stdout, stderr, complete, error").Streams(),
		httpapi.Post("/env", s.postEnv, "export and unset variables in the shell").Streams(),
		httpapi.Get("/commands", s.getCommands, "the commands, newest last; ?limit=&before="),
		httpapi.Get("/commands/:cid", s.getCommand, "one command's state"),
		httpapi.Delete("/commands/:cid", s.deleteCommand, "cancel a command"),
		httpapi.Get("/commands/:cid/logs", s.getCommandLogs, "what a command printed; ?follow=1 as Server-Sent Events").Streams(),
		httpapi.Post("/commands/:cid/input", s.postCommandInput, "write to the standard input of a command with stdin_open").Streams(),
	}
}

// ShellRoutes are about the shells of a session.
func (s *Service) ShellRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Post("/session/:sid/shell", s.postShell, "start a shell"),
		httpapi.Get("/session/:sid/shell", s.getShells, "the shells of a session"),
		httpapi.Delete("/session/:sid/shell", s.deleteShells, "end all shells of a session"),
		httpapi.Get("/shell", s.getShells, "the shells of all sessions"),
		httpapi.Get("/session/:sid/shell/:shid", s.getShell, "one shell's state"),
		httpapi.Delete("/session/:sid/shell/:shid", s.deleteShell, "end a shell and everything it started"),
	}
}
