package store

import (
	"fmt"
	"math"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

var roles = []string{conversation.RoleSystem, conversation.RoleUser, conversation.RoleAssistant, conversation.RoleTool}

// Append adds messages to the conversation, all or none, and returns them with their numbers. The
// first message of role user that a conversation gets is its current task, when it has none. It
// costs the same however many messages there are.
func (cs *Conversations) Append(thread string, list []conversation.Message) (kept []conversation.Kept, err error) {
	if err := checkMessages(list); err != nil {
		return nil, err
	}
	return kept, cs.update(thread, func(c *change) error {
		kept, err = c.append(list)
		return err
	})
}

func checkMessages(list []conversation.Message) error {
	if len(list) == 0 {
		return fmt.Errorf("%w: no message is given", conversation.ErrInvalid)
	}
	if err := checkCount("messages in one call", len(list), conversation.MaxAppend); err != nil {
		return err
	}
	for i, msg := range list {
		if !slices.Contains(roles, msg.Role) {
			return fmt.Errorf("%w: role %.40q of message %d; it is one of %v", conversation.ErrInvalid, msg.Role, i+1,
				roles)
		}
		for _, call := range msg.ToolCalls {
			if len(call.Arguments) > 0 && !conversation.IsObject(call.Arguments) {
				return fmt.Errorf("%w: arguments of tool call %.80q of message %d are not a JSON object",
					conversation.ErrInvalid, call.ID, i+1)
			}
		}
	}
	return nil
}

func (c *change) append(list []conversation.Message) ([]conversation.Kept, error) {
	first := ""
	kept := make([]conversation.Kept, 0, len(list))
	for _, msg := range list {
		k, err := c.addMessage(msg)
		if err != nil {
			return nil, err
		}
		if msg.Role == conversation.RoleUser && c.head.Users == 1 {
			first = msg.Content
		}
		kept = append(kept, k)
		if err := c.emit(MessageAdded, thread.Detail{Version: k.Seq, To: k.Role}); err != nil {
			return nil, err
		}
	}
	if first == "" {
		return kept, nil
	}
	return kept, c.setTask(first)
}

// addMessage adds a row and counts it.
func (c *change) addMessage(msg conversation.Message) (conversation.Kept, error) {
	k := conversation.Kept{Seq: c.head.Messages + 1, At: stamp(c.now), Message: conversation.NormalMessage(msg)}
	if k.Seq > conversation.MaxMessages {
		return k, fmt.Errorf("%w: record %s has %d messages, which is the most; clear the thread",
			conversation.ErrTooMany, c.head.SessionID, c.head.Messages)
	}
	n := c.AddMessage(c.head.SessionID, k)
	if err := checkSize(fmt.Sprintf("message %d", k.Seq), n, conversation.MaxMessageBytes); err != nil {
		return k, err
	}
	c.head.Messages, c.head.Bytes = k.Seq, c.head.Bytes+int64(n+overhead)
	if c.head.Bytes > conversation.MaxRecordBytes {
		return k, fmt.Errorf("%w: the messages of record %s would have %d bytes of JSON, %d are allowed; compact the "+
			"record or clear the thread", conversation.ErrTooLarge, c.head.SessionID, c.head.Bytes,
			conversation.MaxRecordBytes)
	}
	if msg.Role == conversation.RoleUser {
		c.head.Users++
	}
	c.changed()
	return k, nil
}

// setTask makes the first message of the user the current task, unless there is one.
func (c *change) setTask(task string) error {
	s, err := stateOf(c, c.head)
	if err != nil || s.CurrentTask != nil {
		return err
	}
	s.CurrentTask = &task
	b, err := encode("the state", s, math.MaxInt) // a message may be longer than a state that a client gives
	c.PutPart(c.head.SessionID, partState, b)
	return err
}
