package server

import (
	"context"
	"errors"
	"strings"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/wire"
)

// terminals has the handlers of terminals.
type terminals struct {
	*httpapi.Base
	auth    *auth.Auth // writes down viewers that are refused
	sockets *viewer.Sockets
}

func (ts *terminals) createTerminal(ctx context.Context, in wire.CreateTerminal) (wire.Terminal, error) {
	if err := terminal.CheckSize(terminal.SizeOf(in)); err != nil {
		return wire.Terminal{}, err
	}
	if err := httpapi.CheckSandbox(in.Sandbox); err != nil {
		return wire.Terminal{}, err
	}
	if err := httpapi.CheckLimits(in.Limits); err != nil {
		return wire.Terminal{}, err
	}
	if err := ts.checkCreate(ctx, in); err != nil {
		return wire.Terminal{}, err
	}
	t, err := ts.Terminals.Create(in.Session, in)
	if err != nil {
		return wire.Terminal{}, err
	}
	auth.SetTarget(ctx, t.ID)
	return t.Wire(), nil
}

// checkCreate asks the permissions about a terminal that is about to be created.
func (ts *terminals) checkCreate(ctx context.Context, in wire.CreateTerminal) error {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return err
	}
	if !ts.Threads.Enforcer().Applies(in.Session) {
		return nil // what the permissions would be told costs looks at the disk
	}
	cmd := in.Cmd
	if cmd == nil {
		cmd = terminal.DefaultCmd()
	}
	args := permission.TerminalArgs{Command: permission.ShellWords(cmd), Cwd: in.Cwd, Env: in.Env, Name: in.Name}
	if _, provider, _ := ts.Shells.Begins(in.Session, ""); provider == "" {
		args.Directory = startdir.Resolve(startdir.InHome(in.Cwd))
	}
	return ts.Check(ctx, in.Session, permission.ToolPTY, args)
}

// directoryOf is the directory of a terminal's program, for the permissions; "" where nobody asks.
func (ts *terminals) directoryOf(t *terminal.Terminal) string {
	if !ts.Threads.Enforcer().Applies(t.Thread()) {
		return ""
	}
	return t.Directory()
}

func (ts *terminals) listTerminals(ctx context.Context, in wire.ListTerminals) (wire.TerminalList, error) {
	reply := wire.TerminalList{Ptys: []string{}, Items: []wire.Terminal{}}
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return reply, err
	}
	f := terminal.Filter{Session: in.Session, Name: in.Name, State: in.State, Refs: in.IDs}
	var err error
	if f.Labels, err = labelsOf(in.Labels); err != nil {
		return reply, err
	}
	list, next, err := ts.Terminals.Part(f, in.After, in.Limit)
	if err == nil {
		err = auth.CheckSecrets(ctx, in.Secrets)
	}
	var usages []*wire.TerminalUsage
	if err == nil && in.Usage {
		usages, err = ts.usagesOf(list)
	}
	for i, t := range list {
		w := shown(t.Listed(), t, in.ShowSecrets)
		if usages != nil {
			w.Usage = usages[i]
		}
		reply.Ptys, reply.Items = append(reply.Ptys, t.ID), append(reply.Items, w)
	}
	reply.Next = next
	return reply, err
}

// usagesOf is what terminals use and what they and others wait for. Errors: the kernel's.
func (ts *terminals) usagesOf(list []*terminal.Terminal) ([]*wire.TerminalUsage, error) {
	usages, err := terminal.Usages(list, wait.AtPrompt)
	if err != nil {
		return nil, err
	}
	asked := ts.Threads.Asked()
	for i, t := range list {
		if u := usages[i]; u != nil {
			u.Waits = ts.Waits.Number(t)
			all := permission.Asked{Thread: t.Thread()}
			if asked[all] || asked[permission.Asked{Thread: t.Thread(), Terminal: t.ID}] {
				u.WaitsFor = "approval"
			}
		}
	}
	return usages, nil
}

// listAllTerminals is listTerminals without a session in the path.
func (ts *terminals) listAllTerminals(ctx context.Context, in wire.ListAllTerminals) (wire.TerminalList, error) {
	ref := wire.SessionRef{Session: in.Session}
	if err := httpapi.CheckSession(ref); err != nil {
		return wire.TerminalList{}, httpapi.BadRequest("%v", err).WithField("session")
	}
	return ts.listTerminals(ctx, wire.ListTerminals{SessionRef: ref,
		TerminalFilter: in.TerminalFilter, ShowSecrets: in.ShowSecrets, ShowUsage: in.ShowUsage, Page: in.Page})
}

// labelsOf reads the labels of a query.
func labelsOf(given []string) (wire.Labels, error) {
	labels := wire.Labels{}
	for _, one := range given {
		k, v, ok := strings.Cut(one, "=")
		if !ok {
			return nil, httpapi.BadRequest("label %q: KEY=VALUE is needed", httpapi.Clip(one)).WithField("label")
		}
		if err := terminal.CheckLabel(k, v); err != nil {
			return nil, httpapi.BadRequest("%v", err).WithField("label")
		}
		if other, ok := labels[k]; ok && other != v {
			return nil, httpapi.BadRequest("label %s is there with two values, and a terminal has one", k).
				WithField("label")
		}
		labels[k] = v
	}
	return labels, nil
}

// terminalOf is the terminal a path names, if the request may see it.
func (ts *terminals) terminalOf(ctx context.Context, ref wire.TerminalRef) (*terminal.Terminal, error) {
	if err := httpapi.CheckSession(ref.SessionRef); err != nil {
		return nil, err
	}
	g, session := auth.GrantOf(ctx), ref.Session
	if g.Session != "" && owner.IsSpace(session) {
		session = g.Session // a name needs to be unique there only
	}
	t, err := ts.Terminals.Find(session, ref.ID)
	if errors.Is(err, terminal.ErrAmbiguous) && !g.Everything() {
		return nil, httpapi.ErrWrongTerminal // the refusal would name terminals outside the grant
	}
	if err != nil {
		return nil, err
	}
	auth.SetTarget(ctx, t.ID)
	return t, auth.RequireTerminal(ctx, t.Thread(), t.ID)
}

// permitted is the terminal a path names, if the permissions of its thread allow what the request does to it.
func (ts *terminals) permitted(ctx context.Context, ref wire.TerminalRef, tool string,
	args func(*terminal.Terminal) any) (*terminal.Terminal, error) {
	t, err := ts.terminalOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	return t, ts.Check(ctx, t.Thread(), tool, args(t))
}

func (ts *terminals) getTerminal(ctx context.Context, in wire.GetTerminal) (wire.Terminal, error) {
	t, err := ts.terminalOf(ctx, in.TerminalRef)
	if err != nil {
		return wire.Terminal{}, err
	}
	if err := t.AwaitScreen(ctx); err != nil {
		return wire.Terminal{}, err
	}
	return shownTerminal(t, in.ShowSecrets), auth.CheckSecrets(ctx, in.Secrets)
}

func (ts *terminals) changeTerminal(ctx context.Context, in wire.ChangeTerminal) (wire.Terminal, error) {
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolChange, func(t *terminal.Terminal) any {
		args := permission.ChangeArgs{Terminal: t.ID, Name: in.Name, Cols: in.Cols, Rows: in.Rows, Labels: in.Labels,
			Title: in.Title, Restore: in.Restore}
		if in.SizePolicy != nil {
			args.SizePolicy = string(*in.SizePolicy)
		}
		return args
	})
	if err == nil {
		t, err = ts.Terminals.Change(ctx, t, in)
	}
	if err != nil {
		return wire.Terminal{}, err
	}
	return t.Wire(), nil
}

// shownTerminal is a terminal's state as a request asks for it.
func shownTerminal(t *terminal.Terminal, show wire.ShowSecrets) wire.Terminal {
	return shown(t.Wire(), t, show)
}

// shown is w with the secrets of t, if they are to be shown.
func shown(w wire.Terminal, t *terminal.Terminal, show wire.ShowSecrets) wire.Terminal {
	if show.Secrets {
		w.Env = t.Env()
	}
	return w
}

func (ts *terminals) deleteTerminal(ctx context.Context, in wire.DeleteTerminal) (wire.Done, error) {
	t, err := ts.permitted(ctx, in.TerminalRef, permission.ToolKill, func(t *terminal.Terminal) any {
		return permission.TerminalArgs{Terminal: t.ID}
	})
	if err != nil {
		return wire.Done{}, err
	}
	// It goes on when the client hangs up: a terminal half deleted helps nobody.
	return httpapi.Done, ts.Terminals.Delete(context.WithoutCancel(ctx), t, in.Purge)
}

func (ts *terminals) deleteTerminals(ctx context.Context, in wire.DeleteTerminals) (wire.Done, error) {
	if err := httpapi.CheckSession(in.SessionRef); err != nil {
		return wire.Done{}, err
	}
	if err := ts.Check(ctx, in.Session, permission.ToolKill, permission.NoArgs{}); err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, ts.Terminals.DeleteSession(context.WithoutCancel(ctx), in.Session, in.Purge)
}
