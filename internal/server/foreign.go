package server

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/foreign"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// foreignRoutes are for unmodified clients of other products.
func (ts *terminals) foreignRoutes() []httpapi.Route {
	socket := func(r httpapi.Route) httpapi.Route {
		return r.Refusing(httpapi.Named, httpapi.NotShown, httpapi.NoUpgrade).Streams()
	}
	at := func(base string, r httpapi.Route) httpapi.Route {
		r.Path = base + r.Path
		return r
	}
	list := []httpapi.Route{
		socket(httpapi.Hand(http.MethodGet, "openAttach", "/compat/attach/:id", "A terminal for @xterm/addon-attach",
			ts.openAttach, foreignSocket)),
		socket(httpapi.Hand(http.MethodGet, "openTTYD", "/compat/ttyd/:id/", "A terminal for clients of ttyd",
			ts.openTTYD, foreignSocket)).Text("The same as `ws` below it."),
		socket(httpapi.Hand(http.MethodGet, "openTTYDPage", "/compat/ttyd/:id/ws", "A terminal for the page of ttyd",
			ts.openTTYD, foreignSocket)),
		httpapi.Get("getTTYDToken", "/compat/ttyd/:id/token", "What the page of ttyd asks for first", ts.getTTYDToken).
			Text("A ticket may be shown, and is not used up.").Refusing(httpapi.Named),
		socket(httpapi.Hand(http.MethodGet, "openTerminado", "/compat/terminado/:id",
			"A terminal for terminado's clients", ts.openTerminado, foreignSocket)),
		socket(httpapi.Hand(http.MethodGet, "openJupyter", "/compat/terminado/:id/terminals/websocket/:name",
			"A terminal for JupyterLab", ts.openJupyter, foreignSocket)),
		httpapi.Hand(http.MethodGet, "listTerminado", "/compat/terminado/:id/api/terminals",
			"The terminals of JupyterLab", ts.listTerminado, terminadoList).Refusing(httpapi.Named),
		httpapi.Post("startTerminado", "/compat/terminado/:id/api/terminals", "A terminal when JupyterLab wants one",
			ts.startTerminado).Text("The terminal of the path, which is there.").
			Reads(wire.StartTerminado{}, "Not read: JupyterLab sends it without a Content-Type of JSON.").
			Refusing(httpapi.Named).ReadOnly(),
		httpapi.Hand(http.MethodDelete, "endTerminado", "/compat/terminado/:id/api/terminals/:name",
			"End a terminal from JupyterLab", ts.endTerminado,
			httpapi.Reply{Name: "TerminadoEnded", Status: http.StatusNoContent, Text: "It is gone."}).
			Text("As DELETE of the terminal.").
			Refusing(httpapi.Named, httpapi.Approved, httpapi.NoSpace).Audited("terminal.delete"),
		socket(httpapi.Hand(http.MethodGet, "openALiS", "/compat/asciinema/:id", "A live stream for asciinema-player",
			ts.openALiS, foreignSocket)),
		socket(httpapi.Hand(http.MethodGet, "openKubernetes", "/compat/k8s/:id", "A terminal for clients of Kubernetes",
			ts.openKubernetes, foreignSocket)),
	}
	const pod = "/compat/k8s/:id/api/v1/namespaces/:ns/pods/:pod"
	for _, verb := range []string{"exec", "attach"} {
		list = append(list, socket(at(pod, httpapi.Hand(http.MethodGet, verb+"Pod", "/"+verb,
			"A terminal for "+verb+" of Kubernetes", ts.openPod, foreignSocket))).
			Text("The server's URL is `…/compat/k8s/ID`. Namespace, pod, container and command count for nothing."))
	}
	for i := range list {
		list[i] = httpapi.Finding(list[i], ts.find)
	}
	return httpapi.Group("foreign", list...)
}

// openForeign opens a WebSocket with the protocol that speak returns.
func (ts *terminals) openForeign(c echo.Context, in wire.OpenForeign,
	speak func(*terminal.Terminal) (viewer.Protocol, error)) error {
	t, err := ts.socketOf(c, in.TerminalRef, in.Cols, in.Rows, in.Nesting)
	if err != nil {
		return err
	}
	protocol, err := speak(t)
	if err != nil {
		return err
	}
	who, err := whoOf(c, in.Watcher, stream.ClientCompat)
	if err != nil {
		return err
	}
	if _, looks := protocol.(*foreign.ALiS); looks {
		who.Role = stream.RoleRead
	}
	v, _ := ts.viewer(c, wire.Lines{Scrollback: in.Scrollback}, wire.Resume{})
	v.Who, v.Protocol, v.Cols, v.Rows = who, protocol, in.Cols, in.Rows
	if !viewer.OpenWebSocket(c.Response(), c.Request(), ts.Threads.Checked(t), v) {
		v.Ended()
	}
	return nil
}

func (ts *terminals) openAttach(c echo.Context, in wire.OpenForeign) error {
	return ts.openForeign(c, in, func(*terminal.Terminal) (viewer.Protocol, error) { return foreign.Attach{}, nil })
}

func (ts *terminals) openTTYD(c echo.Context, in wire.OpenForeign) error {
	return ts.openForeign(c, in, func(t *terminal.Terminal) (viewer.Protocol, error) {
		name, err := choose(c, foreign.TTYDName)
		return foreign.NewTTYD(name, cmp.Or(t.Hub().Stats().Title, t.Spec().Name, strings.Join(t.Spec().Cmd, " "))), err
	})
}

func (ts *terminals) openTerminado(c echo.Context, in wire.OpenForeign) error {
	return ts.openForeign(c, in, func(*terminal.Terminal) (viewer.Protocol, error) {
		return new(foreign.Terminado), nil
	})
}

func (ts *terminals) openJupyter(c echo.Context, in wire.OpenTerminado) error {
	return ts.openTerminado(c, in.OpenForeign)
}

// openALiS opens a stream for a player, which has no history and whose size does not count.
func (ts *terminals) openALiS(c echo.Context, in wire.OpenForeign) error {
	in.Scrollback, in.Cols, in.Rows = 0, 0, 0
	return ts.openForeign(c, in, func(t *terminal.Terminal) (viewer.Protocol, error) {
		name, err := choose(c, foreign.ALiSName)
		return foreign.NewALiS(name, time.Now, t.Hub().Snapshot), err
	})
}

func (ts *terminals) openKubernetes(c echo.Context, in wire.OpenKubernetes) error {
	return ts.openForeign(c, in.OpenForeign, func(*terminal.Terminal) (viewer.Protocol, error) {
		name, err := choose(c, foreign.K8sNames...)
		return foreign.NewKubernetes(name, in.Stdin, in.Stdout), err
	})
}

func (ts *terminals) openPod(c echo.Context, in wire.OpenPod) error {
	return ts.openKubernetes(c, in.OpenKubernetes)
}

// choose is the subprotocol of a request.
func choose(c echo.Context, ours ...string) (string, error) {
	name, ok := foreign.Choose(c.Request(), ours...)
	if !ok {
		return "", httpapi.BadRequest("Sec-WebSocket-Protocol: %s is needed here, or none", strings.Join(ours, " or "))
	}
	return name, nil
}

func (ts *terminals) getTTYDToken(ctx context.Context, in wire.TerminalRef) (wire.TTYDToken, error) {
	_, err := ts.terminalOf(ctx, in)
	return wire.TTYDToken{}, err
}

// terminado is the terminal of a path as JupyterLab knows it: by the name that it has there. JupyterLab drops a
// terminal that the list does not have.
func (ts *terminals) terminado(ctx context.Context, in wire.TerminalRef) (wire.TerminadoTerminal, error) {
	t, err := ts.terminalOf(ctx, in)
	if err != nil {
		return wire.TerminadoTerminal{}, err
	}
	return wire.TerminadoTerminal{Name: in.ID, LastActivity: t.Listed().LastActivityAt}, nil
}

func (ts *terminals) listTerminado(c echo.Context, in wire.TerminalRef) error {
	one, err := ts.terminado(c.Request().Context(), in)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, []wire.TerminadoTerminal{one})
}

func (ts *terminals) startTerminado(ctx context.Context, in wire.TerminalRef) (wire.TerminadoTerminal, error) {
	return ts.terminado(ctx, in)
}

func (ts *terminals) endTerminado(c echo.Context, in wire.TerminadoRef) error {
	if in.Terminal != in.ID { // as the list has it
		return httpapi.ErrWrongTerminal
	}
	_, err := ts.deleteTerminal(c.Request().Context(), wire.DeleteTerminal{TerminalRef: in.TerminalRef})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
