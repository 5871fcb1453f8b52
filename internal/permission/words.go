package permission

import (
	"regexp"
	"strings"
	"sync"
)

// plainWord is a word that a shell takes as it is, and reservedWord one that it does not in the
// first place.
var (
	plainWord    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-]+$`) })
	reservedWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|` +
			`time|coproc)$`)
	})
)

// ShellWords is shell text that gives a program exactly these words.
func ShellWords(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		if words[i] = w; !plainWord().MatchString(w) || i == 0 && reservedWord().MatchString(w) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
