package store

import (
	"encoding/json"
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// list is a list of a conversation with the type of its values.
type list[T any] struct {
	name  List
	what  string                          // the values, for errors
	count func(*conversation.Head) *int64 // how many there are
	most  int                             // bytes of the JSON of a value
}

var (
	timeline = list[conversation.Entry]{"timeline", "timeline entries",
		func(h *conversation.Head) *int64 { return &h.Timeline }, conversation.MaxItemBytes}
	traces = list[conversation.TraceEntry]{"traces", "trace entries",
		func(h *conversation.Head) *int64 { return &h.Traces }, conversation.MaxItemBytes}
	prompts = list[conversation.Prompt]{"prompts", "prompts",
		func(h *conversation.Head) *int64 { return &h.Prompts }, conversation.MaxItemBytes}
	turns = list[conversation.Turn]{"turns", "turns",
		func(h *conversation.Head) *int64 { return &h.Turns }, conversation.MaxTurnBytes}
	inbox = list[string]{"mailbox", "messages to the mailbox",
		func(h *conversation.Head) *int64 { return &h.Inbox }, conversation.MaxItemBytes}
)

// add adds a value to the list of the changed conversation.
func (l list[T]) add(c *change, v T) (it Item[T], err error) {
	n := l.count(&c.head)
	if *n >= conversation.MaxItems {
		return it, fmt.Errorf("%w: record %s has %d of %s, which is the most; clear the thread",
			conversation.ErrTooMany, c.head.SessionID, *n, l.what)
	}
	b, err := encode(l.what, v, l.most)
	if err != nil {
		return it, err
	}
	*n++
	c.changed()
	c.AddItem(l.name, c.head.SessionID, Item[json.RawMessage]{*n, stamp(c.now), b})
	return Item[T]{*n, stamp(c.now), v}, nil
}

// page reads a part of the list.
func (l list[T]) page(tx Tx, h conversation.Head, p Page) ([]Item[T], error) {
	rows, err := tx.Items(l.name, h.SessionID, p)
	list := make([]Item[T], len(rows))
	for i, r := range rows {
		list[i].Seq, list[i].At = r.Seq, r.At
		if err := json.Unmarshal(r.Value, &list[i].Value); err != nil {
			return nil, fmt.Errorf("%s of record %s: %d: %w", l.name, h.SessionID, r.Seq, err)
		}
	}
	return list, err
}

// newest reads the newest values of the list, at most limit.
func (l list[T]) newest(tx Tx, h conversation.Head, limit int) ([]T, error) {
	page, err := l.page(tx, h, Page{Limit: limit, Newest: true})
	return values(page), err
}

// whole reads all values of the list, page by page.
func (l list[T]) whole(tx Tx, h conversation.Head) (all []T, err error) {
	for after := int64(0); ; {
		page, err := l.page(tx, h, Page{After: after})
		if err != nil || len(page) == 0 {
			return all, err
		}
		all, after = append(all, values(page)...), page[len(page)-1].Seq
	}
}

// read is page for a reader of a thread.
func (l list[T]) read(r *Reader, thread, rid string, p Page) (list []Item[T], err error) {
	return list, r.view(thread, rid, func(tx Tx, h conversation.Head) error {
		list, err = l.page(tx, h, p)
		return err
	})
}

func values[T any](list []Item[T]) []T {
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = e.Value
	}
	return out
}

// The names of the parts of a conversation.
const (
	partState  = "state"
	partLedger = "ledger"
	partExtra  = "extra"
)

// putPart writes a part of the changed conversation.
func (c *change) putPart(what, part string, v any) error {
	b, err := encode(what, v, conversation.MaxItemBytes)
	if err != nil {
		return err
	}
	c.changed()
	c.PutPart(c.head.SessionID, part, b)
	return nil
}

// encode returns the JSON of a value. It refuses one that has none, such as NaN, and one that is
// too large.
func encode(what string, v any, most int) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", conversation.ErrInvalid, what, err)
	}
	return b, checkSize(what, len(b), most)
}

// AddEntry adds a decision to the timeline.
func (cs *Conversations) AddEntry(threadID string, e conversation.Entry) (it Item[conversation.Entry], err error) {
	return it, cs.update(threadID, func(c *change) error {
		if it, err = timeline.add(c, e); err != nil {
			return err
		}
		return c.emit(TimelineAdded, thread.Detail{Version: it.Seq, To: clip(e.Kind), Reason: clip(e.ReasonCode)})
	})
}

// maxWord bounds a word of a client in an event, in bytes.
const maxWord = 128

func clip(word string) string { return prefix(word, maxWord) }

// AddTrace adds a step to the completion trace. While the trace is projected from the timeline
// nothing is kept. It returns the trace as it is then.
func (cs *Conversations) AddTrace(threadID string,
	e conversation.TraceEntry) (list []conversation.TraceEntry, derived bool, err error) {
	e = conversation.NormalTrace(e)
	return list, derived, cs.update(threadID, func(c *change) error {
		if _, derived, err = trace(c, c.head); err != nil {
			return err
		}
		if !derived {
			it, err := traces.add(c, e)
			if err != nil {
				return err
			}
			if err := c.emit(TraceAdded, thread.Detail{Version: it.Seq, To: clip(e.Stage)}); err != nil {
				return err
			}
		}
		list, derived, err = trace(c, c.head)
		return err
	})
}

// PutLedger replaces the ledger, and returns it as it is kept.
func (cs *Conversations) PutLedger(threadID string, l conversation.Ledger) (conversation.Ledger, error) {
	l = conversation.NormalLedger(l)
	return l, cs.update(threadID, func(c *change) error {
		if err := c.putPart("the ledger", partLedger, l); err != nil {
			return err
		}
		return c.emit(LedgerReplaced, thread.Detail{})
	})
}

// AddPrompt adds a prompt to the history. added is false when it repeats the newest; then p is the
// newest.
func (cs *Conversations) AddPrompt(threadID string,
	given conversation.Prompt) (p Item[conversation.Prompt], added bool, err error) {
	given, ok := conversation.NormalPrompt(given)
	if !ok {
		return p, false, fmt.Errorf("%w: the prompt has no content", conversation.ErrInvalid)
	}
	return p, added, cs.update(threadID, func(c *change) error {
		last, err := prompts.page(c, c.head, Page{Limit: 1, Newest: true})
		if err != nil {
			return err
		}
		if len(last) == 1 && conversation.Repeats(given, last[0].Value) {
			p = last[0]
			return nil
		}
		if p, err = prompts.add(c, given); err != nil {
			return err
		}
		added = true
		return c.emit(PromptAdded, thread.Detail{Version: p.Seq, To: clip(given.WorkflowMode)})
	})
}

// AddTurn adds the summary of a turn. usage is its usage in JSON, see CheckUsage; the turn's
// Seq, At, Usage, CumulativeUsage and SessionID, and its workflow mode when it has none, are filled
// in here.
func (cs *Conversations) AddTurn(threadID string, t conversation.Turn,
	usage json.RawMessage) (conversation.Turn, error) {
	if t.ToolCalls < 0 || t.Iterations < 0 {
		return t, fmt.Errorf("%w: tool_calls %d, iterations %d; both are 0 or more", conversation.ErrInvalid,
			t.ToolCalls, t.Iterations)
	}
	if err := conversation.CheckUsage(usage); err != nil {
		return t, err
	}
	return t, cs.update(threadID, func(c *change) error {
		if t.WorkflowMode == "" {
			s, err := stateOf(c, c.head)
			if err != nil {
				return err
			}
			t.WorkflowMode = s.WorkflowMode
		}
		t.Usage = conversation.OfTurn(usage, t.ToolCalls, t.Iterations)
		t.CumulativeUsage = conversation.Sum(c.head.Usage, t.Usage)
		t.Seq, t.CreatedAt, t.SessionID = c.head.Turns+1, stamp(c.now), c.head.SessionID
		if _, err := turns.add(c, t); err != nil {
			return err
		}
		c.head.Usage = t.CumulativeUsage
		return c.emit(TurnAdded, thread.Detail{Version: t.Seq})
	})
}
