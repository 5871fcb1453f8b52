package wire

import (
	"encoding/json"
	"time"
)

// PermissionMode is the mode of a thread. `read-only`, `workspace-write` (the default) and
// `danger-full-access` allow what needs no more; `prompt` asks for everything, `allow` allows
// everything, unless a rule says otherwise.
type PermissionMode string

// The values of PermissionMode.
const (
	PermissionModeReadOnly         PermissionMode = "read-only"
	PermissionModeWorkspaceWrite   PermissionMode = "workspace-write"
	PermissionModeDangerFullAccess PermissionMode = "danger-full-access"
	PermissionModePrompt           PermissionMode = "prompt"
	PermissionModeAllow            PermissionMode = "allow"
)

// PermissionRule matches a call when all its fields do; it has at least one.
//
//schema:minProperties 1
type PermissionRule struct {
	// The tool, or the broader one that it belongs to.
	Tool string `json:"tool,omitempty" minLength:"1" maxLength:"4096" pattern:"\\S"`
	// The argument that prefix, equals or contains look at; without it they look at command.
	Key string `json:"key,omitempty" minLength:"1" maxLength:"4096" pattern:"\\S"`
	// The beginning of the argument.
	Prefix string `json:"prefix,omitempty" minLength:"1" maxLength:"4096" pattern:"\\S"`
	// All of the argument.
	Equals string `json:"equals,omitempty" minLength:"1" maxLength:"4096" pattern:"\\S"`
	// Of rules that deny or ask: a part of the argument, without key of the line
	// "tool key=value …", with the arguments by name. Of rules that allow: as prefix.
	Contains string `json:"contains,omitempty" minLength:"1" maxLength:"4096" pattern:"\\S"`
	// A part of the argument file_path, path, new_path, cwd or directory.
	PathContains string `json:"path_contains,omitempty" minLength:"1" maxLength:"4096" pattern:"\\S"`
}

// PermissionRules has rules; at most 1000 of them. A deny rule comes before an ask rule, that
// before an allow rule, all before the mode.
type PermissionRules struct {
	// What is allowed.
	Allow []PermissionRule `json:"allow" optional:"true" maxItems:"1000"`
	// What is denied.
	Deny []PermissionRule `json:"deny" optional:"true" maxItems:"1000"`
	// What somebody is asked about.
	Ask []PermissionRule `json:"ask" optional:"true" maxItems:"1000"`
}

// SetPermissions changes permissions; an absent field stays as it was.
//
//schema:minProperties 1
//schema:examples [{"mode": "workspace-write", "rules": {"deny": [{"tool": "exec",
//schema:and "contains": "rm -rf"}], "ask": [{"tool": "exec", "contains": "git push"}]}}]
type SetPermissions struct {
	// The mode.
	Mode *PermissionMode `json:"mode,omitempty"`
	// All rules.
	//schema:ref "#/components/schemas/PermissionRules"
	Rules json.RawMessage `json:"rules,omitempty"` // PermissionRules, which package permission reads strictly
}

// Permissions say what may be done with the terminals of a thread.
//
//schema:reply "The permissions."
type Permissions struct {
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// Its mode.
	Mode PermissionMode `json:"mode"`
	// Its own rules.
	Rules PermissionRules `json:"rules"`
	// Something is decided: the mode is another than the default, or there are rules. Else
	// everything is let through and no event tells of it.
	Active bool `json:"active"`
	// Somebody may be asked.
	PromptingEnabled bool         `json:"prompting_enabled"`
	RuleCounts       RuleCountsOf `json:"rule_counts"`
	// The rules of --permission-rules, which are for all threads.
	ServerRules PermissionRules `json:"server_rules"`
	// When somebody has set them.
	UpdatedAt *string `json:"updated_at" format:"date-time"`
}

// RuleCountsOf counts the rules that apply, with the server's.
type RuleCountsOf struct {
	// That allow.
	Allow int `json:"allow" minimum:"0"`
	// That ask.
	Ask int `json:"ask" minimum:"0"`
	// That deny.
	Deny int `json:"deny" minimum:"0"`
}

// Authorize is a call of a tool.
//
//schema:examples [{"tool": "exec", "arguments": {"command": "git push"}}]
type Authorize struct {
	ThreadRef
	// Its name: one of the server's own, or any other, which needs danger-full-access.
	Tool string `json:"tool" minLength:"1" maxLength:"256"`
	// Its arguments. Numbers are the same only when they are written alike.
	//schema:type ["object", "null"]
	//schema:additionalProperties true
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Decision is the decision about a call.
//
//schema:reply "The decision."
type Decision struct {
	// What it is.
	Decision string `json:"decision" enum:"allow,deny,ask"`
	// Why: a sentence for a person.
	Reason string `json:"reason"`
	// The rule that decided.
	Rule *PermissionRule `json:"rule"`
	// The approval that is asked for, or that has decided.
	ApprovalID string `json:"approval_id,omitempty"`
}

// Approval is a call that somebody was asked about.
//
//schema:reply "The approval."
type Approval struct {
	// Its id.
	ID string `json:"id"`
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// The tool.
	Tool string `json:"tool"`
	// The arguments, whole. Input to a terminal on a stream is approved for a connection and is not
	// told.
	//schema:type "object"
	//schema:additionalProperties true
	Arguments json.RawMessage `json:"arguments"`
	// Why somebody is asked.
	Reason string `json:"reason"`
	// What has become of it: pending, approved (and not used yet), denied, used, or expired.
	Status string `json:"status" enum:"pending,approved,denied,used,expired"`
	// When it was asked for.
	CreatedAt time.Time `json:"created_at"`
	// When it was decided.
	DecidedAt time.Time `json:"decided_at,omitzero"`
	// When the call was let through.
	UsedAt time.Time `json:"used_at,omitzero"`
	// Until when it can be decided or used, or the call stays denied.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// The variables whose values are "***" in the arguments, with the lengths of these in bytes.
	Hidden map[string]int `json:"hidden,omitempty"`
}

// Approvals has approvals.
//
//schema:reply "The approvals."
type Approvals struct {
	// The newest first.
	Approvals []Approval `json:"approvals"`
}

// DecideApproval approves or denies a call.
//
//schema:examples [{"decision": "approve"}]
type DecideApproval struct {
	ApprovalRef
	// The answer.
	Decision string `json:"decision" enum:"approve,deny"`
}

// Mail has the messages that wait for the driver of a thread.
//
//schema:reply "What waits."
type Mail struct {
	// In the order in which they were left.
	Messages []WaitingMessage `json:"messages"`
}

// WaitingMessage is a message for the driver of a thread.
type WaitingMessage struct {
	// Its number.
	Seq int64 `json:"seq" format:"int64" minimum:"1"`
	// When it was left.
	CreatedAt string `json:"created_at"`
	// What it says.
	Message string `json:"message"`
}
