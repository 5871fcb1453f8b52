// Package permission decides which calls a thread allows, by the mode and the rules of the thread
// and the rules of the server. The Enforcer holds them in memory for the hot path. Approvals and the
// events of decisions are stored by package conversation/store.
package permission

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/evertty/evertty/wire"
)

// Call is an action as the rules see it: a tool and its arguments, a JSON object. The server's own
// tools are the Tool constants.
type Call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// maxTool bounds the name of a tool, in bytes.
const maxTool = 256

// Canonical returns the call with its arguments in one form: keys sorted, no space, {} for none. Two
// calls are identical when their canonical forms are. Errors: ErrInvalid.
func (c Call) Canonical() (Call, error) {
	if c.Tool == "" || len(c.Tool) > maxTool {
		return c, fmt.Errorf("%w: tool %.80q: a name of 1 to %d bytes is needed", ErrInvalid, c.Tool, maxTool)
	}
	args, err := c.Object()
	if err != nil {
		return c, err
	}
	c.Arguments, err = json.Marshal(args)
	return c, err
}

// Object decodes the arguments; numbers stay as they are written. Errors: ErrInvalid.
func (c Call) Object() (map[string]any, error) {
	if s := string(bytes.TrimSpace(c.Arguments)); s == "" || s == "null" {
		return map[string]any{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	d.UseNumber()
	var args map[string]any
	if err := d.Decode(&args); err != nil {
		return nil, fmt.Errorf("%w: the arguments of a call must be a JSON object: %w", ErrInvalid, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: there is something behind the arguments of the call", ErrInvalid)
	}
	return args, nil
}

// Key names a canonical call: the same for identical ones, of one length.
func (c Call) Key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %s", len(c.Tool), c.Tool, c.Arguments)
	return hex.EncodeToString(h.Sum(nil))
}

// Words of decisions.
const (
	Allow = "allow"
	Deny  = "deny"
	Ask   = "ask"
)

// Decision is the answer to a Call, with a reason for a person and the rule that decided, if any.
type Decision = wire.Decision

// Permissions say what may be done with the terminals of a thread. The zero Mode is DefaultMode.
type Permissions struct {
	Thread    string
	Mode      string
	Rules     Rules
	UpdatedAt string // RFC 3339; "" was never
}

// none reports whether these are the defaults: the default mode without a rule.
func (p Permissions) none() bool {
	return (p.Mode == "" || p.Mode == DefaultMode) && count(p.Rules) == 0
}

// decide answers a canonical call by the rules of the server and of the thread. The order:
// ModeUnreadable, which denies, a deny rule, an ask rule, an allow rule, the mode prompt, the mode
// allow, the mode's level against the tool's. Rules of the server and of the thread rank the same.
// Errors: ErrInvalid, for arguments that are not an object.
func (p Permissions) decide(server Rules, c Call) (Decision, error) {
	args, err := c.Object()
	if err != nil {
		return Decision{}, err
	}
	// an allow rule would come before the deny rules that could not be read
	if p.Mode == ModeUnreadable {
		return Decision{Decision: Deny,
			Reason: "what the thread permits is kept and cannot be understood; set its mode and its rules"}, nil
	}
	r := &matcher{tool: c.Tool, args: args}
	for _, section := range []struct {
		word, owner string
		rules       []Rule
	}{{Deny, "server", server.Deny}, {Deny, "thread", p.Rules.Deny}, {Ask, "server", server.Ask},
		{Ask, "thread", p.Rules.Ask}, {Allow, "server", server.Allow}, {Allow, "thread", p.Rules.Allow}} {
		matches := func(rule Rule) bool { return r.matches(rule, section.word != Allow) }
		if i := slices.IndexFunc(section.rules, matches); i >= 0 {
			rule := &section.rules[i]
			return Decision{Decision: section.word, Rule: rule,
				Reason: fmt.Sprintf("the %s's %s rule %s", section.owner, section.word, ruleText(*rule))}, nil
		}
	}
	return decideByMode(p.Mode, c.Tool), nil
}

func decideByMode(mode, tool string) Decision {
	if mode == "" {
		mode = DefaultMode
	}
	active, needed := levelOfMode(mode), LevelOf(tool)
	switch {
	case mode == ModePrompt:
		return Decision{Decision: Ask, Reason: "in the mode prompt everything is asked for that no rule allows"}
	case mode == ModeAllow:
		return Decision{Decision: Allow,
			Reason: "in the mode allow everything is allowed that no rule denies or asks for"}
	case active >= needed:
		return Decision{Decision: Allow,
			Reason: fmt.Sprintf("%s is enough for %.80s, which needs %s", mode, tool, needed)}
	}
	return Decision{Decision: Deny,
		Reason: fmt.Sprintf("%.80s needs the mode %s, the thread's is %s", tool, needed, mode)}
}
