package state

import "strings"

// Quote makes one word of a shell of any text without NUL.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// QuoteASCII quotes a text for bash in printable ASCII alone: no byte of it depends on a locale or on who reads it line
// by line.
func QuoteASCII(text string) string {
	out := make([]byte, 0, len(text)+8)
	out = append(out, "$'"...)
	return string(append(appendANSI(out, []byte(text)), '\''))
}

// appendANSI is what stands for a text within the quotes of ansi.
func appendANSI(out, text []byte) []byte {
	const digits = "01234567"
	for _, c := range text {
		switch {
		case c == '\'' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c < ' ' || c > '~':
			out = append(out, '\\', digits[c>>6], digits[c>>3&7], digits[c&7])
		default:
			out = append(out, c)
		}
	}
	return out
}

// QuoteWords is an argv as a line of shell; words that need no quotes have none.
func QuoteWords(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		if words[i] = word; word == "" || strings.Trim(word, plainCharacters) != "" {
			words[i] = Quote(word)
		}
	}
	return strings.Join(words, " ")
}

// plainCharacters need no quotes in a shell.
const plainCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:=@%+,"
