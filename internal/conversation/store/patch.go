package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
)

// Patch changes fields of the state, given as a JSON object: an absent key keeps, null clears. It
// returns the state as it is then. A new type of the owner brings its path along; a new permission
// mode is the thread's, as by SetPermissions. Errors: ErrInvalid names the field.
func (cs *Conversations) Patch(threadID string, patch json.RawMessage) (s conversation.State, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(patch, &fields); err != nil || fields == nil {
		return s, fmt.Errorf("%w: a patch of the state is a JSON object", conversation.ErrInvalid)
	}
	write := func(c *change) error {
		old, err := stateOf(c, c.head)
		if err != nil {
			return err
		}
		if s, err = conversation.Patched(old, fields); err != nil || len(fields) == 0 {
			return err
		}
		if err := c.putState(s); err != nil {
			return err
		}
		return c.emit(StateChanged, thread.Detail{Reason: strings.Join(slices.Sorted(maps.Keys(fields)), ", ")})
	}
	if _, held := fields["permission_mode"]; !held {
		return s, cs.update(threadID, write)
	}
	_, err = cs.changePermissions(threadID, func(c *change, p permission.Permissions) (permission.Permissions, error) {
		if err := write(c); err != nil {
			return p, err
		}
		return p.With(&s.PermissionMode, nil)
	})
	return s, err
}

func (c *change) putState(s conversation.State) error { return c.putPart("the state", partState, s) }
