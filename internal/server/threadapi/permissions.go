package threadapi

import (
	"context"
	"encoding/json"

	"github.com/evertty/evertty/internal/conversation/store"
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
			return wire.Permissions{}, httpapi.BadRequest("%s", err).WithField("rules")
		}
		rules = &parsed
	}
	if req.Mode != nil {
		if err := permission.CheckMode(string(*req.Mode)); err != nil { // before a thread is made for it
			return wire.Permissions{}, httpapi.BadRequest("%s", err).WithField("mode")
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
		return wire.Decision{}, httpapi.BadRequest(`"tool" is needed: its name`).WithField("tool")
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
	return read(p.Base, wire.RecordRef{ThreadRef: in.ThreadRef}, func(m *store.Conversations, thread, _ string) (
		reply wire.Approvals, err error) {
		reply.Approvals = []wire.Approval{}
		list, err := m.Approvals(thread, 0)
		if err == nil {
			err = auth.CheckSecrets(ctx, in.Secrets)
		}
		for _, a := range list {
			if (in.Status == "" || in.Status == a.Status) && len(reply.Approvals) < in.Limit && err == nil {
				reply.Approvals = append(reply.Approvals, p.shown(a, in.Secrets))
			}
		}
		return reply, err
	})
}

func (p *permissions) getApproval(ctx context.Context, in wire.GetApproval) (wire.Approval, error) {
	if err := p.checkReveal(ctx, in); err != nil {
		return wire.Approval{}, err
	}
	return p.approval(in.ApprovalRef, in.Secrets || in.Reveal, (*store.Conversations).Approval)
}

func (p *permissions) decideApproval(_ context.Context, in wire.DecideApproval) (wire.Approval, error) {
	return p.approval(in.ApprovalRef, false, func(m *store.Conversations, thread, id string) (permission.Approval,
		error) {
		if in.Decision == permission.AnswerApprove {
			if err := p.checkSeen(m, thread, id); err != nil {
				return permission.Approval{}, err
			}
		}
		return m.Answer(thread, id, in.Decision)
	})
}

// approval is what get returns of the approval that a path names.
func (p *permissions) approval(ref wire.ApprovalRef, secrets bool,
	get func(m *store.Conversations, thread, id string) (permission.Approval, error)) (wire.Approval, error) {
	return read(p.Base, wire.RecordRef{ThreadRef: ref.ThreadRef}, func(m *store.Conversations, thread, _ string) (
		reply wire.Approval, _ error) {
		a, err := get(m, thread, ref.Approval)
		if err == nil {
			reply = p.shown(a, secrets)
		}
		return reply, err
	})
}
