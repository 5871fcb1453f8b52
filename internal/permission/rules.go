package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/wire"
)

// Rule matches a call when all of its fields match; it has at least one field.
//
// Tool is the call's tool, or the broader one that it belongs to. Key names the argument that
// Prefix, Equals or Contains look at; without it they look at the command. PathContains is a part
// of an argument file_path, path, new_path, cwd or directory. Capitals matter.
//
// A rule that denies or asks matches when in doubt: its texts match in any spacing, and its
// Contains without Key is a part of the line "tool key=value …" with the keys sorted. A rule that
// allows does not: its texts match the value as it is, from its beginning, Contains too.
type Rule = wire.PermissionRule

// ruleText is the rule as its file has it.
func ruleText(r Rule) string {
	b, _ := json.Marshal(r) // cannot fail: strings
	return string(b)
}

// Rules are three lists of rules; see Permissions.decide for their order.
type Rules = wire.PermissionRules

func count(r Rules) int { return len(r.Allow) + len(r.Deny) + len(r.Ask) }

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
// It is strict, because an ignored rule would not protect anything: unknown and repeated keys, texts
// that are empty, too long or not UTF-8, and text after the object are errors. Errors: ErrInvalid,
// saying where.
func ParseRules(b []byte) (r Rules, err error) {
	r = listed(Rules{})
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
	if n := count(r); n > maxRules {
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
	texts := map[string]*string{"tool": &r.Tool, "key": &r.Key, "prefix": &r.Prefix, "equals": &r.Equals,
		"contains": &r.Contains, "path_contains": &r.PathContains}
	for _, k := range keys {
		to := texts[k.name]
		if to == nil {
			return r, fmt.Errorf("key %.80q: tool, key, prefix, equals, contains and path_contains are allowed", k.name)
		}
		if k.value[0] != '"' || json.Unmarshal(k.value, to) != nil {
			return r, fmt.Errorf("%s: text is needed, got %.80s", k.name, k.value)
		}
		if strings.TrimSpace(*to) == "" || len(*to) > maxRuleText {
			return r, fmt.Errorf("%s: a text of 1 to %d bytes is needed, got %.80q", k.name, maxRuleText, *to)
		}
	}
	return r, checkRule(r)
}

// checkRule refuses an empty rule, and one with two conditions on one argument.
func checkRule(r Rule) error {
	texts := 0
	for _, text := range []string{r.Prefix, r.Equals, r.Contains} {
		if text != "" {
			texts++
		}
	}
	switch {
	case r == Rule{}:
		return fmt.Errorf("it is empty: tool, prefix, equals, contains or path_contains is needed")
	case texts > 1:
		return fmt.Errorf("prefix, equals and contains exclude each other")
	case r.Key != "" && texts == 0:
		return fmt.Errorf("key %.80q: prefix, equals or contains is needed with it", r.Key)
	}
	return nil
}

// member is one of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of a JSON object in order. A repeated name is an error, as parsers
// differ in which value they take.
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
