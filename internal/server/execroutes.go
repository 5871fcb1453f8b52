package server

import "net/http"

// execRoutes are served below /session/:sid, where they are about the session's
// default shell or all of its commands, and below /session/:sid/shell/:shid.
// What waits for a command has no deadline: it may take hours.
func (s *execService) execRoutes() []route {
	return []route{
		{http.MethodPost, "/exec", s.postExec, true, true, "run a command in the shell and wait for its result"},
		{http.MethodPost, "/exec/stream", s.postExecStream, true, true, "run a command; Server-Sent Events: start, stdout, stderr, complete, error"},
		{http.MethodPost, "/env", s.postEnv, true, true, "export and unset variables in the shell"},
		{http.MethodGet, "/commands", s.getCommands, false, false, "the commands, newest last; ?limit=&before="},
		{http.MethodGet, "/commands/:cid", s.getCommand, false, false, "one command's state"},
		{http.MethodDelete, "/commands/:cid", s.deleteCommand, true, false, "cancel a command"},
		{http.MethodGet, "/commands/:cid/logs", s.getCommandLogs, false, true, "what a command printed; ?follow=1 as Server-Sent Events"},
		{http.MethodPost, "/commands/:cid/input", s.postCommandInput, true, true, "write to the standard input of a command with stdin_open"},
	}
}

// shellRoutes are about the shells of a session.
func (s *execService) shellRoutes() []route {
	return []route{
		{http.MethodPost, "/session/:sid/shell", s.postShell, true, false, "start a shell"},
		{http.MethodGet, "/session/:sid/shell", s.getShells, false, false, "the shells of a session"},
		{http.MethodDelete, "/session/:sid/shell", s.deleteShells, true, false, "end all shells of a session"},
		{http.MethodGet, "/shell", s.getShells, false, false, "the shells of all sessions"},
		{http.MethodGet, "/session/:sid/shell/:shid", s.getShell, false, false, "one shell's state"},
		{http.MethodDelete, "/session/:sid/shell/:shid", s.deleteShell, true, false, "end a shell and everything it started"},
	}
}
