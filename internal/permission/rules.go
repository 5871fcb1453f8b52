package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Rule matches calls; all that is given must match, and something is given.
//
// Tool is the call's tool, or the broader one that it belongs to. Contains is a part of the line
// "tool key=value …" with the keys sorted and every run of space as one. PathContains is a part of
// an argument file_path, path, new_path, cwd or directory. Capitals matter. A rule that denies or
// asks matches when in doubt, one that allows does not.
type Rule struct {
	Tool         string `json:"tool,omitempty"`
	Contains     string `json:"contains,omitempty"`
	PathContains string `json:"path_contains,omitempty"`
}

// String is the rule as its file has it.
func (r Rule) String() string {
	b, _ := json.Marshal(r) // cannot fail: three strings
	return string(b)
}

// Rules are three lists of rules; see Permissions.decide for their order.
type Rules struct {
	Allow []Rule `json:"allow"`
	Deny  []Rule `json:"deny"`
	Ask   []Rule `json:"ask"`
}

func (r Rules) count() int { return len(r.Allow) + len(r.Deny) + len(r.Ask) }

// Counts is how many rules each list has, as a conversation tells it.
func (r Rules) Counts() map[string]int {
	return map[string]int{Allow: len(r.Allow), Deny: len(r.Deny), Ask: len(r.Ask)}
}

// Bounds of rules.
const (
	// MaxRulesFile bounds a file of rules, in bytes: more rules than a person would ever read.
	MaxRulesFile = 256 << 10
	// maxRules bounds the rules of all lists together: each may be looked at for each call.
	maxRules = 1000
	// maxRuleText bounds each text of a rule, in bytes.
	maxRuleText = 4096
)

// ParseRules reads the JSON of rules: {"allow":[],"deny":[],"ask":[]}, of which any may be absent.
// It is strict, because a rule that is not understood would not act: what it does not know, a key
// twice, a text that is empty, too long or not UTF-8, and whatever stands behind the object are
// errors. Errors: ErrInvalid, saying where.
func ParseRules(b []byte) (r Rules, err error) {
	r = Rules{[]Rule{}, []Rule{}, []Rule{}}
	if len(b) > MaxRulesFile {
		return r, badRules("%d bytes, at most %d are allowed", len(b), MaxRulesFile)
	}
	if !utf8.Valid(b) {
		return r, badRules("it is not UTF-8")
	}
	sections, err := members(b)
	if err != nil {
		return r, badRules("%w", err)
	}
	lists := map[string]*[]Rule{Allow: &r.Allow, Deny: &r.Deny, Ask: &r.Ask}
	for _, s := range sections {
		list := lists[s.name]
		if list == nil {
			return Rules{}, badRules("section %.80q: allow, deny and ask are allowed", s.name)
		}
		if *list, err = parseSection(s.value); err != nil {
			return Rules{}, badRules("%s: %w", s.name, err)
		}
	}
	if n := r.count(); n > maxRules {
		return Rules{}, badRules("%d rules, at most %d are allowed", n, maxRules)
	}
	return r, nil
}

func badRules(format string, args ...any) error {
	return fmt.Errorf("%w: permission rules: %w", ErrInvalid, fmt.Errorf(format, args...))
}

func parseSection(raw json.RawMessage) ([]Rule, error) {
	var items []json.RawMessage
	if bytes.HasPrefix(raw, []byte("null")) || json.Unmarshal(raw, &items) != nil {
		return nil, fmt.Errorf("a list of rules is needed, got %.80s", raw)
	}
	list := make([]Rule, 0, len(items))
	for i, item := range items {
		r, err := parseRule(item)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		list = append(list, r)
	}
	return list, nil
}

func parseRule(raw json.RawMessage) (r Rule, err error) {
	keys, err := members(raw)
	if err != nil {
		return r, err
	}
	texts := map[string]*string{"tool": &r.Tool, "contains": &r.Contains, "path_contains": &r.PathContains}
	for _, k := range keys {
		to := texts[k.name]
		if to == nil {
			return r, fmt.Errorf("key %.80q: tool, contains and path_contains are allowed", k.name)
		}
		if k.value[0] != '"' || json.Unmarshal(k.value, to) != nil {
			return r, fmt.Errorf("%s: text is needed, got %.80s", k.name, k.value)
		}
		if strings.TrimSpace(*to) == "" || len(*to) > maxRuleText {
			return r, fmt.Errorf("%s: a text of 1 to %d bytes is needed, got %.80q", k.name, maxRuleText, *to)
		}
	}
	if len(keys) == 0 {
		return r, fmt.Errorf("it is empty: tool, contains or path_contains is needed")
	}
	return r, nil
}

// member is one of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members are those of a JSON object, in their order. A name twice is an error: readers differ in
// which one they take.
func members(raw []byte) (list []member, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("a JSON object is needed, got %.80q", raw)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // the decoder takes nothing else for a name
		if slices.ContainsFunc(list, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("key %.80q is there twice", m.name)
		}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is something behind the object")
	}
	return list, nil
}

// shownValue is how many bytes of a text an allow rule sees. A rule that denies or asks sees all of
// it, so that nothing is hidden behind a long beginning.
const shownValue = 120

// pathKeys are the arguments that PathContains looks at.
var pathKeys = []string{"file_path", "path", "new_path", "cwd", "directory"}

// matcher is a call as rules see it. Its texts are made when the first rule needs them.
type matcher struct {
	tool        string
	args        map[string]any
	short, full string
}

func newMatcher(tool string, args map[string]any) *matcher { return &matcher{tool: tool, args: args} }

// matches reports whether a rule is about the call; wide is for rules that deny or ask.
func (r *matcher) matches(rule Rule, wide bool) bool {
	if rule.Tool != "" && rule.Tool != r.tool && rule.Tool != broader[r.tool] {
		return false
	}
	if rule.PathContains != "" && !r.hasPath(rule.PathContains, wide) {
		return false
	}
	switch {
	case rule.Contains == "":
		return true
	case wide:
		return strings.Contains(r.whole(), collapse(rule.Contains))
	}
	return strings.Contains(r.cut(), rule.Contains)
}

// hasPath tells, wide, whether any path has the part, as it is written or without its dots; else
// whether all have it that are there, without their dots.
func (r *matcher) hasPath(part string, wide bool) bool {
	found := false
	for _, key := range pathKeys {
		path, ok := r.args[key].(string)
		if !ok || path == "" {
			continue
		}
		has := strings.Contains(filepath.Clean(path), part)
		switch {
		case wide && (has || strings.Contains(path, part)):
			return true
		case !wide && !has:
			return false
		}
		found = has
	}
	return found
}

// cut is "tool key=value …" with at most shownValue bytes of each value.
func (r *matcher) cut() string {
	if r.short == "" {
		r.short = r.tool + render(r.args, cutText)
	}
	return r.short
}

// whole is the same with whole values, and the texts inside of lists and objects as they are.
func (r *matcher) whole() string {
	if r.full == "" {
		r.full = r.tool + render(r.args, textOf)
	}
	return r.full
}

func render(args map[string]any, value func(any) string) string {
	var b strings.Builder
	for _, key := range sortedKeys(args) {
		b.WriteString(" " + key + "=" + value(args[key]))
	}
	return b.String()
}

func sortedKeys(args map[string]any) []string {
	keys := make([]string, 0, len(args))
	for key := range args {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// collapse makes every run of space one.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// cutText is a value in one line, at most shownValue bytes of it; what is no text is JSON.
func cutText(v any) string {
	s, ok := v.(string)
	if !ok {
		b, _ := json.Marshal(v) // cannot fail: it was JSON
		s = string(b)
	}
	if s = collapse(s); len(s) > shownValue {
		s = strings.ToValidUTF8(s[:shownValue], "")
	}
	return s
}

// textOf is a value as text: the items of a list with a space between them, as words of a command,
// the members of an object as key=value.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return collapse(v)
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = textOf(item)
		}
		return strings.Join(texts, " ")
	case map[string]any:
		return strings.TrimSpace(render(v, textOf))
	}
	b, _ := json.Marshal(v) // cannot fail: a number, a word of JSON
	return string(b)
}
