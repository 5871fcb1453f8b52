package script

import (
	"slices"
	"strings"
)

// notPlain are words that a plain text has nowhere: reserved ones, which may go on for lines; and
// those of builtins that
// an interactive shell treats otherwise when they are typed (exit says so, a failed exec returns, return is refused).
var notPlain = []string{"!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "eval",
	"exec", "exit", "fi", "for", "function", "if", "in", "logout", "return", "select", "then", "time", "until", "while"}

// maxNested bounds how deep lists stand in each other in a plain text.
const maxNested = 20

// IsPlain reports whether a text is one line of simple commands, pipelines, lists and subshells,
// which bash reads to its
// end and not beyond, whatever its options are and whatever stands around it.
func IsPlain(text string) bool {
	_, ok := plainWords(text)
	return ok
}

// plainWords are the words without quotes and expansions in a plain text.
func plainWords(text string) (words []string, ok bool) {
	p := plain{text: text}
	return p.words, p.list(0) && p.at == len(p.text)
}

// plain reads a text. Its methods report whether what they read is plain.
type plain struct {
	text  string
	at    int
	words []string
}

// peek is the next byte, 0 at the end.
func (p *plain) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// skip goes over a text when it is next.
func (p *plain) skip(text string) bool {
	if !strings.HasPrefix(p.text[p.at:], text) {
		return false
	}
	p.at += len(text)
	return true
}

func (p *plain) blanks() {
	for p.skip(" ") || p.skip("\t") {
	}
}

// list reads pipelines with ;, && and || between them, up to a closing parenthesis or the end.
func (p *plain) list(nested int) bool {
	for nested < maxNested {
		p.blanks()
		for p.skip("! ") {
		}
		if !p.command(nested) {
			return false
		}
		switch {
		case p.skip("&&"), p.skip("||"), p.skip("|"):
			continue
		case p.skip(";"):
			p.blanks()
		}
		if c := p.peek(); c == 0 && p.at == len(p.text) || c == ')' {
			return true
		} else if p.text[p.at-1] != ';' && p.text[p.at-1] != ' ' && p.text[p.at-1] != '\t' {
			return false
		}
	}
	return false
}

// command reads a subshell or a simple command, with the blanks around it.
func (p *plain) command(nested int) bool {
	p.blanks()
	from := p.at
	if p.skip("(") {
		if p.peek() == '(' || !p.list(nested+1) || !p.skip(")") {
			return false
		}
	}
	for {
		p.blanks()
		p.descriptor()
		switch c := p.peek(); {
		case c == '<' || c == '>':
			if !p.redirection() {
				return false
			}
		case c == 0 || strings.IndexByte(";&|)", c) >= 0:
			return p.at > from
		case p.text[from] == '(' || !p.word(nested):
			return false
		}
	}
}

// descriptor goes over the number before a redirection.
func (p *plain) descriptor() {
	rest := strings.TrimLeft(p.text[p.at:], "0123456789")
	if rest != "" && strings.IndexByte("<>", rest[0]) >= 0 {
		p.at = len(p.text) - len(rest)
	}
}

// redirection reads one to or from a file or a descriptor.
func (p *plain) redirection() bool {
	if !p.skip(">>") && !p.skip(">&") && !p.skip(">|") && !p.skip("<&") && !p.skip(">") && !p.skip("<") {
		return false
	}
	p.blanks()
	return strings.IndexByte("<>;&|()", p.peek()) < 0 && p.peek() != 0 && p.word(maxNested)
}

// word reads a word.
func (p *plain) word(nested int) bool {
	from, quoted := p.at, false
	for {
		switch c := p.peek(); {
		case c == '\'':
			end := strings.IndexAny(p.text[p.at+1:], "'\n")
			if end < 0 || p.text[p.at+1+end] == '\n' {
				return false
			}
			p.at += end + 2
			quoted = true
		case c == '"':
			if !p.doubleQuoted(nested) {
				return false
			}
			quoted = true
		case c == '$':
			if !p.expansion(nested) {
				return false
			}
			quoted = true
		case c == '\\':
			if !p.escaped() {
				return false
			}
			quoted = true
		case c == 0 && p.at < len(p.text), strings.IndexByte("`(\n\r", c) >= 0 && c != 0, c == '#' && p.at == from:
			return false
		case c == 0 || strings.IndexByte(" \t;&|)<>", c) >= 0:
			word := p.text[from:p.at]
			if !quoted {
				p.words = append(p.words, word)
			}
			inSubshell := word == "exit" && nested > 0 && nested < maxNested // it ends that alone
			return p.at > from && (inSubshell || !slices.Contains(notPlain, word))
		default:
			p.at++
		}
	}
}

// escaped reads a character behind a backslash.
func (p *plain) escaped() bool {
	if p.at+1 >= len(p.text) || strings.IndexByte("\n\r\x00", p.text[p.at+1]) >= 0 {
		return false
	}
	p.at += 2
	return true
}

// doubleQuoted reads a text in double quotes.
func (p *plain) doubleQuoted(nested int) bool {
	for p.at++; ; {
		switch c := p.peek(); {
		case c == '"':
			p.at++
			return true
		case c == '$':
			if !p.expansion(nested) {
				return false
			}
		case c == '\\':
			if !p.escaped() {
				return false
			}
		case c == 0 || strings.IndexByte("`\n\r", c) >= 0:
			return false
		default:
			p.at++
		}
	}
}

// expansion reads a parameter, also with braces and without an operator, or the output of a list.
func (p *plain) expansion(nested int) bool {
	const special, name = "@*#?-$!0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	p.at++
	switch {
	case p.skip("(("):
		return false
	case p.skip("("):
		return p.list(nested+1) && p.skip(")")
	case p.skip("{"):
		rest := p.text[p.at:]
		end := strings.IndexByte(rest, '}')
		if end < 1 || strings.Trim(rest[:end], name+"@*#?-![]:+=/%.,") != "" {
			return false
		}
		p.at += end + 1
		return true
	}
	if p.peek() != 0 && strings.IndexByte(special, p.peek()) >= 0 {
		p.at++
		return true
	}
	from := p.at
	for p.peek() != 0 && strings.IndexByte(name, p.peek()) >= 0 {
		p.at++
	}
	return p.at > from
}
