package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/thread"
)

// Clear gives the thread a new conversation; the old one is kept and can be read by its id. The
// owner of the thread and its permissions stay.
func (cs *Conversations) Clear(threadID string) (h conversation.Head, err error) {
	return h, cs.transact(threadID, func(c *change) error {
		s, from := conversation.NewState(), ""
		old, err := c.CurrentConversation(threadID)
		if err != nil && !missing(err) {
			return err
		}
		if err == nil {
			was, err := stateOf(c, old)
			if err != nil {
				return err
			}
			conversation.KeepOwner(&s, was)
			from = old.SessionID
		}
		if err := c.begin(s); err != nil {
			return err
		}
		h = c.head
		return c.emit(Cleared, thread.Detail{From: from, To: h.SessionID})
	})
}

// Import makes a document the current conversation of a thread; the one before is kept. The
// document's id stays the conversation's; without a usable one, or with one of another owner's, it gets another. The
// same document again changes nothing. Errors: ErrConflict (another record has the id).
func (cs *Conversations) Import(thread string, d conversation.Document) (h conversation.Head, err error) {
	if len(d.Messages) > conversation.MaxMessages {
		return h, checkCount("messages of a document", len(d.Messages), conversation.MaxMessages)
	}
	if c := d.Compaction; c != nil && c.Count > conversation.MaxMessages { // the next one has to have a higher number
		return h, fmt.Errorf("%w: %d compactions; each archives a message, of which %d are allowed",
			conversation.ErrInvalid, c.Count, conversation.MaxMessages)
	}
	if CheckID(d.SessionID) != nil {
		d.SessionID = ""
	}
	cs.purging.Lock()
	defer cs.purging.Unlock()
	h, done, err := cs.hasAlready(thread, &d)
	if done || err != nil {
		return h, err
	}
	if h, err = cs.importDocument(thread, d); err == nil {
		return h, nil
	}
	left := cs.purgeNow()
	if left == nil && errors.Is(err, conversation.ErrConflict) { // a deleted one had the id: nobody learns whose it was
		if h, err = cs.importDocument(thread, d); err == nil {
			return h, nil
		}
		left = cs.purgeNow()
	}
	if left != nil { // the next server does it
		cs.failed(left)
	}
	return h, err
}

// hasAlready reports whether the conversation of a document's id is what the document says. It
// reads all of it, and so does not hold the writer. A document with an id of another owner's conversation loses
// it. Errors: ErrConflict (it says something else).
func (cs *Conversations) hasAlready(thread string,
	d *conversation.Document) (h conversation.Head, same bool, err error) {
	if d.SessionID == "" {
		return h, false, nil
	}
	err = cs.Reader.store.View(func(tx Tx) (err error) {
		if h, err = tx.Conversation(d.SessionID); err != nil || h.ThreadID != thread || !h.Current {
			return err
		}
		for _, read := range []func(Tx, conversation.Head) (conversation.Document, error){exported, imported} {
			now, err := read(tx, h)
			if err == nil {
				same, err = equal(now, *d)
			}
			// only a document that is as long can be the one it was made from
			if same || err != nil || !sameLengths(h, *d) {
				return err
			}
		}
		return nil
	})
	switch {
	case missing(err):
		return conversation.Head{}, false, nil
	case err != nil:
		return h, false, mapError(err)
	case same:
		return h, true, nil
	case owner.Space(h.ThreadID) != owner.Space(thread): // nobody learns that it is there
		d.SessionID = ""
		return conversation.Head{}, false, nil
	}
	return h, false,
		fmt.Errorf("%w: record %s; a document that is to be another record has another session_id, or none",
			conversation.ErrConflict, d.SessionID)
}

// sameLengths reports whether the lists of a conversation have as many elements as the lists of a
// document.
func sameLengths(h conversation.Head, d conversation.Document) bool {
	return h.Messages == int64(len(d.Messages)) && h.Timeline == int64(len(d.WorkflowTimeline)) &&
		h.Prompts == int64(len(d.PromptHistory)) && h.Traces == int64(len(d.CompletionTrace))
}

// exported returns a conversation as in its file, with the newest of its lists.
func exported(tx Tx, h conversation.Head) (conversation.Document, error) { return document(tx, h, -1) }

// imported returns a conversation as in the document that it was made from, if nothing was added
// since: with whole lists, of which a file has only the newest.
func imported(tx Tx, h conversation.Head) (conversation.Document, error) {
	d, err := exported(tx, h)
	if err != nil {
		return d, err
	}
	if d.WorkflowTimeline, err = timeline.whole(tx, h); err != nil {
		return d, err
	}
	if d.PromptHistory, err = prompts.whole(tx, h); err != nil {
		return d, err
	}
	d.CompletionTrace, err = traces.whole(tx, h)
	return d, err
}

// equal is whether two documents say the same, at whatever time.
func equal(now, d conversation.Document) (bool, error) {
	now.UpdatedAt, now.CreatedAt = d.UpdatedAt, d.CreatedAt
	a, err := now.MarshalJSON()
	if err != nil {
		return false, err
	}
	b, err := d.MarshalJSON()
	return bytes.Equal(a, b), err
}
