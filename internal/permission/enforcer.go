package permission

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/evertty/evertty/wire"
)

// Enforcer decides by what it has in memory: the permissions of threads, and rules of the server
// that are for all of them. Safe for concurrent use.
type Enforcer struct {
	server  Rules
	file    string                 // the copy, "" is none: see save
	mu      sync.RWMutex           // a leaf
	threads map[string]Permissions // of threads of which something is set
	unknown error                  // why the permissions of threads are not known; then everything is denied
}

// NewEnforcer makes one that knows of no thread yet. The rules must not be changed after it.
func NewEnforcer(server Rules) *Enforcer {
	return &Enforcer{server: server, threads: map[string]Permissions{}}
}

// WithCopy has what is known of threads copied to a file whenever a Manager changes it, and returns
// the Enforcer. It is called before anything else.
func (e *Enforcer) WithCopy(file string) *Enforcer {
	e.file = file
	return e
}

// Server are the rules for all threads.
func (e *Enforcer) Server() Rules { return e.server }

// Applies reports whether anything has to be decided in a thread: somebody has set its permissions,
// or the server has rules. It costs no more than a look into a map. The thread "" is of calls that
// belong to none: only the rules of the server are for these.
func (e *Enforcer) Applies(thread string) bool {
	if count(e.server) > 0 {
		return true
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	_, ok := e.threads[thread]
	return ok || e.unknown != nil
}

// FailClosed has everything denied from now on, because nobody knows what threads forbid.
func (e *Enforcer) FailClosed(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unknown = why
}

// FailedClosed is why everything is denied, nil when it is not.
func (e *Enforcer) FailedClosed() error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.unknown
}

// Permissions are those of a thread, or what one has of which nothing is set.
func (e *Enforcer) Permissions(thread string) Permissions {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if p, ok := e.threads[thread]; ok {
		return p
	}
	return Permissions{Thread: thread, Mode: DefaultMode, Rules: listed(Rules{})}
}

// Check decides about a call without telling anybody. Errors: ErrInvalid (the call).
func (e *Enforcer) Check(thread string, c Call) (Decision, error) {
	if why := e.FailedClosed(); why != nil {
		reason := "the permissions of threads cannot be read: " + why.Error()
		return Decision{Decision: Deny, Reason: reason}, nil //nolint:nilerr // a denial is a decision
	}
	if thread == "" {
		return e.checkAlone(c)
	}
	return e.Permissions(thread).decide(e.server, c)
}

// checkAlone is for a call of no thread, in which nobody has set a mode and nobody can be asked.
func (e *Enforcer) checkAlone(c Call) (Decision, error) {
	d, err := Permissions{Mode: ModeAllow}.decide(e.server, c)
	if d.Decision == Ask {
		d.Decision, d.Reason = Deny, d.Reason+" asks first, and there is no thread to ask in"
	}
	return d, err
}

// Set notes the permissions of a thread. Those that say nothing are as none.
func (e *Enforcer) Set(p Permissions) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.none() {
		delete(e.threads, p.Thread)
		return
	}
	e.threads[p.Thread] = p
}

// Forget drops what is known of a thread, which is gone.
func (e *Enforcer) Forget(thread string) { e.Set(Permissions{Thread: thread}) }

// listed is a copy of rules whose lists are never nil.
func listed(r Rules) Rules {
	return Rules{Allow: append([]Rule{}, r.Allow...), Deny: append([]Rule{}, r.Deny...),
		Ask: append([]Rule{}, r.Ask...)}
}

// With is the permissions with another mode or other rules; nil keeps, which of ModeUnreadable
// nothing can. The lists of rules are never nil. Errors: ErrInvalid.
func (p Permissions) With(mode *string, rules *Rules) (Permissions, error) {
	if p.Mode == ModeUnreadable && (mode == nil || rules == nil) {
		return p,
			fmt.Errorf("%w: the permissions of thread %s cannot be read, so nothing of them can be kept: both the "+
				"mode and the rules are needed", ErrInvalid, p.Thread)
	}
	if mode != nil {
		p.Mode = *mode
	}
	if err := CheckMode(p.Mode); err != nil {
		return p, err
	}
	if rules != nil {
		p.Rules = listed(*rules)
	}
	b, err := json.Marshal(p.Rules)
	if err == nil {
		_, err = ParseRules(b) // as the next server will do
	}
	return p, err
}

// Prompting reports whether somebody may be asked: by the mode, or by a rule of the thread or the
// server.
func (e *Enforcer) Prompting(p Permissions) bool {
	return p.Mode == ModePrompt || len(p.Rules.Ask) > 0 || len(e.server.Ask) > 0
}

// Counts is how many rules act in a thread with these permissions, its own and the server's.
func (e *Enforcer) Counts(p Permissions) wire.RuleCountsOf {
	return wire.RuleCountsOf{Allow: len(p.Rules.Allow) + len(e.server.Allow),
		Ask: len(p.Rules.Ask) + len(e.server.Ask), Deny: len(p.Rules.Deny) + len(e.server.Deny)}
}

// Wire is what clients see of a thread's permissions.
func (e *Enforcer) Wire(p Permissions) wire.Permissions {
	w := wire.Permissions{ThreadID: p.Thread, Mode: wire.PermissionMode(p.Mode), Rules: listed(p.Rules),
		Active: e.Applies(p.Thread), PromptingEnabled: e.Prompting(p), RuleCounts: e.Counts(p),
		ServerRules: listed(e.server)}
	if p.UpdatedAt != "" {
		w.UpdatedAt = &p.UpdatedAt
	}
	return w
}
