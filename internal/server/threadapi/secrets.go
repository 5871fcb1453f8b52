package threadapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// checkReveal refuses to show the hidden values of an approval without full access, and notes in the audit log that
// they are shown. Errors: httpapi.ErrReadOnly.
func (p *permissions) checkReveal(ctx context.Context, in wire.GetApproval) error {
	if !in.Reveal {
		return auth.CheckSecrets(ctx, in.Secrets) // which the audit log has anyway
	}
	if err := auth.RequireWrite(ctx); err != nil {
		return err
	}
	c := httpapi.EchoOf(ctx)
	p.auth.Note(c, auth.AuditSecrets, auth.TargetOf(c), "ok")
	return nil
}

// seen are the approvals whose hidden values somebody has looked at, with the time of that. Of a
// restarted server nobody has. Safe for concurrent use.
type seen struct {
	mu  sync.Mutex
	ids map[string]time.Time
}

// add notes an approval, and forgets those that nobody can answer any more.
func (s *seen) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(s.ids, func(_ string, at time.Time) bool { return now.Sub(at) > permission.PendingFor })
	if s.ids == nil {
		s.ids = map[string]time.Time{}
	}
	s.ids[id] = now
}

func (s *seen) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.ids[id]
	return ok
}

// checkSeen refuses to have a call approved of which nobody has looked at a hidden value. Errors:
// conversation.ErrUnseen, those of Approval.
func (p *permissions) checkSeen(m *store.Conversations, thread, id string) error {
	a, err := m.Approval(thread, id)
	if err != nil || a.Status != permission.Pending || p.seen.has(id) {
		return err
	}
	if hideArguments(&a.Approval); len(a.Hidden) > 0 {
		return fmt.Errorf("%w: GET …/approvals/%s?reveal=1 shows them", conversation.ErrUnseen, id)
	}
	return nil
}

// shown is an approval without the secrets in variables that its call would set, or with them, which is noted. What
// is approved is the call with its true ones.
func (p *permissions) shown(a permission.Approval, secrets bool) wire.Approval {
	reply := a.Wire()
	switch {
	case !secrets:
		hideArguments(&reply)
	case a.Status == permission.Pending:
		p.seen.add(a.ID)
	}
	return reply
}

// variableFields are the arguments of calls that are variables by name.
var variableFields = []string{"env", "envVars"}

// hideArguments hides the secrets among the variables of a call, and says how long they are. What
// is no object stays as it is.
func hideArguments(a *wire.Approval) {
	d := json.NewDecoder(bytes.NewReader(a.Arguments))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return
	}
	hidden := map[string]int{}
	for _, field := range variableFields {
		vars, _ := fields[field].(map[string]any)
		for name, value := range vars {
			if thread.IsSecret(name) {
				vars[name], hidden[name] = thread.Hidden, len(fmt.Sprint(value))
			}
		}
	}
	if b, err := json.Marshal(fields); err == nil && len(hidden) > 0 { // it was JSON
		a.Arguments, a.Hidden = b, hidden
	}
}
