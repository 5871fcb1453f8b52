package permission

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// commandKey is the argument that a rule without Key looks at.
const commandKey = "command"

// pathKeys are the arguments that PathContains looks at.
var pathKeys = []string{"file_path", "path", "new_path", "cwd", "directory"}

// matcher is a call for comparing with rules. whole makes its line on the first use.
type matcher struct {
	tool string
	args map[string]any
	line string
}

// matches reports whether a rule covers the call; wide: as a rule that denies or asks.
func (m *matcher) matches(rule Rule, wide bool) bool {
	if rule.Tool != "" && rule.Tool != m.tool && rule.Tool != broader[m.tool] {
		return false
	}
	if rule.PathContains != "" && !m.hasPath(rule.PathContains, wide) {
		return false
	}
	switch {
	case rule.Prefix == "" && rule.Equals == "" && rule.Contains == "":
		return true
	case !wide:
		return m.allowed(rule)
	case rule.Key == "" && rule.Contains != "":
		return strings.Contains(m.whole(), collapse(rule.Contains))
	}
	value, ok := m.args[cmp.Or(rule.Key, commandKey)]
	text := textOf(value)
	switch {
	case !ok:
		return false
	case rule.Prefix != "":
		return strings.HasPrefix(text, collapse(rule.Prefix))
	case rule.Equals != "":
		return text == collapse(rule.Equals)
	}
	return strings.Contains(text, collapse(rule.Contains))
}

// allowed reports whether the text of an allow rule is the beginning, or all, of the value that it
// names. Contains "KEY=TEXT" without Key, the older form, names one too. Variables change what a
// command does: no rule about the command allows one that has some.
func (m *matcher) allowed(rule Rule) bool {
	key, prefix := rule.Key, cmp.Or(rule.Prefix, rule.Contains)
	if name, rest, ok := strings.Cut(rule.Contains, "="); ok && key == "" && argumentName().MatchString(name) {
		key, prefix = name, rest
	}
	key = cmp.Or(key, commandKey)
	value, ok := m.args[key].(string)
	if env, _ := m.args["env"].(map[string]any); !ok || key == commandKey && len(env) > 0 {
		return false
	}
	if rule.Equals != "" {
		return value == rule.Equals
	}
	return prefix != "" && strings.HasPrefix(value, prefix)
}

// argumentName is what an argument of a call may be called.
var argumentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_0-9]+$`) })

// hasPath reports whether the paths of the call contain a part. wide: one path is enough, as written,
// cleaned, or as a directory; a renamed directory moves its content, so the part may begin in it.
// Not wide: all given paths must contain it, cleaned.
func (m *matcher) hasPath(part string, wide bool) bool {
	found := false
	for _, key := range pathKeys {
		path, ok := m.args[key].(string)
		if !ok || path == "" {
			continue
		}
		dir := filepath.Join("/", path) + "/"
		switch {
		case wide && (strings.Contains(dir, part) || strings.Contains("/"+path+"/", part) ||
			m.tool == ToolRename && leadsTo(dir, part)):
			return true
		case !wide && !strings.Contains(filepath.Clean(path), part):
			return false
		}
		found = !wide
	}
	return found
}

// leadsTo reports whether the end of a directory is the beginning of a part, by whole names.
func leadsTo(dir, part string) bool {
	for i := 1; i < len(part); i++ {
		if part[i] == '/' && strings.HasSuffix(dir, part[:i+1]) {
			return true
		}
	}
	return false
}

// whole is "tool key=value …", with the texts inside of lists and objects as they are.
func (m *matcher) whole() string {
	if m.line == "" {
		m.line = m.tool + render(m.args)
	}
	return m.line
}

func render(args map[string]any) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(args)) {
		b.WriteString(" " + key + "=" + textOf(args[key]))
	}
	return b.String()
}

// collapse makes every run of space one.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

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
		return strings.TrimSpace(render(v))
	}
	b, _ := json.Marshal(v) // cannot fail: a number, a word of JSON
	return string(b)
}
