package record

import (
	"bytes"
	"fmt"

	"github.com/evertty/evertty/session"
)

// Clear gives the thread a new record; the old one is kept and can be read by its id. Who holds the thread and what is permitted in it stay as they are.
func (m *Manager) Clear(thread string) (h Head, err error) {
	return h, m.transact(thread, func(c *change) error {
		s, from := NewState(), ""
		old, err := c.CurrentRecord(thread)
		switch {
		case err == nil:
			was, err := c.RecordState(old.ID)
			if err != nil {
				return err
			}
			s.keep(was)
			from = old.ID
		case !missing(err):
			return err
		}
		if err := c.begin(Head{}, s); err != nil {
			return err
		}
		h = c.head
		return c.tell(Cleared, session.Detail{From: from, To: h.ID})
	})
}

// keep takes over what is of the thread and not of one conversation.
func (s *State) keep(was State) {
	s.RuntimeOwnerType, s.RuntimeOwnerPath = was.RuntimeOwnerType, was.RuntimeOwnerPath
	s.PermissionMode, s.PermissionPromptingEnabled = was.PermissionMode, was.PermissionPromptingEnabled
	s.PermissionRuleCounts, s.PermissionRulesSource = was.PermissionRuleCounts, was.PermissionRulesSource
}

// Import makes a document the current record of a thread; the one before is kept. The document's id stays the record's; without a usable one it gets another. The same document again changes
// nothing. Errors: ErrConflict (another record has the id).
func (m *Manager) Import(thread string, d Document) (h Head, err error) {
	if len(d.Messages) > MaxMessages {
		return h, checkCount("messages of a document", len(d.Messages), MaxMessages)
	}
	if c := d.Compaction; c != nil && c.Count > MaxMessages { // the next one has to have a higher number
		return h, fmt.Errorf("%w: %d compactions; each archives a message, of which %d are allowed", ErrInvalid, c.Count, MaxMessages)
	}
	if CheckID(d.SessionID) != nil {
		d.SessionID = ""
	}
	for {
		h, done, err := m.hasAlready(thread, d)
		if done || err != nil {
			return h, err
		}
		meanwhile := false
		err = m.transact(thread, func(c *change) error {
			if _, err := c.Record(d.SessionID); !missing(err) {
				meanwhile = true
				return err
			}
			err := c.take(d)
			h = c.head
			return err
		})
		if !meanwhile || err != nil {
			return h, err
		}
	}
}

// hasAlready says whether the record of a document's id is what the document says. It reads all of it, and so does not hold the writer. Errors: ErrConflict (it says something else).
func (m *Manager) hasAlready(thread string, d Document) (h Head, same bool, err error) {
	if d.SessionID == "" {
		return h, false, nil
	}
	var now Document
	long := false // as d is
	err = m.cfg.Store.View(func(tx Tx) (err error) {
		if h, err = tx.Record(d.SessionID); err != nil || h.Thread != thread || !h.Current {
			return err
		}
		if long = h.asLong(d); long {
			now, err = imported(tx, h)
		}
		return err
	})
	switch {
	case missing(err):
		return Head{}, false, nil
	case err != nil:
		return h, false, named(err)
	case long:
		if same, err = equal(now, d); same || err != nil {
			return h, same, err
		}
	}
	return h, false, fmt.Errorf("%w: record %s of thread %s; a document that is to be another record has another session_id, or none", ErrConflict, h.ID, h.Thread)
}

// asLong says whether the lists of a record have as many elements as those of a document.
func (h Head) asLong(d Document) bool {
	return h.Messages == int64(len(d.Messages)) && h.Timeline == int64(len(d.WorkflowTimeline)) && h.Prompts == int64(len(d.PromptHistory)) && h.Traces == int64(len(d.CompletionTrace))
}

// imported is a record as the document was that it was made from, if nothing was added since: with all of the lists of which a file has the newest.
func imported(tx Tx, h Head) (Document, error) {
	d, err := document(tx, h, -1)
	if err != nil {
		return d, err
	}
	if d.WorkflowTimeline, err = whole(tx.Entries, h.ID); err != nil {
		return d, err
	}
	if d.PromptHistory, err = whole(tx.Prompts, h.ID); err != nil {
		return d, err
	}
	d.CompletionTrace, err = whole(tx.Traces, h.ID)
	return d, err
}

// whole reads all of a list, page by page.
func whole[T any](read func(record string, p Page) ([]Item[T], error), id string) (list []T, err error) {
	for after := int64(0); ; {
		page, err := read(id, Page{After: after})
		if err != nil || len(page) == 0 {
			return list, err
		}
		for _, it := range page {
			list, after = append(list, it.Value), it.Seq
		}
	}
}

// equal is whether two documents say the same, at whatever time.
func equal(now, d Document) (bool, error) {
	now.UpdatedAt, now.CreatedAt = d.UpdatedAt, d.CreatedAt
	a, err := now.MarshalJSON()
	if err != nil {
		return false, err
	}
	b, err := d.MarshalJSON()
	return bytes.Equal(a, b), err
}

// take writes a document as the new current record.
func (c *change) take(d Document) error {
	state := d.State.Normal()
	if err := checkJSON("the state", state, MaxItemBytes); err != nil {
		return err
	}
	if err := c.begin(Head{ID: d.SessionID, CreatedAt: d.CreatedAt, Usage: d.Usage}, state); err != nil {
		return err
	}
	for _, put := range []func(Document) error{c.takeMessages, c.takeLists, c.takeRest} {
		if err := put(d); err != nil {
			return err
		}
	}
	return c.tell(Imported, session.Detail{To: c.head.ID, Version: c.head.Messages})
}

func (c *change) takeMessages(d Document) error {
	for _, msg := range d.Messages {
		if _, err := c.addMessage(msg); err != nil {
			return err
		}
		if msg.Role == RoleUser {
			c.head.Users++
		}
	}
	if d.Compaction == nil {
		return nil
	}
	c.head.Compactions = max(d.Compaction.Count, 1)
	return c.AddCompaction(c.head.ID, Archive{At: stamp(c.now), Compaction: *d.Compaction})
}

func (c *change) takeLists(d Document) error {
	for _, e := range d.WorkflowTimeline {
		it, err := item(c, "timeline entries", &c.head.Timeline, e, MaxItemBytes)
		if err == nil {
			err = c.AddEntry(c.head.ID, it)
		}
		if err != nil {
			return err
		}
	}
	for _, e := range d.CompletionTrace {
		it, err := item(c, "trace entries", &c.head.Traces, e, MaxItemBytes)
		if err == nil {
			err = c.Tx.AddTrace(c.head.ID, it)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range d.PromptHistory {
		it, err := item(c, "prompts", &c.head.Prompts, p, MaxItemBytes)
		if err == nil {
			err = c.Tx.AddPrompt(c.head.ID, it)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *change) takeRest(d Document) error {
	l := d.WorkflowLedger.Normal()
	if err := checkJSON("the ledger", l, MaxItemBytes); err != nil {
		return err
	}
	if err := c.PutLedger(c.head.ID, l); err != nil {
		return err
	}
	if err := checkJSON("keys that are not known", d.Extra, MaxItemBytes); err != nil {
		return err
	}
	return c.PutExtra(c.head.ID, d.Extra)
}
