package main

import (
	"errors"
	"strings"

	"github.com/evertty/evertty/wire"
)

// restoreFlag is a wire.Restore on the command line.
type restoreFlag wire.Restore

// Set takes none, command or a command line.
func (f *restoreFlag) Set(s string) error {
	switch s {
	case "none":
		*f = nil
		return nil
	case "command":
		*f = restoreFlag(wire.RestoreCommand())
		return nil
	}
	words, _, err := splitWords(s)
	if err == nil && (len(words) == 0 || words[0] == "") {
		err = errors.New("none, command or a command line is allowed")
	}
	*f = words
	return err
}

// String is the value as it would be given.
func (f *restoreFlag) String() string {
	switch r := wire.Restore(*f); {
	case r == nil:
		return "none"
	case r.Own():
		return "command"
	}
	return shellWords(*f)
}

// Type names the kind of the value in the help.
func (f *restoreFlag) Type() string { return "command" }

// splitWords splits a command line as a shell does: at blanks outside of '…' and "…"; \ keeps the next character, not
// within '…'. Nothing else means anything. The words begin at these bytes of the line.
func splitWords(line string) (words []string, at []int, err error) {
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for i, c := range line {
		blank := quote == 0 && !escaped && strings.ContainsRune(" \t\n", c)
		if blank == inWord {
			if inWord = !blank; inWord {
				at = append(at, i)
			} else {
				words = append(words, word.String())
				word.Reset()
			}
		}
		switch {
		case blank:
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		default:
			word.WriteRune(c)
		}
	}
	if quote != 0 || escaped {
		return nil, nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, at, nil
}
