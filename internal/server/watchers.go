package server

import (
	"cmp"
	"context"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// guestName is what others see of a viewer that a link has let in, unless it says a name.
const guestName = "guest"

// maxWho bounds the name of a viewer, in characters, and its key, in bytes: names are in lists that all viewers get.
const maxWho = 64

// whoOf says who a viewer is. Errors: bad requests.
func whoOf(c echo.Context, in wire.Watcher, client string) (stream.Who, error) {
	g := auth.GrantOf(c.Request().Context())
	guest, own := auth.GuestIn(c), g.User
	if g.Share != "" {
		own = guestName // User is who has shared it
	}
	who := stream.Who{Name: cmp.Or(in.Name, own, guest.Name), Role: roleOf(g),
		Client: cmp.Or(guest.Door, in.Client, client)}
	if in.Key != "" {
		key := auth.DigestOf(in.Key)
		who.Key = hex.EncodeToString(key[:])
	}
	switch {
	case utf8.RuneCountInString(in.Name) > maxWho || strings.ContainsFunc(in.Name, auth.NotPlain):
		return who, httpapi.BadRequest("name: at most %d characters are allowed, without control characters", maxWho).
			WithField("name")
	case len(in.Key) > maxWho:
		return who, httpapi.BadRequest("key: at most %d bytes are allowed", maxWho).WithField("key")
	}
	return who, nil
}

// roleOf is the role of a viewer that a grant lets in: with a grant for one terminal or session nobody changes the
// terminal itself.
func roleOf(g auth.Grant) stream.Role {
	switch {
	case g.Role != auth.Write:
		return stream.RoleRead
	case !g.Everything():
		return stream.RoleWrite
	}
	return stream.RoleAdmin
}

func (ts *terminals) listViewers(ctx context.Context, in wire.TerminalRef) (wire.ViewerList, error) {
	t, err := ts.terminalOf(ctx, in)
	if err == nil {
		err = t.AwaitScreen(ctx)
	}
	if err != nil {
		return wire.ViewerList{}, err
	}
	return t.Hub().ViewerList(), nil
}

func (ts *terminals) controlTerminal(ctx context.Context, in wire.ControlTerminal) (wire.Controlled, error) {
	t, err := ts.terminalOf(ctx, in.TerminalRef)
	if err != nil {
		return wire.Controlled{}, err
	}
	if err := t.AwaitScreen(ctx); err != nil {
		return wire.Controlled{}, err
	}
	by, err := typist(t, cmp.Or(in.As, in.By))
	if err != nil {
		return wire.Controlled{}, err
	}
	c, err := t.Hub().Control(stream.Act{Action: in.Action, By: by, Viewer: in.Viewer})
	return wire.Controlled{Success: true, Control: c}, err
}

func (ts *terminals) kickViewer(ctx context.Context, in wire.KickViewer) (wire.Done, error) {
	t, err := ts.terminalOf(ctx, in.TerminalRef)
	if err != nil {
		return wire.Done{}, err
	}
	if err := t.AwaitScreen(ctx); err != nil {
		return wire.Done{}, err
	}
	auth.SetTarget(ctx, t.ID+"/"+httpapi.Clip(in.Viewer))
	return httpapi.Done, t.Hub().Kick(in.Viewer)
}

// typist is the viewer that a request names as who acts, nil for "". Errors: stream.ErrNoViewer.
func typist(t *terminal.Terminal, id string) (*stream.Subscription, error) {
	if id == "" {
		return nil, nil
	}
	return t.Viewer(id)
}

// mayType reports whether a request may type in a terminal: as the viewer it names, or as nobody. Errors:
// terminal.ErrExited, stream.ErrNoViewer, as Hub.MayType.
func mayType(t *terminal.Terminal, in wire.Typist) error {
	if !t.Running() {
		return t.ExitError()
	}
	by, err := typist(t, in.As)
	if err != nil {
		return err
	}
	return t.MayType(by)
}
