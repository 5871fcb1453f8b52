package store

import (
	"fmt"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Reader reads conversations from the database, each call one instant. It has no lock and no state.
type Reader struct{ store Database }

// view reads a conversation of a thread. A thread that has none yet has an empty current one: a
// Head without an ID.
func (r *Reader) view(thread, rid string, fn func(Tx, conversation.Head) error) error {
	return mapError(r.store.View(func(tx Tx) error {
		h, err := find(tx, thread, rid)
		if err != nil {
			return err
		}
		return fn(tx, h)
	}))
}

// find returns a conversation of a thread, "" is the current one.
func find(tx Tx, threadID, rid string) (conversation.Head, error) {
	if rid == "" {
		h, err := tx.CurrentConversation(threadID)
		if missing(err) {
			_, err = tx.Thread(threadID)
			h = conversation.Head{}
			h.ThreadID = threadID
		}
		return h, err
	}
	h, err := tx.Conversation(rid)
	if err == nil && h.ThreadID != threadID {
		err = fmt.Errorf("record %s: %w", rid, thread.ErrNotFound) // as one that is nowhere
	}
	return h, err
}

// Head finds a conversation. A thread that has none yet has an empty one without an ID.
func (r *Reader) Head(thread, rid string) (h conversation.Head, err error) {
	return h, r.view(thread, rid, func(_ Tx, found conversation.Head) error { h = found; return nil })
}

// State is the state document of a conversation.
func (r *Reader) State(thread, rid string) (s conversation.State, err error) {
	return s, r.view(thread, rid, func(tx Tx, h conversation.Head) error { s, err = stateOf(tx, h); return err })
}

// stateOf returns the state of a conversation; of a new one when there is none yet.
func stateOf(tx Tx, h conversation.Head) (s conversation.State, err error) {
	if h.SessionID == "" {
		return conversation.NewState(), nil
	}
	return s, tx.Part(h.SessionID, partState, &s)
}

func ledgerOf(tx Tx, h conversation.Head) (l conversation.Ledger, err error) {
	err = tx.Part(h.SessionID, partLedger, &l)
	return conversation.NormalLedger(l), err
}

// List returns all conversations of a thread, the newest first; none is no error. Errors:
// ErrNotFound (the thread).
func (r *Reader) List(thread string) (list []conversation.Head, err error) {
	return list, mapError(r.store.View(func(tx Tx) error {
		if _, err := tx.Thread(thread); err != nil {
			return err
		}
		list, err = tx.Conversations(thread)
		return err
	}))
}

// Latest is the conversation that was changed last, of the current ones of all threads whose ids
// begin so. Errors:
// ErrNotFound.
func (r *Reader) Latest(prefix string) (h conversation.Head, err error) {
	return h, mapError(r.store.View(func(tx Tx) error { h, err = tx.LatestConversation(prefix); return err }))
}

// Document is a whole record as its file has it, with the newest messages of those that are not
// archived: at most that many, all when it is below 0.
func (r *Reader) Document(thread, rid string, messages int) (d conversation.Document, err error) {
	return d, r.view(thread, rid, func(tx Tx, h conversation.Head) error {
		d, err = document(tx, h, messages)
		return err
	})
}

func document(tx Tx, h conversation.Head, messages int) (conversation.Document, error) {
	d := conversation.Document{Version: conversation.Version, SessionID: h.SessionID, CreatedAt: h.CreatedAt,
		UpdatedAt: h.UpdatedAt, Usage: h.Usage}
	var err error
	if d.State, err = stateOf(tx, h); err != nil {
		return d, err
	}
	if d.WorkflowLedger, err = ledgerOf(tx, h); err != nil {
		return d, err
	}
	if err := tx.Part(h.SessionID, partExtra, &d.Extra); err != nil {
		return d, err
	}
	if d.WorkflowTimeline, err = timeline.newest(tx, h, conversation.MaxTimeline); err != nil {
		return d, err
	}
	if d.PromptHistory, err = prompts.newest(tx, h, conversation.MaxPrompts); err != nil {
		return d, err
	}
	list, derived, err := traceOf(tx, h, d.WorkflowTimeline, d.State)
	if err != nil {
		return d, err
	}
	if !derived {
		d.CompletionTrace = list
	}
	last, err := tx.LastCompaction(h.SessionID)
	if err == nil {
		d.Compaction = &last.Compaction
	} else if !missing(err) {
		return d, err
	}
	kept, err := live(tx, h, messages)
	d.Messages = bare(kept)
	return d, err
}

func bare(kept []conversation.Kept) []conversation.Message {
	out := make([]conversation.Message, len(kept))
	for i, k := range kept {
		out[i] = k.Message
	}
	return out
}

// live are the messages of a conversation that are not archived, in order, the summary first: the
// newest limit of them, all when it is below 0.
func live(tx Tx, h conversation.Head, limit int) ([]conversation.Kept, error) {
	if limit == 0 {
		return nil, nil
	}
	list, err := tx.Messages(h.SessionID, Range{From: h.Archived, To: h.Messages, Limit: max(limit, 0), Newest: true})
	if err != nil || limit == len(list) {
		return list, err
	}
	return withSummary(tx, h, list)
}

// withSummary is a list that begins with the first message that is not archived, or with none,
// behind the summary of those before it, if there is one.
func withSummary(tx Tx, h conversation.Head, list []conversation.Kept) ([]conversation.Kept, error) {
	s, ok, err := summaryMessage(tx, h)
	if ok {
		list = slices.Insert(list, 0, s)
	}
	return list, err
}

// summaryMessage is the message that stands for the archived ones. It has the number of the last
// of them.
func summaryMessage(tx Tx, h conversation.Head) (k conversation.Kept, ok bool, err error) {
	if h.Archived == 0 {
		return conversation.Kept{}, false, nil
	}
	a, err := tx.LastCompaction(h.SessionID)
	if err != nil || a.Message == nil {
		return conversation.Kept{}, false, err
	}
	return conversation.Kept{Seq: a.UpTo, At: a.CreatedAt, Summary: true, Message: *a.Message}, true, nil
}

// MessageQuery asks for messages in order. The zero value asks for the first MaxPage that are not
// archived.
type MessageQuery struct {
	After    int64 // those with higher numbers
	Limit    int   // 1..MaxPage; 0 is MaxPage
	Newest   bool  // the newest Limit of them
	Archived bool  // all that were ever appended, and no summary
}

// Messages are those that are not archived, with the summary that stands for the others before
// them, or all as they were appended. What has more than MaxPageBytes of JSON is fewer than Limit,
// but one at least.
func (r *Reader) Messages(thread, rid string, q MessageQuery) (list []conversation.Kept, err error) {
	list, _, err = r.MessagesPart(thread, rid, q)
	return list, err
}

// MessagesPart is Messages, and next the After of the part that follows: 0 when nothing does, and
// with Newest.
func (r *Reader) MessagesPart(thread, rid string, q MessageQuery) (list []conversation.Kept, next int64, err error) {
	if q.After < 0 || q.Limit < 0 || q.Limit > conversation.MaxPage {
		return nil, 0, fmt.Errorf("%w: after %d, limit %d; after is 0 or more, limit 0..%d", conversation.ErrInvalid,
			q.After, q.Limit, conversation.MaxPage)
	}
	if q.Limit == 0 {
		q.Limit = conversation.MaxPage
	}
	err = r.view(thread, rid, func(tx Tx, h conversation.Head) error {
		list, err = messages(tx, h, q)
		if n := len(list); n > 0 && !q.Newest && list[n-1].Seq < h.Messages {
			next = list[n-1].Seq
		}
		return err
	})
	return list, next, err
}

func messages(tx Tx, h conversation.Head, q MessageQuery) ([]conversation.Kept, error) {
	part := Range{From: q.After, To: h.Messages, Limit: q.Limit, Bytes: conversation.MaxPageBytes, Newest: q.Newest}
	if !q.Archived {
		part.From = max(part.From, h.Archived)
	}
	list, err := tx.Messages(h.SessionID, part)
	if err != nil {
		return nil, err
	}
	if q.Archived {
		return archivedBy(tx, h, list)
	}
	first := len(list) == 0 || list[0].Seq == h.Archived+1
	if q.After >= h.Archived || !first || q.Newest && len(list) == q.Limit {
		return list, nil
	}
	list, err = withSummary(tx, h, list)
	return list[:min(len(list), q.Limit)], err
}

// archivedBy says of each message which compaction put it behind a summary: the first that reaches
// it.
func archivedBy(tx Tx, h conversation.Head, list []conversation.Kept) ([]conversation.Kept, error) {
	var after int64
	for i := 0; i < len(list) && list[i].Seq <= h.Archived; {
		page, err := tx.Compactions(h.SessionID, Page{After: after})
		if err != nil || len(page) == 0 {
			return list, err
		}
		for _, a := range page {
			for ; i < len(list) && list[i].Seq <= a.UpTo; i++ {
				list[i].ArchivedBy = a.Count
			}
			after = a.Count
		}
	}
	return list, nil
}

// Timeline is a part of the timeline; the view of it is the newest MaxTimeline.
func (r *Reader) Timeline(thread, rid string, p Page) ([]Item[conversation.Entry], error) {
	return timeline.read(r, thread, rid, p)
}

// Trace is the completion trace as of now: projected from the timeline, and then derived is true,
// or as it was given.
func (r *Reader) Trace(thread, rid string) (list []conversation.TraceEntry, derived bool, err error) {
	return list, derived, r.view(thread, rid, func(tx Tx, h conversation.Head) error {
		list, derived, err = trace(tx, h)
		return err
	})
}

func trace(tx Tx, h conversation.Head) ([]conversation.TraceEntry, bool, error) {
	entries, err := timeline.newest(tx, h, conversation.MaxTimeline)
	if err != nil {
		return nil, false, err
	}
	s, err := stateOf(tx, h)
	if err != nil {
		return nil, false, err
	}
	return traceOf(tx, h, entries, s)
}

func traceOf(tx Tx, h conversation.Head, entries []conversation.Entry,
	s conversation.State) ([]conversation.TraceEntry, bool, error) {
	stored, err := traces.newest(tx, h, conversation.MaxTrace)
	list, derived := conversation.Trace(entries, s.LastCompletionDecisionCode, stored)
	return list, derived, err
}

// Ledger is the ledger of a conversation.
func (r *Reader) Ledger(thread, rid string) (l conversation.Ledger, err error) {
	return l, r.view(thread, rid, func(tx Tx, h conversation.Head) error { l, err = ledgerOf(tx, h); return err })
}

// Prompts is a part of the prompt history; the view of it is the newest MaxPrompts.
func (r *Reader) Prompts(thread, rid string, p Page) ([]Item[conversation.Prompt], error) {
	return prompts.read(r, thread, rid, p)
}

// Turns is a part of the turns.
func (r *Reader) Turns(thread, rid string, p Page) ([]Item[conversation.Turn], error) {
	return turns.read(r, thread, rid, p)
}

// Usage is the sum over all turns.
func (r *Reader) Usage(thread, rid string) (conversation.Usage, error) {
	h, err := r.Head(thread, rid)
	return h.Usage, err
}

// Compactions is a part of the compactions with their summaries, by their numbers.
func (r *Reader) Compactions(thread, rid string, p Page) (list []conversation.Archive, err error) {
	return list, r.view(thread, rid, func(tx Tx, h conversation.Head) error {
		list, err = tx.Compactions(h.SessionID, p)
		return err
	})
}
