package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/evertty/evertty/internal/server/compat"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/threadapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// controlRoutes act on a terminal. They are served below /session/:sid/pty/:id and, as a short form, below /pty/:id.
func (ts *terminals) controlRoutes() []httpapi.Route {
	return append(httpapi.Group("terminals",
		httpapi.Get("getTerminal", "", "One terminal", ts.getTerminal).
			Text("Also for a deleted one, by id, until it is purged.").Refusing(httpapi.Named),
		httpapi.Patch("changeTerminal", "", "Change name, labels, title or size", ts.changeTerminal).
			Text("All of it, or nothing when one field is wrong. It is on disk when the reply comes, and whoever "+
				"lists terminals sees it. An ended terminal takes everything but a size.").
			Body("What to change.").
			Refusing(httpapi.Named, httpapi.NameTaken, httpapi.Ended, httpapi.Approved, httpapi.NoSpace,
				httpapi.Unavailable, httpapi.Incapable).
			Audited("terminal.change"),
		httpapi.Delete("deleteTerminal", "", "End a terminal", ts.deleteTerminal).
			Text("SIGHUP to the program and everything that any program of this terminal has started, also when it "+
				"left the terminal or the program has ended long ago; SIGKILL after 3 seconds. The terminal leaves "+
				"the lists; its last screen stays readable by id for 24 hours, or until ?purge=1. Deleting twice "+
				"is no error, also at the same time (200, or 404 for a purged one). A restart at the same time is "+
				"refused, or what it started is deleted too. The reply comes when all processes are gone.").
			Refusing(httpapi.Named, httpapi.Approved, httpapi.NoSpace).Audited("terminal.delete"),
		httpapi.Post("resizeTerminal", "/resize", "Change the size", ts.resizeTerminal).
			Text("The program gets SIGWINCH. This counts whatever the size policy; a viewer's next wish may change "+
				"it again.").
			Body("The new size.").Refusing(httpapi.Named, httpapi.Ended, httpapi.Approved).Audited(httpapi.NotAudited),
		httpapi.Post("signalTerminal", "/signal", "Signal the foreground process group", ts.signalTerminal).
			Body("What to send.").Refusing(httpapi.Named, httpapi.Ended, httpapi.Approved).Audited("terminal.signal"),
		httpapi.Post("restartTerminal", "/restart", "Start the program again", ts.restartTerminal).
			Text("Of a terminal whose program has ended or is lost: the same command starts in the last directory "+
				"known of it (where that is gone, in the nearest one above), with the environment given at "+
				"creation and at the last size. Id, name and positions stay, `generation` grows by one. The old "+
				"screen stays above a dim line that says how and when; modes that a program may have left are "+
				"reset. Streams ended with the program: watch again.").
			OptionalBody("Nothing: no body, an empty one, or `{}`.").
			Refusing(httpapi.Named, httpapi.Starting, httpapi.StillRuns, httpapi.Approved, httpapi.NoSpace).
			Audited("terminal.restart"),
		httpapi.Post("parkTerminal", "/park", "Move the screens to the disk", ts.parkTerminal).
			Text("The screens of an idle terminal leave memory; the program runs on, and nothing of its state is lost. "+
				"`parked` is true until somebody looks at the screen, types, resizes, signals or waits, or the "+
				"program prints; the screen is exactly the same then. A terminal that is watched, waited for, or prints "+
				"all the time is refused. Doing it twice is no error.").
			OptionalBody("Nothing: no body, an empty one, or `{}`.").
			Refusing(httpapi.Named, httpapi.NotIdle, httpapi.Shutdown, httpapi.NoSpace).Audited(httpapi.NotAudited),
	), httpapi.Group("input",
		httpapi.Get("listViewers", "/viewers", "Who watches, and who types", ts.listViewers).
			Text("Each connection is a viewer: a stream, a WebSocket, a terminal of a page.").Refusing(httpapi.Named),
		httpapi.Post("controlTerminal", "/control", "Lock the keyboard, ask for it, hand it over", ts.controlTerminal).
			Text("While a terminal is locked its holder alone types; others get 423 LOCKED, on a WebSocket an `error` "+
				"event with this code. A holder that has been gone for 30 seconds has let go. Viewers that only look "+
				"may do none of this (403).").
			Body("What to do.").Refusing(httpapi.Named, httpapi.Locked, httpapi.Controls).Audited("terminal.control"),
		httpapi.Post("kickViewer", "/viewers/:vid/kick", "Remove a viewer", ts.kickViewer).
			Text("Its WebSocket closes with 4403, its stream ends with the event `kicked`; its ticket or share opens "+
				"nothing more.").
			OptionalBody("Nothing: no body, an empty one, or `{}`.").Refusing(httpapi.Named, httpapi.NoViewer).
			Audited("viewer.kick"),
		httpapi.Post("sendInput", "/input", "Write bytes to the program", ts.sendInput).
			Text("The reply comes when all bytes were taken. Input of several callers is never mixed within a call.").
			Body("What to type.").
			Refusing(httpapi.Named, httpapi.Typing, httpapi.Approved, httpapi.Untyped, httpapi.Locked,
				httpapi.NoViewer).
			Audited(httpapi.NotAudited),
		httpapi.Post("sendKeys", "/keys", "Press named keys", ts.sendKeys).
			Body("What to press.").
			Refusing(httpapi.Named, httpapi.Typing, httpapi.Approved, httpapi.Untyped, httpapi.Locked,
				httpapi.NoViewer).
			Audited(httpapi.NotAudited),
		httpapi.Post("paste", "/paste", "Paste text", ts.paste).
			Body("What to paste.").
			Refusing(httpapi.Named, httpapi.Typing, httpapi.Approved, httpapi.Untyped, httpapi.Locked,
				httpapi.NoViewer).
			Audited(httpapi.NotAudited),
	)...)
}

// screenRoutes are about a terminal's screen and output, at the same place.
func (ts *terminals) screenRoutes() []httpapi.Route {
	return httpapi.Group("screen",
		httpapi.Hand(http.MethodGet, "getSnapshot", "/snapshot", "The screen and its history", ts.getSnapshot, screen).
			Text("Also of an ended or deleted terminal, as it was last.").Refusing(httpapi.Named),
		httpapi.Hand(http.MethodGet, "getRecording", "/recording", "The output as a recording", ts.getRecording,
			recordingReply).
			Text("What the program has printed, as far as the journal keeps it, up to now. Also of an ended "+
				"terminal. The reply has no length, and a connection that breaks off in the middle is an error: "+
				"then it is not the whole.").
			Refusing(httpapi.Named, httpapi.NotKept).Streams(),
		httpapi.Hand(http.MethodGet, "streamEvents", "/stream", "Watch, by Server-Sent Events", ts.getStream,
			eventStream).
			Text("Rule for the receiver: on `snapshot` resize to cols x rows, reset, write data; on `resume` keep "+
				"the screen and resize to cols x rows, which it should have; on `data` write; on `resize` resize. "+
				"What comes after a snapshot or a `resume` continues exactly there: no gap, no byte twice. A "+
				"viewer that is too slow gets a fresh snapshot; nobody else waits for it.").
			Refusing(httpapi.Named, httpapi.NotShown).Streams(),
		httpapi.Hand(http.MethodGet, "openSocket", "/ws", "Watch and type, by WebSocket", ts.getWebSocket,
			terminalSocket).
			Text("The same events as the stream, and input, on one connection.").
			Refusing(httpapi.Named, httpapi.NotShown, httpapi.NoUpgrade, httpapi.NotRead).Streams(),
		httpapi.Post("waitFor", "/wait", "Wait until something has happened", ts.waitFor).
			Text("To miss nothing between a call and the wait for its effect, take `seq` before the call and give it "+
				"as `since`.").
			Body("What to wait for.").
			Refusing(httpapi.Named, httpapi.Ended, httpapi.Unavailable, httpapi.NotKept, httpapi.TimedOut).
			ReadOnly().Streams(),
	)
}

// sessionRoutes are about the terminals of a session, or of all.
func (ts *terminals) sessionRoutes() []httpapi.Route {
	return httpapi.Group("terminals",
		httpapi.Post("createTerminal", "/session/:sid/pty", "Start a terminal", ts.createTerminal).
			Text("The program runs until it ends by itself or is deleted, whoever watches, also while no server "+
				"runs. The reply is the terminal right after its start.").
			OptionalBody("What to start. An empty body starts a login shell of 80x24; the header Content-Type is "+
				"needed all the same.").
			Status(http.StatusCreated, "It runs.").
			Refusing(httpapi.Starting, httpapi.NameTaken, httpapi.Approved, httpapi.NoSpace).Audited("terminal.create"),
		httpapi.Get("listSessionTerminals", "/session/:sid/pty", "The terminals of a session", ts.listTerminals).
			Refusing(httpapi.Named).KnownQuery(),
		httpapi.Delete("deleteSessionTerminals", "/session/:sid/pty", "End all terminals of a session",
			ts.deleteTerminals).
			Text("As DELETE of each, at once. A session without terminals is no error.").
			Refusing(httpapi.Approved, httpapi.NoSpace).Audited("terminal.delete"),
		httpapi.Get("listTerminals", "/pty", "The terminals of all sessions", ts.listAllTerminals).
			Refusing(httpapi.Named).KnownQuery(),
	)
}

// find is the check that a route's terminal is there.
func (ts *terminals) find(ctx context.Context, ref wire.TerminalRef) error {
	_, err := ts.terminalOf(ctx, ref)
	return err
}

// offered is everything the server offers, in the order of the documentation.
func (s *Server) offered() []httpapi.Route {
	ts := &terminals{&s.Base, s.config.Auth, s.sockets}
	list := ts.sessionRoutes()
	for _, base := range []string{"/session/:sid/pty/:id", "/pty/:id"} {
		for _, r := range append(ts.controlRoutes(), ts.screenRoutes()...) {
			r = httpapi.Finding(r, ts.find)
			if base != "/pty/:id" {
				r = foundBySession(r)
			}
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	execs := &exec.Service{Base: &s.Base}
	list = append(list, execs.ShellRoutes()...)
	for _, base := range []string{"/session/:sid", "/session/:sid/shell/:shid"} {
		for _, r := range execs.Routes() {
			if base != "/session/:sid" {
				r = inShell(r)
			}
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	calls := &compat.Service{Service: execs}
	return slices.Concat(list, calls.Routes(), threadapi.Routes(&s.Base, s.config.Auth), s.ownRoutes(), ts.pageRoutes(),
		ts.foreignRoutes(), s.config.Auth.Routes())
}

// ownRoutes are about the page and the server itself.
func (s *Server) ownRoutes() []httpapi.Route {
	return httpapi.Group("server",
		httpapi.Hand(http.MethodGet, "getRoot", "/", "The web page, or the list of routes", s.getRoot, root, loggedIn,
			notModified).
			Text("A browser (Accept: text/html) gets the web page, everybody else the list. With `?ticket=` a login "+
				"ticket becomes a session cookie and the reply leads to `/`."),
		httpapi.Hand(http.MethodGet, "getAsset", "/assets/*", "A file of the web page", s.getPageFile, pageFile,
			notModified).Refusing(httpapi.NoFile),
		httpapi.Hand(http.MethodGet, "getIcon", "/favicon.svg", "The web page's icon", s.getPageFile, pageFile,
			notModified).Refusing(httpapi.NoFile),
		httpapi.Get("getHealth", "/healthz", "Whether the server is well", s.getHealth).
			Text("Answers 200 also when degraded: a server with a full disk or without a keeper still serves its "+
				"terminals."),
		httpapi.Get("getReady", "/readyz", "Whether the server takes requests", s.getReady).
			Text("The port is open only while it does, so the answer is 200 or none.").
			Replying("Ready", "It does; only the status is given."),
		httpapi.Hand(http.MethodGet, "getMetrics", "/metrics", "Prometheus metrics", s.getMetrics, metricsReply).
			Text("With --metrics-public nothing is asked.").AdminOnly(),
		httpapi.Hand(http.MethodPost, "backup", "/backup", "All that the server keeps, in one archive", s.getBackup,
			backupReply).
			Text("Consistent while programs run: each file is as a kill of the server at that moment would leave it. "+
				"It has the secrets of threads, so it needs full access; the token, logins and the audit log are not "+
				"in it. `evertty restore` makes a data directory of it.").
			Refusing(httpapi.NoSpace, httpapi.Shutdown).Streams().Audited("server.backup").AdminOnly(),
		httpapi.Hand(http.MethodGet, "getOpenAPI", "/openapi.json", "This document", s.getOpenAPI, document),
		httpapi.Get("getVersion", "/version", "The server's version", s.getVersion),
	)
}

// pageRoutes are for the page.
func (ts *terminals) pageRoutes() []httpapi.Route {
	return httpapi.Group("screen",
		httpapi.Hand(http.MethodGet, "openPageSocket", "/ws", "Watch any number of terminals, by WebSocket", ts.getPage,
			pageSocket).
			Text("Each `attach` says its own `since` and gets all history; those of the query are checked and not "+
				"used.").
			Refusing(httpapi.NoUpgrade).Streams(),
	)
}

// foundBySession is the route of a terminal whose name needs to be unique in its session only. The other one has the
// description.
func foundBySession(r httpapi.Route) httpapi.Route {
	r.ID, r.Summary, r.Description = r.ID+"InSession", r.Summary+", found by session", ""
	r.Refuses = slices.DeleteFunc(slices.Clone(r.Refuses), func(err error) bool {
		return errors.Is(err, terminal.ErrAmbiguous)
	})
	return r
}

// inShell is the route of commands in a shell that the path names.
func inShell(r httpapi.Route) httpapi.Route {
	r.ID += "InShell"
	return r.Refusing(httpapi.Absent)
}

// Routes is everything that a server offers, for the document; it is never called.
func Routes() []httpapi.Route { return new(Server).offered() }
