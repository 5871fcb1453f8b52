package state

import "strings"

// Quote quotes any text without NUL as one word of a shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// QuoteASCII quotes a text for bash in printable ASCII, independent of locales and readers of
// lines.
func QuoteASCII(text string) string {
	out := make([]byte, 0, len(text)+8)
	out = append(out, "$'"...)
	return string(append(appendANSI(out, []byte(text)), '\''))
}

// appendANSI appends a text as it is written within $'…'.
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

// QuoteWords is an argv as a line of shell, with quotes only where they are needed.
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
