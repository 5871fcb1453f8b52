package state

import "slices"

// Builtin is the words that run a builtin, whatever functions and aliases there are and what enable -n has taken away;
// "" when none do. A backslash keeps aliases away, and of the ways past a function one that is free is taken. "." may
// be source. In a nil Snapshot, that of a fresh bash, all builtins are there.
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

// IsBuiltin tells whether a name is that of a builtin and of nothing that comes before it.
func (s *Snapshot) IsBuiltin(name string) bool {
	return s == nil || !s.HasFunction(name) && !slices.Contains(s.disabled, name)
}

// HasFunction tells whether there is a function of the name.
func (s *Snapshot) HasFunction(name string) bool {
	return s != nil && slices.ContainsFunc(s.functions, func(f function) bool { return f.name == name })
}

// HasAlias tells whether one of the names is an alias.
func (s *Snapshot) HasAlias(names ...string) bool {
	return s != nil && slices.ContainsFunc(s.aliases, func(a element) bool { return slices.Contains(names, a.key) })
}

// HasTrap tells whether the user has a trap on a signal or event.
func (s *Snapshot) HasTrap(name string) bool { return s != nil && slices.Contains(s.traps, name) }

// HasOption tells whether an option of set -o is on.
func (s *Snapshot) HasOption(name string) bool { return s != nil && isOn(s.sets, name) }

// Usable is the snapshot as a new bash can have it and still be told to read a file, and what is left out for that, in
// words. A new bash has all builtins.
func (s *Snapshot) Usable() (*Snapshot, []string) {
	next := *s
	next.disabled = nil
	if next.Builtin(".") != "" {
		return &next, nil
	}
	next.functions = slices.DeleteFunc(slices.Clone(s.functions), func(f function) bool { return f.name == "." })
	return &next, []string{"function ."}
}

// WithoutFunctions is the snapshot of a bash whose functions could not be restored.
func (s *Snapshot) WithoutFunctions() *Snapshot {
	next := *s
	next.functions = nil
	return &next
}
