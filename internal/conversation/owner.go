package conversation

import (
	"strings"
	"unicode"
)

// ownerPaths are those that a type's words do not say.
var ownerPaths = map[string]string{"Agent": "public-agent"}

// OwnerPath is the path of an owner's type: its words, which begin with capital letters, in small
// letters with "-" between them. A run of capital letters is one word.
func OwnerPath(kind string) string {
	if p, ok := ownerPaths[kind]; ok {
		return p
	}
	var b strings.Builder
	runes := []rune(kind)
	for i, r := range runes {
		after := i > 0 && (unicode.IsLetter(runes[i-1]) || unicode.IsDigit(runes[i-1])) && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if after {
			b.WriteByte('-')
		}
		if r == '_' || unicode.IsSpace(r) {
			r = '-'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
