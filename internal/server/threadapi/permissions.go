package threadapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// permissionRoutes are about what may be done with a thread's terminals. They are not held by
// permissions themselves: who may call the server may change them.
func (s *Service) permissionRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldGet("/api/threads/:id/permissions", s.getPermissions, "the permission mode and rules of a thread").
			Doc("getPermissions", "permissions", "What may be done").
			Text("Also of a thread of which nobody has said it: the default mode, and no rules.").
			Gives("Permissions NoThread NoCompute"),
		httpapi.OldPut("/api/threads/:id/permissions", s.putPermissions, "change the permission mode, the rules or both").
			Doc("setPermissions", "permissions", "Change what may be done").
			Text("For what comes after it; what runs goes on. A thread that is not there is made. Rules that are not "+
				"understood change nothing. The thread's record says the mode and the counts too.").
			Takes(wire.SetPermissions{}, "What changes.").
			Gives("Permissions Invalid NoThread TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/authorize", s.postAuthorize, "what the permissions say about a call of a tool").
			Doc("authorize", "permissions", "Ask what the permissions say").
			Text("For tools that somebody else carries out. The decision is an event of the thread. `ask` makes an "+
				"approval; "+
				"once that is approved, the identical call is `allow` once, within 10 minutes.").
			Takes(wire.Authorize{}, "The call.").
			Gives("Decision Invalid NoThread TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/approvals", s.getApprovals,
			"the calls that somebody was asked about, newest first; ?status=&limit=").
			Doc("listApprovals", "permissions", "List approvals").
			Params("secrets approvalsStatus approvalsLimit").
			Gives("Approvals Invalid NoThread NoCompute"),
		httpapi.OldGet("/api/threads/:id/approvals/:aid", s.getApproval,
			"a call that somebody was asked about; ?reveal=1").
			Doc("getApproval", "permissions", "One approval").
			Params("secrets reveal").
			Gives("Approval Invalid NoThread NoCompute"),
		httpapi.OldPost("/api/threads/:id/approvals/:aid", s.postApproval, "approve or deny a call").
			Doc("decideApproval", "permissions", "Approve or deny a call").
			Text("Approved, the identical call is let through once within 10 minutes; denied, it is refused for as "+
				"long. A call with `hidden` values is approved after somebody has looked at them.").
			Takes(wire.DecideApproval{}, "The answer.").
			Gives("Approval Invalid NoThread Decided TooLarge NotJSON NoCompute NoSpace"),
	}
}

func (s *Service) getPermissions(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	p, err := s.Threads.PermissionsOf(id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, s.Threads.Enforcer().Wire(p))
}

// permissionsRequest is the body of PUT …/permissions. What is absent stays as it was.
type permissionsRequest struct {
	Mode  *string         `json:"mode"`
	Rules json.RawMessage `json:"rules"`
}

func (s *Service) putPermissions(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	var req permissionsRequest
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	if req.Mode == nil && req.Rules == nil {
		return httpapi.BadRequest(`"mode", "rules" or both are needed`)
	}
	var rules *permission.Rules
	if req.Rules != nil {
		parsed, err := permission.ParseRules(req.Rules)
		if err != nil {
			return httpapi.BadRequest("%s", err).With("field", "rules")
		}
		rules = &parsed
	}
	if req.Mode != nil {
		if err := permission.CheckMode(*req.Mode); err != nil { // before a thread is made for it
			return httpapi.BadRequest("%s", err).With("field", "mode")
		}
	}
	p, err := s.Threads.SetPermissions(c.Request().Context(), id, req.Mode, rules)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, s.Threads.Enforcer().Wire(p))
}

func (s *Service) postAuthorize(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	var req wire.Authorize
	if err := httpapi.BindUpTo(c, &req, exec.MaxBody, false); err != nil {
		return err
	}
	if req.Tool == "" {
		return httpapi.BadRequest(`"tool" is needed: its name`).With("field", "tool")
	}
	call := permission.Call{Tool: req.Tool, Arguments: req.Arguments}
	if err := s.addDirectory(id, &call); err != nil {
		return err
	}
	d, err := s.Threads.Authorize(c.Request().Context(), id, call)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, d)
}

// addDirectory says where a command of exec that names no directory would begin, as POST …/exec does: then both are the
// same call. Errors: permission.ErrInvalid.
func (s *Service) addDirectory(session string, c *permission.Call) error {
	args, err := c.Object()
	if err != nil || c.Tool != permission.ToolExec || args["directory"] != nil {
		return err
	}
	shell, _ := args["shell"].(string)
	cwd, _ := args["cwd"].(string)
	args["directory"] = s.Shells.Directory(session, shell, cwd)
	c.Arguments, err = json.Marshal(args)
	return err
}

func (s *Service) getApprovals(c echo.Context) error {
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, maxRows)
	if err != nil {
		return err
	}
	status := c.QueryParam("status")
	if known := permission.ApprovalStatuses(); status != "" && !slices.Contains(known, status) {
		return httpapi.BadRequest("status %q: %s are allowed", httpapi.Clip(status),
			strings.Join(known, ", ")).With("field", "status")
	}
	r, id, err := s.conversations(c)
	if err != nil {
		return err
	}
	list, err := r.Approvals(id, 0)
	if err != nil {
		return err
	}
	reply := wire.Approvals{Approvals: []wire.Approval{}}
	for _, a := range list {
		if (status == "" || status == a.Status) && len(reply.Approvals) < int(limit) {
			reply.Approvals = append(reply.Approvals, a.Wire())
		}
	}
	shown, err := auth.SecretsShown(c)
	if err != nil {
		return err
	}
	for i := range reply.Approvals {
		s.hideApproval(&reply.Approvals[i], shown)
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func (s *Service) getApproval(c echo.Context) error {
	shown, err := s.revealed(c)
	if err != nil {
		return err
	}
	r, id, err := s.conversations(c)
	if err != nil {
		return err
	}
	a, err := r.Approval(id, c.Param("aid"))
	if err != nil {
		return err
	}
	s.hideApproval(&a.Approval, shown)
	return httpapi.WriteJSON(c, http.StatusOK, a.Wire())
}

func (s *Service) postApproval(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	var req wire.DecideApproval
	if err := httpapi.Bind(c, &req); err != nil {
		return err
	}
	r, err := s.Threads.ReadConversation(id)
	if err != nil {
		return err
	}
	if req.Decision == permission.AnswerApprove {
		if err := s.checkSeen(r, id, c.Param("aid")); err != nil {
			return err
		}
	}
	a, err := r.Answer(id, c.Param("aid"), req.Decision)
	if err != nil {
		return err
	}
	s.hideApproval(&a.Approval, false)
	return httpapi.WriteJSON(c, http.StatusOK, a.Wire())
}
