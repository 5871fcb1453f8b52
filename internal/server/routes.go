package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// terminalRoutes are served below /session/:sid/pty/:id and, as a short form, below /pty/:id.
func (s *Server) terminalRoutes() []httpapi.Route {
	return append(s.controlRoutes(), s.screenRoutes()...)
}

// controlRoutes are the routes that act on a terminal.
func (s *Server) controlRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("", s.getTerminal, "one terminal's state").
			Doc("getTerminal", "terminals", "One terminal").
			Text("Also for a deleted one, by id, until it is purged.").
			Params("secrets").
			Gives("Terminal NotFound Ambiguous"),
		httpapi.Delete("", s.deleteTerminal, "end the program and its children; ?purge=1 forgets the screen too").
			Doc("deleteTerminal", "terminals", "End a terminal").
			Text("SIGHUP to the program and everything that any program of this terminal has started, also when it " +
				"left the terminal or the program has ended long ago; SIGKILL after 3 seconds. The terminal leaves " +
				"the lists; its last screen stays readable by id for 24 hours, or until ?purge=1. Deleting twice " +
				"is no error, also at the same time (200, or 404 for a purged one). A restart at the same time is " +
				"refused, or what it started is deleted too. The reply comes when all processes are gone.").
			Params("purge").
			Gives("Done Invalid NotFound Ambiguous TooLarge NotJSON NeedsApproval NoSpace"),
		httpapi.Post("/input", s.postInput, "write bytes to the program").
			Doc("sendInput", "input", "Write bytes to the program").
			Text("The reply comes when all bytes were taken. Input of several callers is never mixed within a call.").
			Takes(wire.Input{}, "What to type.").
			Gives("Sent CannotType NotFound NotTaken TooLarge NotJSON NeedsApproval CannotTypeNow"),
		httpapi.Post("/keys", s.postKeys, "press named keys").
			Doc("sendKeys", "input", "Press named keys").
			Takes(wire.Keys{}, "What to press.").
			Gives("Sent CannotType NotFound NotTaken TooLarge NotJSON NeedsApproval CannotTypeNow"),
		httpapi.Post("/paste", s.postPaste, "paste text, bracketed when the program asked for it").
			Doc("paste", "input", "Paste text").
			Takes(wire.Paste{}, "What to paste.").
			Gives("Sent CannotType NotFound NotTaken TooLarge NotJSON NeedsApproval CannotTypeNow"),
		httpapi.Post("/resize", s.postResize, "change the size; the program gets SIGWINCH").
			Doc("resizeTerminal", "terminals", "Change the size").
			Text("The program gets SIGWINCH. This counts whatever the size policy; a viewer's next wish may change "+
				"it again.").
			Takes(wire.Size{}, "The new size.").
			Gives("Resized Invalid NotFound Ended TooLarge NotJSON NeedsApproval"),
		httpapi.Post("/signal", s.postSignal, "signal the foreground process group").
			Doc("signalTerminal", "terminals", "Signal the foreground process group").
			Takes(wire.Signal{}, "What to send.").
			Gives("Done Invalid NotFound Ended TooLarge NotJSON NeedsApproval"),
		httpapi.Post("/restart", s.postRestart, "start the program of an ended terminal again, below its old screen").
			Doc("restartTerminal", "terminals", "Start the program again").
			Text("Of a terminal whose program has ended or is lost: the same command starts in the last directory "+
				"known of it (where that is gone, in the nearest one above), with the environment given at "+
				"creation and at the last size. Id, name and positions stay, `generation` grows by one. The old "+
				"screen stays above a dim line that says how and when; modes that a program may have left are "+
				"reset. Streams ended with the program: watch again.").
			MayTake(wire.Nothing{}, "Nothing: an empty body, or `{}`. The header Content-Type is needed all the same.").
			Gives("Terminal CannotStart NotFound StillRuns TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
	}
}

// screenRoutes are the routes of a terminal's screen and output, at the same place.
func (s *Server) screenRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("/snapshot", s.getSnapshot, "the screen and history as ansi, text, json or html").
			Doc("getSnapshot", "screen", "The screen and its history").
			Text("Also of an ended or deleted terminal, as it was last.").
			Params("format scrollback").
			Gives("Screen Invalid NotFound Ambiguous"),
		httpapi.Get("/recording", s.getRecording,
			"the output as asciicast v3 or v2, or raw; "+
				"?format=asciicast-v3|asciicast-v2|raw&from=SEQ&follow=1").Streams().
			Doc("getRecording", "screen", "The output as a recording").
			Text("What the program has printed, as far as the journal keeps it, up to now. Also of an ended " +
				"terminal. The reply has no length, and a connection that breaks off in the middle is an error: " +
				"then it is not the whole.").
			Params("recordingFormat from follow").
			Gives("Recording Invalid NotKept Ambiguous"),
		httpapi.Get("/stream", s.getStream, "Server-Sent Events: snapshot, data, resize, meta, exit").Streams().
			Doc("streamEvents", "screen", "Watch, by Server-Sent Events").
			Text("Rule for the receiver: on `snapshot` resize to cols x rows, reset, write data; on `resume` keep " +
				"the screen and resize to cols x rows, which it should have; on `data` write; on `resize` resize. " +
				"What comes after a snapshot or a `resume` continues exactly there: no gap, no byte twice. A " +
				"viewer that is too slow gets a fresh snapshot; nobody else waits for it.").
			Params("scrollback since inside tty nested").
			Gives("EventStream Invalid NotFound NotShown"),
		httpapi.Get("/ws", s.getWebSocket, "the same events and input over WebSocket; ?format=json|binary").Streams().
			Doc("openSocket", "screen", "Watch and type, by WebSocket").
			Text("The same events as the stream, and input, on one connection.").
			Params("wire scrollback since history viewerCols viewerRows inside tty nested").
			Gives("TerminalSocket Invalid NotFound NotShown UpgradeRequired"),
		httpapi.Post("/wait", s.postWait,
			"wait for text, a pattern, silence, a prompt or the exit").ReadOnly().Streams().
			Doc("waitFor", "screen", "Wait until something has happened").
			Text("To miss nothing between a call and the wait for its effect, take `seq` before the call and give it "+
				"as "+
				"`since`.").
			Takes(wire.Wait{}, "What to wait for.").
			Gives("Waited Invalid NotKept TimedOut Ended TooLarge NotJSON Unavailable"),
	}
}

// routes is everything the server offers, in the order of the documentation. Those of a zero Server
// say what there is.
func (s *Server) routes() []httpapi.Route {
	list := []httpapi.Route{
		httpapi.Post("/session/:sid/pty", s.postTerminal, "start a terminal").
			Doc("createTerminal", "terminals", "Start a terminal").
			Text("The program runs until it ends by itself or is deleted, whoever watches, also while no server "+
				"runs. The reply is the terminal right after its start.").
			MayTake(wire.CreateTerminal{},
				"What to start. An empty body starts a login shell of 80x24; the header Content-Type is needed all "+
					"the same.").
			Gives("Started CannotStart NameTaken TooLarge NotJSON NeedsApproval CannotStartNow NoSpace"),
		httpapi.Get("/session/:sid/pty", s.getTerminals, "the terminals of a session, oldest first; ?after=&limit=").
			Doc("listSessionTerminals", "terminals", "The terminals of a session").
			Params("secrets listAfter listLimit").
			Gives("TerminalList Invalid NotFound"),
		httpapi.Delete("/session/:sid/pty", s.deleteTerminals, "end all terminals of a session").
			Doc("deleteSessionTerminals", "terminals", "End all terminals of a session").
			Text("As DELETE of each, at once. A session without terminals is no error.").
			Params("purge").
			Gives("Done Invalid TooLarge NotJSON NeedsApproval NoSpace"),
		httpapi.Get("/pty", s.getTerminals, "the terminals of all sessions, oldest first; ?after=&limit=").
			Doc("listTerminals", "terminals", "The terminals of all sessions").
			Params("secrets listAfter listLimit").
			Gives("TerminalList Invalid NotFound"),
	}
	for _, base := range []string{"/session/:sid/pty/:id", "/pty/:id"} {
		for _, r := range s.terminalRoutes() {
			if base != "/pty/:id" {
				r = foundBySession(r)
			}
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	list = append(list, s.execs.ShellRoutes()...)
	for _, base := range []string{"/session/:sid", "/session/:sid/shell/:shid"} {
		for _, r := range s.execs.Routes() {
			if base != "/session/:sid" {
				r = inShell(r)
			}
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	list = append(list, s.compat.Routes()...)
	list = append(list, s.threads.Routes()...)
	return append(list, s.ownRoutes()...)
}

// ownRoutes are about the page and the server itself.
func (s *Server) ownRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("/", s.getRoot, "the web page, or this list for Accept: application/json").
			Doc("getRoot", "server", "The web page, or the list of routes").
			Text("A browser (Accept: text/html) gets the web page, everybody else the list. With `?ticket=` a login " +
				"ticket " +
				"becomes a session cookie and the reply leads to `/`.").
			Params("login").
			Gives("Root LoggedIn NotModified"),
		httpapi.Get("/assets/*", s.getPageFile, "files of the web page").
			Doc("getAsset", "server", "A file of the web page").
			Gives("PageFile NotModified NoFile"),
		httpapi.Get("/favicon.svg", s.getPageFile, "the web page's icon").
			Doc("getIcon", "server", "The web page's icon").
			Gives("PageFile NotModified NoFile"),
		httpapi.Get("/ws", s.getPage, "one WebSocket for all terminals of a page").Streams().
			Doc("openPageSocket", "screen", "Watch any number of terminals, by WebSocket").
			Text("Each `attach` says its own `since` and gets all history; those of the query are checked and not " +
				"used.").
			Params("scrollback since").
			Gives("PageSocket Invalid UpgradeRequired"),
		httpapi.Post("/tickets", s.postTickets, "a one-time ticket for a terminal or a login").
			Doc("createTicket", "access", "A ticket for a terminal, or for a login").
			Text("For what cannot send a header: an EventSource or a WebSocket of a page, a link for somebody else.").
			Takes(wire.TicketRequest{}, "What for.").
			Gives("Ticket Invalid NotFound Ambiguous TooLarge NotJSON"),
		httpapi.Delete("/tickets", s.deleteTickets, "end the tickets of a terminal, ?pty=, or ?all=1").
			Doc("endTickets", "access", "End tickets").
			Text("Also ends what they have opened. Ending none is no error.").
			Params("ticketPTY allTickets").
			Gives("Done Invalid NotFound Ambiguous TooLarge NotJSON"),
		httpapi.Post("/logout", s.postLogout, "end this login, or with ?all=1 all logins and tickets").
			Doc("logOut", "access", "End a browser's login").
			Text("Also ends what it has opened. A logout of all holds for who was let in at the same moment too.").
			Params("allLogins").
			Gives("LoggedOut Invalid TooLarge NotJSON NoSpace"),
		httpapi.Get("/healthz", s.getHealth, "whether the server is well").
			Doc("getHealth", "server", "Whether the server is well").
			Text("Answers 200 also when degraded: a server with a full disk or without a keeper still serves its " +
				"terminals.").
			Gives("Health"),
		httpapi.Get("/readyz", s.getReady, "whether the server takes requests").
			Doc("getReady", "server", "Whether the server takes requests").
			Text("The port is open only while it does, so the answer is 200 or none.").
			Gives("Ready"),
		httpapi.Get("/metrics", s.getMetrics, "Prometheus metrics").
			Doc("getMetrics", "server", "Prometheus metrics").
			Text("With --metrics-public nothing is asked.").
			Gives("Metrics"),
		httpapi.Get("/openapi.json", s.getOpenAPI, "the OpenAPI 3.1 document").
			Doc("getOpenAPI", "server", "This document").
			Gives("Document"),
		httpapi.Get("/version", s.getVersion, "the server's version").
			Doc("getVersion", "server", "The server's version").
			Gives("Version"),
	}
}

// foundBySession is the route of a terminal whose name needs to be unique in its session
// only. The other one has the description.
func foundBySession(r httpapi.Route) httpapi.Route {
	r = r.Doc(r.ID+"InSession", r.Tag, r.Summary+", found by session").Text("")
	r.Replies = strings.NewReplacer(" Ambiguous", "", "NotShown", "NotShownInSession").Replace(r.Replies)
	if r.Path == "" && r.Method == http.MethodGet {
		r.Replies += " Invalid"
	}
	return r
}

// inShell is the route of commands in a shell that the path names.
func inShell(r httpapi.Route) httpapi.Route {
	r.ID += "InShell"
	if !slices.Contains(strings.Fields(r.Replies), "NotFound") {
		r.Replies += " NotFound"
	}
	return r
}

// Routes is everything that a server offers, for the document; it is never called.
func Routes() []httpapi.Route { return new(Server).routes() }
