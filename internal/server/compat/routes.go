package compat

import (
	"net/http"
	"slices"

	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// Refusals that these calls make themselves.
var (
	noSession = []error{
		&httpapi.Error{Status: http.StatusNotFound, Code: "SESSION_NOT_FOUND"},
		httpapi.ErrWrongTerminal,
	}
	noProcess = []error{
		&httpapi.Error{Status: http.StatusNotFound, Code: "PROCESS_NOT_FOUND"},
		httpapi.ErrWrongTerminal,
	}
)

// Replies that are written by hand, as the document has them.
var (
	result = httpapi.Reply{Status: http.StatusOK, JSON: []any{wire.CompatResult{}}}
	logs   = httpapi.Reply{Status: http.StatusOK, JSON: []any{wire.CompatLogs{}}}
	stream = httpapi.Reply{Name: "CompatStream", Status: http.StatusOK,
		Text: "Events of `data:` alone, whose type is a field: start, then stdout and stderr, at the end complete " +
			"or error.",
		Headers: []httpapi.Header{{Name: "X-Command-Id", Text: "The process's id.", Schema: `{"type": "string"}`}},
		Media:   []httpapi.Media{{Type: "text/event-stream", Schema: `{"type": "string"}`}}, Events: wire.CompatEvents}
)

// Routes are what clients of the sandbox container call.
func (s *Service) Routes() []httpapi.Route {
	return httpapi.Group("compat", slices.Concat(s.sessionRoutes(), s.processRoutes(), s.fileRoutes())...)
}

// command is a route that runs a command.
func command(r httpapi.Route) httpapi.Route {
	return r.Body("The command.").UpTo(exec.MaxBody).Streams().Audited("command.run").Refusing(httpapi.Starting,
		noSession, httpapi.DirectoryChanged, httpapi.ShellGone, httpapi.Approved, httpapi.NoSpace)
}

// variables is a route that changes variables.
func variables(r httpapi.Route) httpapi.Route {
	return r.Body("The variables.").UpTo(exec.MaxBody).Streams().Audited("shell.env").Refusing(noSession,
		httpapi.ShellGone, httpapi.Approved, httpapi.NotStarted, httpapi.NoSpace)
}

// sessionRoutes are about sessions and commands.
func (s *Service) sessionRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Post("compatCreate", "/api/session/create", "Make a session", s.create).
			OptionalBody("The session. An empty body makes one with a new name.").Audited("shell.create").
			Refusing(httpapi.Starting, httpapi.ShellExists, httpapi.Approved, httpapi.NoSpace),
		httpapi.Get("compatSessions", "/api/session/list", "The sessions", s.listSessions),
		httpapi.Post("compatDelete", "/api/session/delete", "End a session", s.deleteSession).
			Text("All its shells and what they started; its terminals stay.").
			Body("The session.").Audited("shell.delete").
			Refusing(noSession, httpapi.Approved, httpapi.NotStarted, httpapi.NoSpace),
		variables(httpapi.Post("compatSessionEnv", "/api/session/:id/env", "Export variables in a session",
			s.setSessionEnv)),
		variables(httpapi.Post("compatEnv", "/api/env/set", "Export variables", s.setEnv)),
		command(httpapi.Hand(http.MethodPost, "compatExecute", "/api/execute", "Run a command", s.execute, result)),
		command(httpapi.Hand(http.MethodPost, "compatExecuteStream", "/api/execute/stream",
			"Run a command and get its output as it comes", s.executeStream, stream)),
	}
}

// processRoutes are about commands in the background.
func (s *Service) processRoutes() []httpapi.Route {
	killing := func(r httpapi.Route) httpapi.Route {
		return r.Text("Of all sessions.").Streams().Refusing(httpapi.Approved).Audited("command.cancel")
	}
	return []httpapi.Route{
		command(httpapi.Post("compatStart", "/api/process/start", "Start a process", s.startProcess)),
		httpapi.Get("compatProcesses", "/api/process/list", "The processes of all sessions", s.listProcesses),
		killing(httpapi.Delete("compatKillAll", "/api/process/kill-all", "End all processes", s.killAll)),
		killing(httpapi.Post("compatKillAllPost", "/api/process/kill-all", "End all processes", s.killAll)),
		httpapi.Get("compatProcess", "/api/process/:id", "One process", s.getProcess).Refusing(noProcess),
		httpapi.Delete("compatKill", "/api/process/:id", "End a process", s.killProcess).
			Text("SIGTERM to it and what it started, SIGKILL after five seconds. The reply waits for the end.").
			Streams().Refusing(noProcess, httpapi.Approved).Audited("command.cancel"),
		httpapi.Hand(http.MethodGet, "compatLogs", "/api/process/:id/logs", "What a process printed", s.getLogs, logs).
			Streams().Refusing(noProcess),
		httpapi.Hand(http.MethodGet, "compatProcessStream", "/api/process/:id/stream",
			"The output of a process as it comes", s.streamProcess, stream).
			Text("From its beginning.").Streams().Refusing(noProcess),
	}
}

// file is a route about a file. All of them may be refused as the system refuses it.
func file(r httpapi.Route, body, audit string) httpapi.Route {
	r = r.Body(body).UpTo(exec.MaxBody).Streams().Audited(audit).Refusing(httpapi.Starting, noSession,
		httpapi.Approved, httpapi.NoSpace)
	for _, row := range FileErrors {
		r.Refuses = append(r.Refuses, &httpapi.Error{Status: row.Status, Code: row.Code})
	}
	return r.Refusing([]error{&httpapi.Error{Status: http.StatusConflict, Code: "NOT_TEXT"}}, httpapi.FileTooLarge)
}

// fileRoutes are about files.
func (s *Service) fileRoutes() []httpapi.Route {
	return []httpapi.Route{
		file(httpapi.Post("compatRead", "/api/file/read", "Read a file", s.readFile), "The file.", "file.read"),
		file(httpapi.Post("compatWrite", "/api/file/write", "Write a file", s.writeFile),
			"The file and what to write.", "file.write").
			Text("It is made when it does not exist; its directory is not."),
		file(httpapi.Post("compatMkdir", "/api/file/mkdir", "Make a directory", s.makeDir), "The directory.",
			"file.write"),
		file(httpapi.Post("compatRemovePost", "/api/file/delete", "Remove a file", s.removeFile), "The file.",
			"file.delete").Text("Or an empty directory."),
		file(httpapi.Delete("compatRemove", "/api/file/delete", "Remove a file", s.removeFile), "The file.",
			"file.delete").Text("Or an empty directory."),
		file(httpapi.Post("compatRename", "/api/file/rename", "Rename a file", s.renameFile), "The two paths.",
			"file.write").Text("What is there under the new name is replaced."),
		file(httpapi.Post("compatMove", "/api/file/move", "Move a file", s.moveFile), "The two paths.",
			"file.write").Text("Within a file system."),
		file(httpapi.Post("compatList", "/api/file/list", "List a directory", s.listFiles), "The directory.",
			"file.read"),
		file(httpapi.Post("compatExists", "/api/file/exists", "Whether a file exists", s.fileExists), "The file.",
			"file.read"),
	}
}
