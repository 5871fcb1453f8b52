package permission

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/evertty/evertty/wire"
)

// Enforcer decides from memory alone: by the permissions of threads and by the server's rules, which
// apply to all threads. Safe for concurrent use.
type Enforcer struct {
	server  Rules
	file    string                 // the copy, "" is none: see Save
	mu      sync.RWMutex           // a leaf
	threads map[string]Permissions // threads without an entry have the defaults
	unknown error                  // not nil: permissions could not be read, and every call is denied
}

// NewEnforcer returns an Enforcer without threads. The caller must not change the rules afterwards.
func NewEnforcer(server Rules) *Enforcer {
	return &Enforcer{server: server, threads: map[string]Permissions{}}
}

// WithCopy sets the file that Save writes and LoadCopy reads, and returns the Enforcer. Call it
// before every other method.
func (e *Enforcer) WithCopy(file string) *Enforcer {
	e.file = file
	return e
}

// Server returns the rules for all threads.
func (e *Enforcer) Server() Rules { return e.server }

// Applies reports whether calls in a thread need a decision: the thread has permissions of its own,
// or the server has rules. It costs one map lookup. The thread "" stands for calls outside of all
// threads, which only the server's rules cover.
func (e *Enforcer) Applies(thread string) bool {
	if count(e.server) > 0 {
		return true
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	_, ok := e.threads[thread]
	return ok || e.unknown != nil
}

// FailClosed denies every call from now on; why says why permissions cannot be read.
func (e *Enforcer) FailClosed(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unknown = why
}

// FailedClosed returns the reason given to FailClosed, or nil.
func (e *Enforcer) FailedClosed() error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.unknown
}

// Permissions of a thread; the defaults when nothing is set.
func (e *Enforcer) Permissions(thread string) Permissions {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if p, ok := e.threads[thread]; ok {
		return p
	}
	return Permissions{Thread: thread, Mode: DefaultMode, Rules: listed(Rules{})}
}

// Check decides about a call, without an event or an approval. Errors: ErrInvalid (the call).
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

// checkAlone decides about a call outside of all threads: without a mode, and with deny for ask.
func (e *Enforcer) checkAlone(c Call) (Decision, error) {
	d, err := Permissions{Mode: ModeAllow}.decide(e.server, c)
	if d.Decision == Ask {
		d.Decision, d.Reason = Deny, d.Reason+" asks first, and there is no thread to ask in"
	}
	return d, err
}

// Set replaces the permissions of a thread in memory. Default permissions take no entry.
func (e *Enforcer) Set(p Permissions) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.none() {
		delete(e.threads, p.Thread)
		return
	}
	e.threads[p.Thread] = p
}

// Forget drops the permissions of a deleted thread.
func (e *Enforcer) Forget(thread string) { e.Set(Permissions{Thread: thread}) }

// listed is a copy of rules whose lists are never nil.
func listed(r Rules) Rules {
	return Rules{Allow: append([]Rule{}, r.Allow...), Deny: append([]Rule{}, r.Deny...),
		Ask: append([]Rule{}, r.Ask...)}
}

// With returns the permissions with another mode or other rules; nil keeps the old value, which
// ModeUnreadable does not allow. The lists of rules are never nil. Errors: ErrInvalid.
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

// Prompting reports whether the mode, or a rule of the thread or the server, may ask a person.
func (e *Enforcer) Prompting(p Permissions) bool {
	return p.Mode == ModePrompt || len(p.Rules.Ask) > 0 || len(e.server.Ask) > 0
}

// Counts counts the rules that apply in a thread with these permissions, with the server's.
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
