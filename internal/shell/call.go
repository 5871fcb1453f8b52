package shell

import (
	"strings"
)

// call is the words by which our lines have the shell run a builtin, whatever it was given as functions, aliases and disabled builtins up to the last capture: a
// backslash keeps aliases away, and of the ways past a function one that is free is taken. "." may be source. With no way left it is the name alone, see reachable.
func (s *Shell) call(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if words := s.image.Builtin(name); words != "" {
		return words
	}
	return `\` + name
}

// braces tells whether {, } and ! mean what they are for: unlike the name of a command a reserved word cannot be kept from being an alias.
func (s *Shell) braces() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.aliasing && !s.image.HasAlias("{", "}", "!")
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
	return s.image.Builtin(".") == ""
}
