package store

import (
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// compactTries is how often a compaction begins anew because another was faster.
const compactTries = 3

// Compact archives the older messages of a conversation behind a summary, which comes before those
// that stay. ok is false when it is not worth it, see CompactOptions; then nothing has changed.
// Messages that are appended meanwhile stay. Errors: ErrConflict (compactTries others were faster),
// ErrInvalid.
func (cs *Conversations) Compact(thread string,
	o conversation.CompactOptions) (a conversation.Archive, ok bool, err error) {
	for range compactTries {
		p, worth, err := cs.plan(thread, o)
		if err != nil || !worth {
			return a, false, err
		}
		err = cs.update(thread, func(c *change) (err error) {
			a, ok, err = c.archive(p)
			return err
		})
		if ok || err != nil {
			return a, ok, err
		}
	}
	return a, false, fmt.Errorf("%w: another compaction of thread %s", conversation.ErrConflict, thread)
}

// plan is a compaction that was made for what a conversation was.
type plan struct {
	conversation.Archive
	was  conversation.Head
	stay int64 // bytes of the messages that it does not archive
}

// plan makes a compaction of the current conversation, without the writer. The task is the state's
// unless the caller says one. worth is false when there is to be none.
func (cs *Conversations) plan(thread string, o conversation.CompactOptions) (p plan, worth bool, err error) {
	var list []conversation.Kept
	var last *conversation.Compaction
	err = cs.view(thread, "", func(tx Tx, h conversation.Head) (err error) {
		p.was = h
		list, last, err = compactable(tx, h, &o)
		return err
	})
	if err != nil {
		return p, false, err
	}
	done, worth := conversation.Compact(bare(list), last, o)
	if !worth {
		return p, false, nil
	}
	p.Archive = conversation.Archive{UpTo: list[done.Removed-1].Seq, Message: &done.Message,
		Compaction: done.Compaction}
	err = cs.view(thread, p.was.SessionID, func(tx Tx, _ conversation.Head) (err error) {
		p.stay, err = tx.MessageBytes(p.was.SessionID, p.UpTo, p.was.Messages)
		return err
	})
	return p, err == nil, err
}

// compactable is what a compaction decides on.
func compactable(tx Tx, h conversation.Head,
	o *conversation.CompactOptions) (list []conversation.Kept, last *conversation.Compaction, err error) {
	if h.Compactions > 0 {
		a, err := tx.LastCompaction(h.SessionID)
		if err != nil {
			return nil, nil, err
		}
		last = &a.Compaction
	}
	if o.CurrentTask == nil {
		s, err := stateOf(tx, h)
		if err != nil {
			return nil, nil, err
		}
		o.CurrentTask = s.CurrentTask
	}
	list, err = live(tx, h, -1)
	return list, last, err
}

// archive writes a compaction. ok is false when the conversation has been cleared or compacted
// since it was planned. It costs the same however many messages there are.
func (c *change) archive(p plan) (conversation.Archive, bool, error) {
	a := p.Archive
	if c.head.SessionID != p.was.SessionID || c.head.Compactions != p.was.Compactions {
		return a, false, nil
	}
	if _, err := encode("the summary", a.Message, conversation.MaxItemBytes); err != nil {
		return a, false, err
	}
	a.CreatedAt = stamp(c.now)
	c.head.Archived, c.head.Compactions = a.UpTo, a.Count
	since := c.head.Bytes - p.was.Bytes
	c.head.Bytes = p.stay + (p.was.Messages-a.UpTo)*overhead + int64(len(a.Message.Content)) + since
	c.AddCompaction(c.head.SessionID, a)
	c.changed()
	return a, true, c.emit(CompactedEvent, thread.Detail{Version: a.Count})
}
