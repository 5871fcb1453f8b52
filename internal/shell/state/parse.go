package state

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// variable is one line of declare -p.
type variable struct {
	name     string
	flags    string // the attributes: x, r, i, a, A, n, l, u, c, t; without the dash
	assigned bool   // false of one that is only declared
	value    string // of one without a and A
	elements []element
}

// element is one of an array's.
type element struct{ key, value string }

// has reports whether the variable has an attribute.
func (v *variable) has(flag string) bool { return strings.Contains(v.flags, flag) }

// array reports whether it has elements instead of a value.
func (v *variable) array() bool { return v.has("a") || v.has("A") }

// scanner parses the output of bash that bash could read again.
type scanner struct {
	text string
	at   int
}

// head reads `declare -FLAGS NAME`, and the = when a value follows.
func (s *scanner) head() (variable, error) {
	var v variable
	if !s.skip("declare -") {
		return v, errSyntax
	}
	v.flags = strings.Trim(s.upTo(" "), "-")
	if !s.skip(" ") || strings.Trim(v.flags, "aAilnrtuxc") != "" {
		return v, errSyntax
	}
	if v.name = s.upTo("=\n"); !ValidName(v.name) {
		return v, errSyntax
	}
	v.assigned = s.skip("=")
	return v, nil
}

// declaration reads `declare -FLAGS NAME[=VALUE]` and the newline.
func (s *scanner) declaration() (variable, error) {
	v, err := s.head()
	switch {
	case err != nil || !v.assigned:
	case v.array():
		v.elements, err = s.elements()
	default:
		v.value, err = s.word(" \n")
	}
	if err != nil {
		return v, err
	}
	if s.at < len(s.text) && !s.skip("\n") {
		return v, errSyntax
	}
	return v, nil
}

// elements reads `([KEY]=VALUE …)`.
func (s *scanner) elements() ([]element, error) {
	var list []element
	if !s.skip("(") {
		return nil, errSyntax
	}
	for {
		for s.skip(" ") {
		}
		if s.skip(")") {
			return list, nil
		}
		if !s.skip("[") {
			return nil, errSyntax
		}
		key, err := s.word("]")
		if err != nil || !s.skip("]=") {
			return nil, errSyntax
		}
		value, err := s.word(" )")
		if err != nil {
			return nil, err
		}
		list = append(list, element{key, value})
	}
}

// word reads one word of quoted and bare parts, up to one of the bytes of end or to the end of the
// text.
func (s *scanner) word(end string) (string, error) {
	var out strings.Builder
	for s.at < len(s.text) && strings.IndexByte(end, s.text[s.at]) < 0 {
		var err error
		switch {
		case s.skip(`"`):
			err = s.doubleQuoted(&out)
		case s.skip(`$'`):
			err = s.ansiQuoted(&out)
		case s.skip(`'`):
			n := strings.IndexByte(s.text[s.at:], '\'')
			if n < 0 {
				return "", errSyntax
			}
			out.WriteString(s.text[s.at : s.at+n])
			s.at += n + 1
		case s.skip(`\`):
			if s.at == len(s.text) {
				return "", errSyntax
			}
			out.WriteByte(s.text[s.at])
			s.at++
		default:
			out.WriteByte(s.text[s.at])
			s.at++
		}
		if err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// doubleQuoted reads up to the closing quote, with backslashes as bash escapes them there.
func (s *scanner) doubleQuoted(out *strings.Builder) error {
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '"':
			return nil
		case c == '\\' && s.at < len(s.text) && strings.IndexByte("$`\"\\\n", s.text[s.at]) >= 0:
			if c = s.text[s.at]; c != '\n' { // a newline behind a backslash is none
				out.WriteByte(c)
			}
			s.at++
		default:
			out.WriteByte(c)
		}
	}
	return errSyntax
}

// ansiLetters are the escapes of $'…' that are one letter.
var ansiLetters = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12,
	'n': 10, 'r': 13, 't': 9, 'v': 11, '\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiQuoted reads the inside of $'…' up to the closing quote.
func (s *scanner) ansiQuoted(out *strings.Builder) error {
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		if c == '\'' {
			return nil
		}
		if c != '\\' {
			out.WriteByte(c)
			continue
		}
		if s.at == len(s.text) {
			return errSyntax
		}
		c = s.text[s.at]
		if letter, ok := ansiLetters[c]; ok {
			s.at++
			out.WriteByte(letter)
			continue
		}
		s.ansiNumber(c, out)
	}
	return errSyntax
}

// ansiNumber reads an escape with a number; any other escape stands for itself with the backslash. No value has a
// NUL, so an escape of NUL is dropped.
func (s *scanner) ansiNumber(c byte, out *strings.Builder) {
	n := rune(0)
	switch {
	case c >= '0' && c <= '7':
		n = rune(byte(s.number(3, 8)))
	case c == 'x':
		s.at++
		n = rune(byte(s.number(2, 16)))
	case c == 'u', c == 'U':
		s.at++
		if n = rune(s.number(map[byte]int{'u': 4, 'U': 8}[c], 16)); n != 0 {
			out.Write(utf8.AppendRune(nil, n))
		}
		return
	case c == 'c' && s.at+1 < len(s.text):
		n = rune(s.text[s.at+1] & 0x1f)
		s.at += 2
	default:
		out.WriteByte('\\')
		n = rune(c)
		s.at++
	}
	if n != 0 {
		out.WriteByte(byte(n))
	}
}

// number reads up to limit of the digits of a base.
func (s *scanner) number(limit, base int) int64 {
	digits := "01234567"
	if base == 16 {
		digits = "0123456789abcdefABCDEF"
	}
	text := s.text[s.at:min(s.at+limit, len(s.text))]
	text = text[:len(text)-len(strings.TrimLeft(text, digits))]
	s.at += len(text)
	value, _ := strconv.ParseInt(text, base, 64) // "" is 0
	return value
}

// skip goes over a text when it is next.
func (s *scanner) skip(text string) bool {
	if !strings.HasPrefix(s.text[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

// upTo reads the text before the first of some bytes, or all of the rest.
func (s *scanner) upTo(end string) string {
	n := strings.IndexAny(s.text[s.at:], end)
	if n < 0 {
		n = len(s.text) - s.at
	}
	s.at += n
	return s.text[s.at-n : s.at]
}

// ValidName reports whether a name is one of a variable.
func ValidName(name string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	return strings.IndexAny(name, letters) == 0 && strings.Trim(name, letters+"0123456789") == ""
}
