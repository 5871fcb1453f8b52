package sqlite

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/permission"
)

const permissionColumns = `thread_id, mode, rules_json, updated_at`

var putPermissions = upsert("permissions", permissionColumns)

// scanPermissions reads rules as strictly as they were read when they came: rules that cannot be
// read must not be taken for no rules.
func scanPermissions(s scanner) (p permission.Permissions, err error) {
	var rules string
	if err = s.Scan(&p.Thread, &p.Mode, &rules, &p.UpdatedAt); err != nil {
		return p, err
	}
	if p.Rules, err = permission.ParseRules([]byte(rules)); err != nil {
		p.Mode = permission.ModeUnreadable
	}
	return p, nil
}

func (r permissionRows) AllPermissions() ([]permission.Permissions, error) {
	return all(r.table, "permissions", scanPermissions, `SELECT `+permissionColumns+` FROM permissions`)
}

func (r permissionRows) PutPermissions(p permission.Permissions) {
	r.put("permissions of thread "+p.Thread, putPermissions, p.Thread, p.Mode, asJSON(p.Rules), p.UpdatedAt)
}

const approvalColumns = `id, thread_id, tool, arguments_json, call_key, reason, status, created_at, decided_at, used_at`

var putApproval = upsert("approvals", approvalColumns, "thread_id", "tool", "arguments_json", "call_key", "reason",
	"created_at")

func scanApproval(s scanner) (a permission.Approval, err error) {
	var args string
	err = s.Scan(&a.ID, &a.ThreadID, &a.Tool, &args, &a.Key, &a.Reason, &a.Status, when{&a.CreatedAt},
		when{&a.DecidedAt}, when{&a.UsedAt})
	a.Arguments = json.RawMessage(args)
	return a, err
}

func (r permissionRows) Approval(id string) (permission.Approval, error) {
	return one(r.table, fmt.Sprintf("approval %.80q", id), scanApproval,
		`SELECT `+approvalColumns+` FROM approvals WHERE id = ?`, id)
}

func (r permissionRows) FindApproval(thread, key string) (permission.Approval, error) {
	return one(r.table, "approval of thread "+thread, scanApproval,
		`SELECT `+approvalColumns+` FROM approvals WHERE thread_id = ? AND call_key = ? ORDER BY seq DESC LIMIT 1`,
		thread, key)
}

func (r permissionRows) Approvals(thread string, limit int) ([]permission.Approval, error) {
	return all(r.table, "approvals of thread "+thread, scanApproval,
		`SELECT `+approvalColumns+` FROM approvals WHERE thread_id = ? ORDER BY seq DESC LIMIT ?`, thread, page(limit))
}

func (r permissionRows) PendingApprovals(thread string, since time.Time) (int64, error) {
	return one(r.table, "approvals of thread "+thread, number,
		`SELECT count(*) FROM approvals WHERE thread_id = ? AND status = 'pending' AND created_at > ?`,
		thread, at(since))
}

// PendingApprovals is the number of approvals of all threads that were asked for since then and have no answer.
func (tx *Tx) PendingApprovals(since time.Time) (int64, error) {
	return one(tx.table, "approvals", number, `SELECT count(*) FROM approvals WHERE status = 'pending' AND created_at > ?`,
		at(since))
}

// AskedApprovals are the threads of those approvals, and the terminals that their calls name, "" for none.
func (tx *Tx) AskedApprovals(since time.Time) ([]permission.Asked, error) {
	return all(tx.table, "approvals", func(s scanner) (a permission.Asked, err error) {
		return a, s.Scan(&a.Thread, &a.Terminal)
	}, `SELECT thread_id, coalesce(arguments_json ->> '$.terminal', '') FROM approvals
		WHERE status = 'pending' AND created_at > ?`, at(since))
}

func (r permissionRows) PutApproval(a permission.Approval) {
	r.put("approval "+a.ID, putApproval, a.ID, a.ThreadID, a.Tool, string(a.Arguments), a.Key, a.Reason, a.Status,
		at(a.CreatedAt), at(a.DecidedAt), at(a.UsedAt))
}

func (r permissionRows) TrimApprovals(thread string, keep int, now time.Time) {
	r.put("approvals of thread "+thread, `DELETE FROM approvals WHERE thread_id = ?1 AND
		(status IN ('used', 'denied') OR status = 'approved' AND decided_at < ?3 OR created_at < ?4) AND
		seq <= (SELECT seq FROM approvals WHERE thread_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
		thread, keep, at(now.Add(-permission.ApprovedFor)), at(now.Add(-permission.PendingFor)))
}
