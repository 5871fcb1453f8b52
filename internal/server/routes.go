package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// route is one line of what the server offers.
type route struct {
	method, path string
	handle       func(*Server, echo.Context) error
	effect       bool // needs the role write
	stream       bool // goes on for long: no deadline for the whole
	does         string
}

// bareCalls end the paths of calls that have no body.
var bareCalls = []string{"/touch", "/pause", "/resume", "/activate", "/clear", "/drain", "/destroy", "/refresh", "/kill-all"}

// bare tells whether the call has no body, though its method may have one.
func (r route) bare() bool {
	switch r.method {
	case http.MethodDelete:
		return !strings.HasPrefix(r.path, "/api/file/") // which name the file in it
	case http.MethodPost:
		return slices.ContainsFunc(bareCalls, func(end string) bool { return strings.HasSuffix(r.path, end) })
	}
	return false
}

// terminalRoutes are served below /session/:sid/pty/:id and, as a short form,
// below /pty/:id.
var terminalRoutes = []route{
	{http.MethodGet, "", (*Server).getTerminal, false, false, "one terminal's state"},
	{http.MethodDelete, "", (*Server).deleteTerminal, true, false, "end the program and its children; ?purge=1 forgets the screen too"},
	{http.MethodPost, "/input", (*Server).postInput, true, false, "write bytes to the program"},
	{http.MethodPost, "/keys", (*Server).postKeys, true, false, "press named keys"},
	{http.MethodPost, "/paste", (*Server).postPaste, true, false, "paste text, bracketed when the program asked for it"},
	{http.MethodPost, "/resize", (*Server).postResize, true, false, "change the size; the program gets SIGWINCH"},
	{http.MethodPost, "/signal", (*Server).postSignal, true, false, "signal the foreground process group"},
	{http.MethodPost, "/restart", (*Server).postRestart, true, false, "start the program of an ended terminal again, below its old screen"},
	{http.MethodGet, "/snapshot", (*Server).getSnapshot, false, false, "the screen and history as ansi, text, json or html"},
	{http.MethodGet, "/recording", (*Server).getRecording, false, true, "the output as asciicast v3 or v2, or raw; ?format=asciicast-v3|asciicast-v2|raw&from=SEQ&follow=1"},
	{http.MethodGet, "/stream", (*Server).getStream, false, true, "Server-Sent Events: snapshot, data, resize, meta, exit"},
	{http.MethodGet, "/ws", (*Server).getWebSocket, false, true, "the same events and input over WebSocket; ?format=json|binary"},
	{http.MethodPost, "/wait", (*Server).postWait, false, true, "wait for text, a pattern, silence, a prompt or the exit"},
}

// execRoutes are served below /session/:sid, where they are about the session's
// default shell or all of its commands, and below /session/:sid/shell/:shid.
// What waits for a command has no deadline: it may take hours.
var execRoutes = []route{
	{http.MethodPost, "/exec", (*Server).postExec, true, true, "run a command in the shell and wait for its result"},
	{http.MethodPost, "/exec/stream", (*Server).postExecStream, true, true, "run a command; Server-Sent Events: start, stdout, stderr, complete, error"},
	{http.MethodPost, "/env", (*Server).postEnv, true, true, "export and unset variables in the shell"},
	{http.MethodGet, "/commands", (*Server).getCommands, false, false, "the commands, newest last; ?limit=&before="},
	{http.MethodGet, "/commands/:cid", (*Server).getCommand, false, false, "one command's state"},
	{http.MethodDelete, "/commands/:cid", (*Server).deleteCommand, true, false, "cancel a command"},
	{http.MethodGet, "/commands/:cid/logs", (*Server).getCommandLogs, false, true, "what a command printed; ?follow=1 as Server-Sent Events"},
	{http.MethodPost, "/commands/:cid/input", (*Server).postCommandInput, true, true, "write to the standard input of a command with stdin_open"},
}

// shellRoutes are about the shells of a session.
var shellRoutes = []route{
	{http.MethodPost, "/session/:sid/shell", (*Server).postShell, true, false, "start a shell"},
	{http.MethodGet, "/session/:sid/shell", (*Server).getShells, false, false, "the shells of a session"},
	{http.MethodDelete, "/session/:sid/shell", (*Server).deleteShells, true, false, "end all shells of a session"},
	{http.MethodGet, "/shell", (*Server).getShells, false, false, "the shells of all sessions"},
	{http.MethodGet, "/session/:sid/shell/:shid", (*Server).getShell, false, false, "one shell's state"},
	{http.MethodDelete, "/session/:sid/shell/:shid", (*Server).deleteShell, true, false, "end a shell and everything it started"},
}

// routes is everything the server offers, in the order of the documentation.
func routes() []route {
	list := []route{
		{http.MethodPost, "/session/:sid/pty", (*Server).postTerminal, true, false, "start a terminal"},
		{http.MethodGet, "/session/:sid/pty", (*Server).getTerminals, false, false, "the terminals of a session"},
		{http.MethodDelete, "/session/:sid/pty", (*Server).deleteTerminals, true, false, "end all terminals of a session"},
		{http.MethodGet, "/pty", (*Server).getTerminals, false, false, "the terminals of all sessions"},
	}
	for _, base := range []string{"/session/:sid/pty/:id", "/pty/:id"} {
		for _, r := range terminalRoutes {
			r.path = base + r.path
			list = append(list, r)
		}
	}
	list = append(list, shellRoutes...)
	for _, base := range []string{"/session/:sid", "/session/:sid/shell/:shid"} {
		for _, r := range execRoutes {
			r.path = base + r.path
			list = append(list, r)
		}
	}
	list = append(list, compatRoutes...)
	list = append(list, threadRoutes...)
	list = append(list, recordRoutes...)
	list = append(list, leaseRoutes...)
	list = append(list, permissionRoutes...)
	return append(list,
		route{http.MethodGet, "/", (*Server).getRoot, false, false, "the web page, or this list for Accept: application/json"},
		route{http.MethodGet, "/assets/*", (*Server).getPageFile, false, false, "files of the web page"},
		route{http.MethodGet, "/favicon.svg", (*Server).getPageFile, false, false, "the web page's icon"},
		route{http.MethodGet, "/ws", (*Server).getPage, false, true, "one WebSocket for all terminals of a page"},
		route{http.MethodPost, "/tickets", (*Server).postTickets, true, false, "a one-time ticket for a terminal or a login"},
		route{http.MethodGet, "/healthz", (*Server).getHealth, false, false, "whether the server is well"},
		route{http.MethodGet, "/readyz", (*Server).getReady, false, false, "whether the server takes requests"},
		route{http.MethodGet, "/metrics", (*Server).getMetrics, false, false, "Prometheus metrics"},
		route{http.MethodGet, "/openapi.json", (*Server).getOpenAPI, false, false, "the OpenAPI 3.1 document"},
		route{http.MethodGet, "/version", (*Server).getVersion, false, false, "the server's version"},
	)
}
