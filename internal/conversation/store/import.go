package store

import (
	"cmp"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// importStep is how long one transaction of an import takes, for which all other writers wait.
const importStep = 20 * time.Millisecond

// importDocument makes a document the current conversation of a thread, in as many transactions as
// it needs. Until the last one its rows belong to no thread, like rows of a deleted one: no read
// finds them, and when the last one fails they are purged, by the next server if this one is
// killed. m.purging is held.
func (cs *Conversations) importDocument(threadID string, d conversation.Document) (h conversation.Head, err error) {
	state, err := encode("the state", conversation.NormalState(d.State), conversation.MaxItemBytes)
	if err != nil {
		return h, err
	}
	rows := append([]func(*change) error{func(c *change) error { return c.stage(d) }}, rowsOf(d)...)
	for head := (conversation.Head{}); len(rows) > 0; {
		n := 0
		err := cs.writer.write(threadID, func(c *change) error {
			c.head = head
			for began := time.Now(); n < len(rows) && (n == 0 || time.Since(began) < importStep); n++ {
				if err := rows[n](c); err != nil {
					return err
				}
			}
			h, c.dirty = c.head, false // adopt writes the row of a conversation without a thread
			return nil
		})
		if err != nil {
			return h, err
		}
		head, rows = h, rows[n:]
	}
	return h, cs.transact(threadID, func(c *change) error {
		c.head = h
		if err := c.adopt(state); err != nil {
			return err
		}
		h = c.head
		return c.emit(Imported, thread.Detail{To: h.SessionID, Version: h.Messages})
	})
}

// stage begins a conversation that has no thread yet.
func (c *change) stage(d conversation.Document) error {
	// an absent thread is reported at the end, when nothing else can be wrong
	if err := c.checkRoom(); err != nil && !missing(err) {
		return err
	}
	c.head = conversation.Head{RecordHead: wire.RecordHead{SessionID: d.SessionID, UpdatedAt: stamp(c.now),
		CreatedAt: cmp.Or(d.CreatedAt, stamp(c.now)), Usage: d.Usage}}
	if c.head.SessionID == "" {
		c.head.SessionID = newID(c.now)
	}
	c.PutConversation(c.head)
	return nil
}

// adopt makes what was staged the thread's current conversation.
func (c *change) adopt(state []byte) error {
	if err := c.checkRoom(); err != nil { // it may have changed since stage
		return err
	}
	c.RetireConversation(c.thread)
	c.AdoptConversation(c.head.SessionID, c.thread)
	c.head.ThreadID, c.head.Current, c.head.UpdatedAt = c.thread, true, stamp(c.now)
	c.made, c.dirty = true, true
	c.PutPart(c.head.SessionID, partState, state)
	return nil
}

// rowsOf returns the writes of a document beside its state, in order.
func rowsOf(d conversation.Document) []func(*change) error {
	rows := make([]func(*change) error, 0, len(d.Messages)+len(d.WorkflowTimeline)+len(d.CompletionTrace)+
		len(d.PromptHistory)+2)
	for _, msg := range d.Messages {
		rows = append(rows, func(c *change) error { _, err := c.addMessage(msg); return err })
	}
	rows = appendItems(rows, timeline, d.WorkflowTimeline)
	rows = appendItems(rows, traces, d.CompletionTrace)
	rows = appendItems(rows, prompts, d.PromptHistory)
	return append(rows, func(c *change) error {
		c.importCompaction(d.Compaction)
		return c.importRest(d)
	})
}

func appendItems[T any](rows []func(*change) error, l list[T], values []T) []func(*change) error {
	for _, v := range values {
		rows = append(rows, func(c *change) error { _, err := l.add(c, v); return err })
	}
	return rows
}

func (c *change) importCompaction(last *conversation.Compaction) {
	if last == nil {
		return
	}
	c.head.Compactions = max(last.Count, 1)
	c.AddCompaction(c.head.SessionID, conversation.Archive{CreatedAt: stamp(c.now), Compaction: *last})
}

func (c *change) importRest(d conversation.Document) error {
	if err := c.putPart("the ledger", partLedger, conversation.NormalLedger(d.WorkflowLedger)); err != nil ||
		len(d.Extra) == 0 {
		return err
	}
	return c.putPart("keys that are not known", partExtra, d.Extra)
}

// checkRoom reports whether the thread is there and may have one more conversation.
func (c *change) checkRoom() error {
	if _, err := c.Thread(c.thread); err != nil {
		return err
	}
	list, err := c.Conversations(c.thread)
	if err == nil && len(list) >= conversation.MaxConversations {
		err = fmt.Errorf("%w: thread %s has %d records, which is the most; delete the thread or export it to another",
			conversation.ErrTooMany, c.thread, len(list))
	}
	return err
}
