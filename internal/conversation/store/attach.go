package store

import (
	"fmt"
	"strings"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Attach says that a harness of some type holds the thread from now on, and returns the state, from
// which it goes on. The one before is not asked.
func (cs *Conversations) Attach(threadID, owner string) (s conversation.State, err error) {
	if strings.TrimSpace(owner) == "" || len(owner) > conversation.MaxOwner {
		return s, fmt.Errorf("%w: the owner's type has %d bytes; 1..%d are allowed, and not spaces alone",
			conversation.ErrInvalid, len(owner), conversation.MaxOwner)
	}
	return s, cs.update(threadID, func(c *change) error {
		if s, err = stateOf(c, c.head); err != nil {
			return err
		}
		from := ""
		if s.RuntimeOwnerType != nil {
			from = clip(*s.RuntimeOwnerType)
		}
		path := conversation.OwnerPath(owner)
		s.RuntimeOwnerType, s.RuntimeOwnerPath = &owner, &path
		if err := c.putState(s); err != nil {
			return err
		}
		return c.emit(Attached, thread.Detail{From: from, To: owner})
	})
}
