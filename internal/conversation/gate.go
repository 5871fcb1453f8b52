package conversation

import (
	"fmt"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
)

// permissionRows are the permissions of threads, which are deleted with these.
type permissionRows interface {
	AllPermissions() ([]permission.Permissions, error)
	PutPermissions(permission.Permissions) error
}

// Guard decides in memory, for who cannot wait for the Store.
func (m *Manager) Guard() *permission.Enforcer { return m.cfg.Guard }

// LoadPermissions brings what the Store has into memory. It is called before anything is decided; when it fails, nobody knows what is forbidden: see Guard.Blind.
func (m *Manager) LoadPermissions() error {
	err := m.cfg.Store.View(func(tx Tx) error {
		list, err := tx.AllPermissions()
		for _, p := range list {
			m.cfg.Guard.Set(p)
		}
		return err
	})
	if err == nil {
		m.copyGuard()
	}
	return err
}

// copyGuard writes the copy of what is in memory.
func (m *Manager) copyGuard() {
	if err := m.cfg.Guard.Save(); err != nil {
		m.cfg.Failed(fmt.Errorf("the copy of permissions: %w", err))
	}
}

// Permissions are those of a thread.
func (m *Manager) Permissions(thread string) (p permission.Permissions, err error) {
	err = m.cfg.Store.View(func(tx Tx) error { _, err := tx.Thread(thread); return err })
	return m.cfg.Guard.Permissions(thread), named(err)
}

// SetPermissions changes the mode and the rules of a thread, for what comes after it; nil keeps. The thread's record says so too. Errors: ErrInvalid.
func (m *Manager) SetPermissions(thread string, mode *string, rules *permission.Rules) (permission.Permissions, error) {
	guard := m.cfg.Guard
	return m.permit(thread, func(c *change, p permission.Permissions) (permission.Permissions, error) {
		p, err := p.With(mode, rules)
		if err != nil {
			return p, err
		}
		s, err := c.RecordState(c.head.ID)
		if err != nil {
			return p, err
		}
		s.PermissionMode, s.PermissionPromptingEnabled, s.PermissionRuleCounts = p.Mode, guard.Prompting(p), guard.Counts(p)
		return p, c.putState(s)
	})
}

// permit writes what next makes of a thread's permissions, and has it held from then on. What is in memory is what was written last.
func (m *Manager) permit(threadID string, next func(*change, permission.Permissions) (permission.Permissions, error)) (p permission.Permissions, err error) {
	m.permitting.Lock()
	defer m.permitting.Unlock()
	guard := m.cfg.Guard
	err = m.update(threadID, func(c *change) error {
		if p, err = next(c, guard.Permissions(threadID)); err != nil {
			return err
		}
		p.UpdatedAt = stamp(c.now)
		if err := c.PutPermissions(p); err != nil {
			return err
		}
		return c.tell(PermissionsChanged, thread.Detail{To: p.Mode, Reason: fmt.Sprintf("%d rules allow, %d deny, %d ask", len(p.Rules.Allow), len(p.Rules.Deny), len(p.Rules.Ask))})
	})
	if err == nil {
		guard.Set(p)
		m.copyGuard()
	}
	return p, err
}

// Forget drops the permissions of a thread that was deleted.
func (m *Manager) Forget(thread string) {
	m.permitting.Lock()
	defer m.permitting.Unlock()
	m.cfg.Guard.Forget(thread)
	m.copyGuard()
}

// Gate lets a call through, or says why not. Where the Guard guards nothing it costs nothing; else every decision is an event of the thread, which is kept before the call
// is let through. Errors: ErrDenied; *NeedsApproval, then the identical call is let through once when somebody has approved it; ErrInvalid; ErrTooMany, ErrTooLarge (nobody can be asked).
func (m *Manager) Gate(thread string, c permission.Call) error {
	if !m.cfg.Guard.Applies(thread) {
		return nil
	}
	d, err := m.decided(thread, c)
	if err != nil {
		return err
	}
	return d.Err()
}

// Authorize is Gate for who does by themselves what they ask about: it decides also where nothing is set. An approval is used up by it.
func (m *Manager) Authorize(thread string, c permission.Call) (permission.Decision, error) {
	return m.decided(thread, c)
}

// decided is the decision about a call after it was told, and after somebody was asked.
func (m *Manager) decided(thread string, c permission.Call) (permission.Decision, error) {
	c, err := c.Canonical()
	if err != nil {
		return permission.Decision{}, err
	}
	d, err := m.cfg.Guard.Check(thread, c)
	switch {
	case err != nil || thread == "":
		return d, err
	case d.Decision == permission.Ask:
		return m.ask(thread, c, d)
	}
	return d, m.Note(thread, c, d)
}

// Judged is Authorize of a call that makes its thread: a decision is not told, because there is no thread yet to tell it to. Errors: thread.ErrNotFound when somebody has to be
// asked, which needs the thread.
func (m *Manager) Judged(threadID string, c permission.Call) (permission.Decision, error) {
	c, err := c.Canonical()
	if err != nil {
		return permission.Decision{}, err
	}
	d, err := m.cfg.Guard.Check(threadID, c)
	if err == nil && d.Decision == permission.Ask {
		err = fmt.Errorf("thread %s: %w", threadID, thread.ErrNotFound)
	}
	return d, err
}

// Note adds a decision to the events of its thread.
func (m *Manager) Note(thread string, c permission.Call, d permission.Decision) error {
	return m.transact(thread, func(t *change) error { return t.noteDecision(c, d) })
}

func (c *change) noteDecision(call permission.Call, d permission.Decision) error {
	detail := shown(call)
	detail.To, detail.Source, detail.Reason, detail.Approval = d.Decision, call.Tool, beginning(d.Reason, maxTold), d.ApprovalID
	return c.tell(PermissionDecided, detail)
}

// shown is what an event tells of a call: the command, or the path. What is typed it never tells.
func shown(c permission.Call) (d thread.Detail) {
	args, err := c.Object()
	if err != nil {
		return d
	}
	d.Terminal, _ = args["terminal"].(string)
	for _, key := range []string{"command", "path"} {
		if text, ok := args[key].(string); ok && text != "" {
			d.Line = beginning(text, maxTold)
			return d
		}
	}
	return d
}

// maxTold is how many bytes an event tells of a command, a path or a reason.
const maxTold = 1024

// beginning is whole characters of a text, at most n bytes.
func beginning(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// Ask is what becomes of a call that a decision wants to be asked about: nil when it was approved, and then that is used up. Errors: those of Gate.
func (m *Manager) Ask(thread string, c permission.Call, d permission.Decision) error {
	c, err := c.Canonical()
	if err != nil {
		return err
	}
	if d, err = m.ask(thread, c, d); err != nil {
		return err
	}
	return d.Err()
}

// ask looks for an answer to a canonical call that still stands, or has somebody asked for one.
func (m *Manager) ask(thread string, c permission.Call, d permission.Decision) (permission.Decision, error) {
	asked := d
	err := m.transact(thread, func(t *change) error {
		d = asked
		a, err := t.FindApproval(thread, c.Key())
		if err != nil && !missing(err) {
			return err
		}
		d.ApprovalID = a.ID
		switch {
		case err != nil || !a.stands(t.now):
			if a, err = t.question(c, d); err != nil {
				return err
			}
			d.ApprovalID = a.ID
		case a.Status == Pending:
			return nil // told already
		case a.Status == Denied:
			d.Decision, d.Reason = permission.Deny, "somebody was asked and said no: "+d.Reason
		default:
			d.Decision, d.Reason = permission.Allow, "somebody has approved it: "+d.Reason
			a.Status, a.UsedAt = Used, t.now
			if err := t.PutApproval(a); err != nil {
				return err
			}
		}
		return t.noteDecision(c, d)
	})
	return d, err
}

// question writes down that somebody has to be asked.
func (c *change) question(call permission.Call, d permission.Decision) (a Approval, err error) {
	if n := len(call.Arguments); n > maxAsked {
		return a, fmt.Errorf("%w: somebody has to approve this, and nobody can read %d bytes; at most %d are allowed", ErrTooLarge, n, maxAsked)
	}
	n, err := c.PendingApprovals(c.thread, c.now.Add(-PendingFor))
	if err != nil {
		return a, err
	}
	if n >= maxPending {
		return a, fmt.Errorf("%w: %d calls of thread %s wait for an approval, which is the most", ErrTooMany, n, c.thread)
	}
	if err := c.TrimApprovals(c.thread, maxApprovals, c.now); err != nil {
		return a, err
	}
	a = Approval{ID: newApprovalID(), Thread: c.thread, Tool: call.Tool, Arguments: call.Arguments, Reason: d.Reason, Status: Pending, CreatedAt: c.now, Key: call.Key()}
	return a, c.PutApproval(a)
}

// Approvals are the newest of a thread, the newest first, at most limit; 0 is all that are kept.
func (m *Manager) Approvals(thread string, limit int) (list []Approval, err error) {
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	now := m.now()
	err = named(m.cfg.Store.View(func(tx Tx) error {
		if _, err := tx.Thread(thread); err != nil {
			return err
		}
		if list, err = tx.Approvals(thread, limit); err != nil {
			return err
		}
		for i, a := range list {
			list[i] = a.now(now)
		}
		return nil
	}))
	return list, err
}

// Answer decides an approval that waits: AnswerApprove lets the identical call through once within ApprovedFor, AnswerDeny refuses it for as long. Errors: ErrNotFound, ErrInvalid, ErrDecided.
func (m *Manager) Answer(threadID, id, answer string) (a Approval, err error) {
	status := map[string]string{AnswerApprove: Approved, AnswerDeny: Denied}[answer]
	if status == "" {
		return a, fmt.Errorf("%w: decision %.80q: %s or %s are allowed", ErrInvalid, answer, AnswerApprove, AnswerDeny)
	}
	err = m.transact(threadID, func(t *change) error {
		if a, err = t.Approval(id); err != nil {
			return err
		}
		if a.Thread != threadID {
			return fmt.Errorf("approval %.80q of thread %s: %w", id, threadID, thread.ErrNotFound)
		}
		if a = a.now(t.now); a.Status != Pending {
			return fmt.Errorf("%w: approval %s is %s", ErrDecided, id, a.Status)
		}
		a.Status, a.DecidedAt = status, t.now
		if err := t.PutApproval(a); err != nil {
			return err
		}
		a = a.now(t.now)
		return t.tell(ApprovalDecided, thread.Detail{To: status, Source: a.Tool, Approval: id})
	})
	return a, err
}

// now is the time as rows have it.
func (m *Manager) now() time.Time { return m.cfg.Clock().UTC().Truncate(time.Microsecond) }
