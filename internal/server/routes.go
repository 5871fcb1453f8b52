package server

import (
	"net/http"
)

// terminalRoutes are served below /session/:sid/pty/:id and, as a short form,
// below /pty/:id.
func (s *Server) terminalRoutes() []route {
	return []route{
		{http.MethodGet, "", s.getTerminal, false, false, "one terminal's state"},
		{http.MethodDelete, "", s.deleteTerminal, true, false, "end the program and its children; ?purge=1 forgets the screen too"},
		{http.MethodPost, "/input", s.postInput, true, false, "write bytes to the program"},
		{http.MethodPost, "/keys", s.postKeys, true, false, "press named keys"},
		{http.MethodPost, "/paste", s.postPaste, true, false, "paste text, bracketed when the program asked for it"},
		{http.MethodPost, "/resize", s.postResize, true, false, "change the size; the program gets SIGWINCH"},
		{http.MethodPost, "/signal", s.postSignal, true, false, "signal the foreground process group"},
		{http.MethodPost, "/restart", s.postRestart, true, false, "start the program of an ended terminal again, below its old screen"},
		{http.MethodGet, "/snapshot", s.getSnapshot, false, false, "the screen and history as ansi, text, json or html"},
		{http.MethodGet, "/recording", s.getRecording, false, true, "the output as asciicast v3 or v2, or raw; ?format=asciicast-v3|asciicast-v2|raw&from=SEQ&follow=1"},
		{http.MethodGet, "/stream", s.getStream, false, true, "Server-Sent Events: snapshot, data, resize, meta, exit"},
		{http.MethodGet, "/ws", s.getWebSocket, false, true, "the same events and input over WebSocket; ?format=json|binary"},
		{http.MethodPost, "/wait", s.postWait, false, true, "wait for text, a pattern, silence, a prompt or the exit"},
	}
}

// routes is everything the server offers, in the order of the documentation. Those of a zero Server say what there is.
func (s *Server) routes() []route {
	list := []route{
		{http.MethodPost, "/session/:sid/pty", s.postTerminal, true, false, "start a terminal"},
		{http.MethodGet, "/session/:sid/pty", s.getTerminals, false, false, "the terminals of a session"},
		{http.MethodDelete, "/session/:sid/pty", s.deleteTerminals, true, false, "end all terminals of a session"},
		{http.MethodGet, "/pty", s.getTerminals, false, false, "the terminals of all sessions"},
	}
	for _, base := range []string{"/session/:sid/pty/:id", "/pty/:id"} {
		for _, r := range s.terminalRoutes() {
			r.path = base + r.path
			list = append(list, r)
		}
	}
	list = append(list, s.execs.shellRoutes()...)
	for _, base := range []string{"/session/:sid", "/session/:sid/shell/:shid"} {
		for _, r := range s.execs.execRoutes() {
			r.path = base + r.path
			list = append(list, r)
		}
	}
	list = append(list, s.compat.compatRoutes()...)
	list = append(list, s.threadRoutes()...)
	list = append(list, s.recordRoutes()...)
	list = append(list, s.leaseRoutes()...)
	list = append(list, s.permissionRoutes()...)
	return append(list,
		route{http.MethodGet, "/", s.getRoot, false, false, "the web page, or this list for Accept: application/json"},
		route{http.MethodGet, "/assets/*", s.getPageFile, false, false, "files of the web page"},
		route{http.MethodGet, "/favicon.svg", s.getPageFile, false, false, "the web page's icon"},
		route{http.MethodGet, "/ws", s.getPage, false, true, "one WebSocket for all terminals of a page"},
		route{http.MethodPost, "/tickets", s.postTickets, true, false, "a one-time ticket for a terminal or a login"},
		route{http.MethodGet, "/healthz", s.getHealth, false, false, "whether the server is well"},
		route{http.MethodGet, "/readyz", s.getReady, false, false, "whether the server takes requests"},
		route{http.MethodGet, "/metrics", s.getMetrics, false, false, "Prometheus metrics"},
		route{http.MethodGet, "/openapi.json", s.getOpenAPI, false, false, "the OpenAPI 3.1 document"},
		route{http.MethodGet, "/version", s.getVersion, false, false, "the server's version"},
	)
}
