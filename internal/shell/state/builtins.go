package state

import (
	"slices"
	"strings"
)

// Builtin returns the words that run a builtin, despite functions, aliases and enable -n; "" when
// there are none. A backslash prevents aliases. For "." it may be source. In a nil Snapshot, a new
// bash, all builtins are available.
func (s *Snapshot) Builtin(name string) string {
	switch {
	case s == nil:
		return `\` + name
	case slices.Contains(s.disabled, name):
	case !s.HasFunction(name):
		return `\` + name
	case s.IsBuiltin("builtin"):
		return `\builtin ` + name
	case s.IsBuiltin("command"):
		return `\command ` + name
	}
	if name == "." {
		return s.Builtin("source")
	}
	return ""
}

// IsBuiltin reports whether a name means a builtin, and no function.
func (s *Snapshot) IsBuiltin(name string) bool {
	return s == nil || !s.HasFunction(name) && !slices.Contains(s.disabled, name)
}

// HasFunction reports whether there is a function of the name.
func (s *Snapshot) HasFunction(name string) bool {
	return s != nil && slices.ContainsFunc(s.functions, func(f function) bool { return f.name == name })
}

// HasAlias reports whether one of the names is an alias.
func (s *Snapshot) HasAlias(names ...string) bool {
	return s != nil && slices.ContainsFunc(s.aliases, func(a element) bool { return slices.Contains(names, a.key) })
}

// HasAliasOtherThan reports whether a text may have an alias, while one has a value that is not of
// a kind.
func (s *Snapshot) HasAliasOtherThan(kind func(value string) bool, text string) bool {
	return s != nil && slices.ContainsFunc(s.aliases, func(a element) bool { return strings.Contains(text, a.key) }) &&
		slices.ContainsFunc(s.aliases, func(a element) bool { return !kind(a.value) })
}

// HasTrap reports whether the user has a trap on a signal or event.
func (s *Snapshot) HasTrap(name string) bool { return s != nil && slices.Contains(s.traps, name) }

// HasTraps reports whether the user has a trap.
func (s *Snapshot) HasTraps() bool { return s != nil && len(s.traps) > 0 }

// HasOption reports whether an option of set -o is on.
func (s *Snapshot) HasOption(name string) bool { return s != nil && isOn(s.sets, name) }

// HasShopt reports whether an option of shopt is on. A nil Snapshot has none.
func (s *Snapshot) HasShopt(name string) bool { return s != nil && isOn(s.shopts, name) }

// Usable is the snapshot without anything that keeps a new bash, which has all builtins, from
// reading files; and the names of the omitted parts.
func (s *Snapshot) Usable() (*Snapshot, []string) {
	next := *s
	next.disabled = nil
	if next.Builtin(".") != "" {
		return &next, nil
	}
	next.functions = slices.DeleteFunc(slices.Clone(s.functions), func(f function) bool { return f.name == "." })
	return &next, []string{"function ."}
}

// WithoutFunctions is the snapshot without functions, which could not be restored.
func (s *Snapshot) WithoutFunctions() *Snapshot {
	next := *s
	next.functions = nil
	return &next
}
