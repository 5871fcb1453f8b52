package threadapi

import (
	"context"
	"encoding/json"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

func (p *permissions) getPermissions(_ context.Context, in wire.ThreadRef) (wire.Permissions, error) {
	are, err := p.Threads.PermissionsOf(in.Thread)
	if err != nil {
		return wire.Permissions{}, err
	}
	return p.Threads.Enforcer().Wire(are), nil
}

func (p *permissions) setPermissions(ctx context.Context, in wire.ThreadRef) (wire.Permissions, error) {
	var req wire.SetPermissions
	if err := httpapi.Bind(httpapi.EchoOf(ctx), &req); err != nil {
		return wire.Permissions{}, err
	}
	if req.Mode == nil && req.Rules == nil {
		return wire.Permissions{}, httpapi.BadRequest(`"mode", "rules" or both are needed`)
	}
	var rules *permission.Rules
	if req.Rules != nil {
		parsed, err := permission.ParseRules(req.Rules)
		if err != nil {
			return wire.Permissions{}, httpapi.BadRequest("%s", err).With("field", "rules")
		}
		rules = &parsed
	}
	if req.Mode != nil {
		if err := permission.CheckMode(string(*req.Mode)); err != nil { // before a thread is made for it
			return wire.Permissions{}, httpapi.BadRequest("%s", err).With("field", "mode")
		}
	}
	are, err := p.Threads.SetPermissions(ctx, in.Thread, (*string)(req.Mode), rules)
	if err != nil {
		return wire.Permissions{}, err
	}
	return p.Threads.Enforcer().Wire(are), nil
}

func (p *permissions) authorize(ctx context.Context, in wire.Authorize) (wire.Decision, error) {
	if in.Tool == "" {
		return wire.Decision{}, httpapi.BadRequest(`"tool" is needed: its name`).With("field", "tool")
	}
	call := permission.Call{Tool: in.Tool, Arguments: in.Arguments}
	if err := p.addDirectory(in.Thread, &call); err != nil {
		return wire.Decision{}, err
	}
	return p.Threads.Authorize(ctx, in.Thread, call)
}

// addDirectory says where a command of exec that names no directory would begin, as POST …/exec does: then both are the
// same call. Errors: permission.ErrInvalid.
func (p *permissions) addDirectory(session string, c *permission.Call) error {
	args, err := c.Object()
	if err != nil || c.Tool != permission.ToolExec || args["directory"] != nil {
		return err
	}
	shell, _ := args["shell"].(string)
	cwd, _ := args["cwd"].(string)
	args["directory"] = p.Shells.Directory(session, shell, cwd)
	c.Arguments, err = json.Marshal(args)
	return err
}

func (p *permissions) listApprovals(ctx context.Context, in wire.ListApprovals) (wire.Approvals, error) {
	reply := wire.Approvals{Approvals: []wire.Approval{}}
	m, err := p.Threads.ReadConversation(in.Thread)
	if err != nil {
		return reply, err
	}
	list, err := m.Approvals(in.Thread, 0)
	if err == nil {
		err = auth.CheckSecrets(ctx, in.Secrets)
	}
	if err != nil {
		return reply, err
	}
	for _, a := range list {
		if (in.Status == "" || in.Status == a.Status) && len(reply.Approvals) < in.Limit {
			shown := a.Wire()
			p.hideApproval(&shown, in.Secrets)
			reply.Approvals = append(reply.Approvals, shown)
		}
	}
	return reply, nil
}

func (p *permissions) getApproval(ctx context.Context, in wire.GetApproval) (wire.Approval, error) {
	if err := p.checkReveal(ctx, in); err != nil {
		return wire.Approval{}, err
	}
	m, err := p.Threads.ReadConversation(in.Thread)
	if err != nil {
		return wire.Approval{}, err
	}
	a, err := m.Approval(in.Thread, in.Approval)
	if err != nil {
		return wire.Approval{}, err
	}
	reply := a.Wire()
	p.hideApproval(&reply, in.Secrets || in.Reveal)
	return reply, nil
}

func (p *permissions) decideApproval(_ context.Context, in wire.DecideApproval) (wire.Approval, error) {
	m, err := p.Threads.ReadConversation(in.Thread)
	if err != nil {
		return wire.Approval{}, err
	}
	if in.Decision == permission.AnswerApprove {
		if err := p.checkSeen(m, in.Thread, in.Approval); err != nil {
			return wire.Approval{}, err
		}
	}
	a, err := m.Answer(in.Thread, in.Approval, in.Decision)
	if err != nil {
		return wire.Approval{}, err
	}
	reply := a.Wire()
	p.hideApproval(&reply, false)
	return reply, nil
}
