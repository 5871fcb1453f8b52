package conversation

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/evertty/evertty/internal/thread"
)

// ownerPaths are those that a type's words do not say.
var ownerPaths = map[string]string{"Agent": "public-agent"}

// OwnerPath is the path of an owner's type: its words, which begin with capital letters, in small letters with "-" between them. A run of capital letters is one word.
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

// Attach says that a harness of some type holds the thread from now on, and returns the state, from which it goes on. The one before is not asked.
func (m *Manager) Attach(threadID, owner string) (s State, err error) {
	if strings.TrimSpace(owner) == "" || len(owner) > MaxOwner {
		return s, fmt.Errorf("%w: the owner's type has %d bytes; 1..%d are allowed, and not spaces alone", ErrInvalid, len(owner), MaxOwner)
	}
	return s, m.update(threadID, func(c *change) error {
		if s, err = c.RecordState(c.head.ID); err != nil {
			return err
		}
		from := ""
		if s.RuntimeOwnerType != nil {
			from = clip(*s.RuntimeOwnerType)
		}
		path := OwnerPath(owner)
		s.RuntimeOwnerType, s.RuntimeOwnerPath = &owner, &path
		if err := c.putState(s); err != nil {
			return err
		}
		return c.tell(Attached, thread.Detail{From: from, To: owner})
	})
}
