package shell

import (
	"slices"
	"strings"
)

// call is the words by which our lines have the shell run a builtin, whatever it was given as functions, aliases and disabled builtins up to the last capture: a
// backslash keeps aliases away, and of the ways past a function one that is free is taken. "." may be source. With no way left it is the name alone, see reachable.
func (s *Shell) call(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if words := s.image.call(name); words != "" {
		return words
	}
	return `\` + name
}

// braces tells whether {, } and ! mean what they are for: unlike the name of a command a reserved word cannot be kept from being an alias.
func (s *Shell) braces() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.aliasing && (s.image == nil || !slices.ContainsFunc(s.image.aliases, func(a element) bool { return a.key == "{" || a.key == "}" || a.key == "!" }))
}

// expectAliases says that from here to the next capture there may be aliases that nobody knows of, if the text of a command speaks of any. One that hides such a
// definition in a file or a function, and takes a brace for its name, makes the capture fail: then its shell is ended.
func (s *Shell) expectAliases(e *Exec) {
	e.mu.Lock()
	speaks := strings.Contains(e.record.Info.Command, "alias")
	e.mu.Unlock()
	s.mu.Lock()
	s.aliasing = speaks
	s.mu.Unlock()
}

// unreachable tells whether the shell cannot be told to read a file any more.
func (s *Shell) unreachable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.image.call(".") == ""
}

// call is the words that run a builtin, "" when none does. Before the first capture everything does.
func (i *image) call(name string) string {
	switch {
	case i == nil:
		return `\` + name
	case slices.Contains(i.disabled, name):
	case !i.defines(name):
		return `\` + name
	case i.means("builtin"):
		return `\builtin ` + name
	case i.means("command"):
		return `\command ` + name
	}
	if name == "." {
		return i.call("source")
	}
	return ""
}

// means tells whether a name is that of a builtin and of nothing that comes before it.
func (i *image) means(name string) bool {
	return !i.defines(name) && !slices.Contains(i.disabled, name)
}

// defines tells whether there is a function of the name.
func (i *image) defines(name string) bool {
	return slices.ContainsFunc(i.functions, func(f function) bool { return f.name == name })
}

// reachable is the image as a new process can have it and still be told to read a file, and what is left out for that, in words. A new process has all builtins.
func (i *image) reachable() (*image, []string) {
	next := *i
	next.disabled = nil
	if next.call(".") != "" {
		return &next, nil
	}
	next.functions = slices.DeleteFunc(slices.Clone(i.functions), func(f function) bool { return f.name == "." })
	return &next, []string{"function ."}
}
