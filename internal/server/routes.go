package server

import (
	"github.com/evertty/evertty/internal/server/httpapi"
)

// terminalRoutes are served below /session/:sid/pty/:id and, as a short form,
// below /pty/:id.
func (s *Server) terminalRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("", s.getTerminal, "one terminal's state"),
		httpapi.Delete("", s.deleteTerminal, "end the program and its children; ?purge=1 forgets the screen too"),
		httpapi.Post("/input", s.postInput, "write bytes to the program"),
		httpapi.Post("/keys", s.postKeys, "press named keys"),
		httpapi.Post("/paste", s.postPaste, "paste text, bracketed when the program asked for it"),
		httpapi.Post("/resize", s.postResize, "change the size; the program gets SIGWINCH"),
		httpapi.Post("/signal", s.postSignal, "signal the foreground process group"),
		httpapi.Post("/restart", s.postRestart, "start the program of an ended terminal again, below its old screen"),
		httpapi.Get("/snapshot", s.getSnapshot, "the screen and history as ansi, text, json or html"),
		httpapi.Get("/recording", s.getRecording, "the output as asciicast v3 or v2, or raw; ?format=asciicast-v3|asciicast-v2|raw&from=SEQ&follow=1").Streams(),
		httpapi.Get("/stream", s.getStream, "Server-Sent Events: snapshot, data, resize, meta, exit").Streams(),
		httpapi.Get("/ws", s.getWebSocket, "the same events and input over WebSocket; ?format=json|binary").Streams(),
		httpapi.Post("/wait", s.postWait, "wait for text, a pattern, silence, a prompt or the exit").ReadOnly().Streams(),
	}
}

// routes is everything the server offers, in the order of the documentation. Those of a zero Server say what there is.
func (s *Server) routes() []httpapi.Route {
	list := []httpapi.Route{
		httpapi.Post("/session/:sid/pty", s.postTerminal, "start a terminal"),
		httpapi.Get("/session/:sid/pty", s.getTerminals, "the terminals of a session"),
		httpapi.Delete("/session/:sid/pty", s.deleteTerminals, "end all terminals of a session"),
		httpapi.Get("/pty", s.getTerminals, "the terminals of all sessions"),
	}
	for _, base := range []string{"/session/:sid/pty/:id", "/pty/:id"} {
		for _, r := range s.terminalRoutes() {
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	list = append(list, s.execs.ShellRoutes()...)
	for _, base := range []string{"/session/:sid", "/session/:sid/shell/:shid"} {
		for _, r := range s.execs.Routes() {
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	list = append(list, s.compat.Routes()...)
	list = append(list, s.threadRoutes()...)
	list = append(list, s.recordRoutes()...)
	list = append(list, s.leaseRoutes()...)
	list = append(list, s.permissionRoutes()...)
	return append(list,
		httpapi.Get("/", s.getRoot, "the web page, or this list for Accept: application/json"),
		httpapi.Get("/assets/*", s.getPageFile, "files of the web page"),
		httpapi.Get("/favicon.svg", s.getPageFile, "the web page's icon"),
		httpapi.Get("/ws", s.getPage, "one WebSocket for all terminals of a page").Streams(),
		httpapi.Post("/tickets", s.postTickets, "a one-time ticket for a terminal or a login"),
		httpapi.Get("/healthz", s.getHealth, "whether the server is well"),
		httpapi.Get("/readyz", s.getReady, "whether the server takes requests"),
		httpapi.Get("/metrics", s.getMetrics, "Prometheus metrics"),
		httpapi.Get("/openapi.json", s.getOpenAPI, "the OpenAPI 3.1 document"),
		httpapi.Get("/version", s.getVersion, "the server's version"),
	)
}
