package store

import (
	"encoding/json"
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// item is the next of a list of the conversation, of which there are n.
func item[T any](c *change, what string, n *int64, v T, most int) (Item[T], error) {
	if *n >= conversation.MaxItems {
		return Item[T]{}, fmt.Errorf("%w: record %s has %d of %s, which is the most; clear the thread",
			conversation.ErrTooMany, c.head.SessionID, *n, what)
	}
	if err := checkJSON(what, v, most); err != nil {
		return Item[T]{}, err
	}
	*n++
	c.changed()
	return Item[T]{Seq: *n, At: stamp(c.now), Value: v}, nil
}

// checkJSON refuses a value that has no JSON, such as NaN, and one that is too large.
func checkJSON(what string, v any, most int) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", conversation.ErrInvalid, what, err)
	}
	return checkSize(what, len(b), most)
}

// AddTimeline adds decisions to the timeline, all or none.
func (m *Manager) AddTimeline(threadID string,
	list []conversation.Entry) (added []Item[conversation.Entry], err error) {
	if err := checkCount("timeline entries in one call", len(list), conversation.MaxAppend); err != nil {
		return nil, err
	}
	return added, m.update(threadID, func(c *change) error {
		added = make([]Item[conversation.Entry], 0, len(list))
		for _, e := range list {
			it, err := item(c, "timeline entries", &c.head.Timeline, e, conversation.MaxItemBytes)
			if err != nil {
				return err
			}
			if err := c.AddEntry(c.head.SessionID, it); err != nil {
				return err
			}
			added = append(added, it)
			if err := c.emit(TimelineAdded,
				thread.Detail{Version: it.Seq, To: clip(e.Kind), Reason: clip(e.ReasonCode)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxWord bounds a word of a client in an event, in bytes.
const maxWord = 128

func clip(word string) string { return prefix(word, maxWord) }

// AddTrace adds a step to the completion trace. While the trace is projected from the timeline
// nothing is kept. It returns the trace as it is then.
func (m *Manager) AddTrace(threadID string,
	e conversation.TraceEntry) (list []conversation.TraceEntry, derived bool, err error) {
	e = conversation.NormalTrace(e)
	return list, derived, m.update(threadID, func(c *change) error {
		if _, derived, err = trace(c, c.head); err != nil {
			return err
		}
		if !derived {
			it, err := item(c, "trace entries", &c.head.Traces, e, conversation.MaxItemBytes)
			if err != nil {
				return err
			}
			if err := c.Tx.AddTrace(c.head.SessionID, it); err != nil {
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
func (m *Manager) PutLedger(threadID string, l conversation.Ledger) (conversation.Ledger, error) {
	l = conversation.NormalLedger(l)
	if err := checkJSON("the ledger", l, conversation.MaxItemBytes); err != nil {
		return l, err
	}
	return l, m.update(threadID, func(c *change) error {
		c.changed()
		if err := c.PutLedger(c.head.SessionID, l); err != nil {
			return err
		}
		return c.emit(LedgerReplaced, thread.Detail{})
	})
}

// AddPrompt adds a prompt to the history. added is false when it repeats the newest; then p is the
// newest.
func (m *Manager) AddPrompt(threadID string,
	given conversation.Prompt) (p Item[conversation.Prompt], added bool, err error) {
	given, ok := conversation.NormalPrompt(given)
	if !ok {
		return p, false, fmt.Errorf("%w: the prompt has no content", conversation.ErrInvalid)
	}
	return p, added, m.update(threadID, func(c *change) error {
		last, err := c.Prompts(c.head.SessionID, Page{Limit: 1, Newest: true})
		if err != nil {
			return err
		}
		if len(last) == 1 && conversation.Repeats(given, last[0].Value) {
			p = last[0]
			return nil
		}
		if p, err = item(c, "prompts", &c.head.Prompts, given, conversation.MaxItemBytes); err != nil {
			return err
		}
		added = true
		if err := c.Tx.AddPrompt(c.head.SessionID, p); err != nil {
			return err
		}
		return c.emit(PromptAdded, thread.Detail{Version: p.Seq, To: clip(given.WorkflowMode)})
	})
}

// AddTurn adds the summary of a turn. usage is its usage in JSON, see CheckUsage; the turn's
// Seq, At, Usage, CumulativeUsage and SessionID, and its workflow mode when it has none, are filled
// in here.
func (m *Manager) AddTurn(threadID string, t conversation.Turn, usage json.RawMessage) (conversation.Turn, error) {
	if t.ToolCalls < 0 || t.Iterations < 0 {
		return t, fmt.Errorf("%w: tool_calls %d, iterations %d; both are 0 or more", conversation.ErrInvalid,
			t.ToolCalls, t.Iterations)
	}
	if err := conversation.CheckUsage(usage); err != nil {
		return t, err
	}
	return t, m.update(threadID, func(c *change) error {
		if t.WorkflowMode == "" {
			s, err := c.ConversationState(c.head.SessionID)
			if err != nil {
				return err
			}
			t.WorkflowMode = s.WorkflowMode
		}
		t.Usage = conversation.OfTurn(usage, t.ToolCalls, t.Iterations)
		t.CumulativeUsage = conversation.Sum(c.head.Usage, t.Usage)
		t.Seq, t.CreatedAt, t.SessionID = c.head.Turns+1, stamp(c.now), c.head.SessionID
		it, err := item(c, "turns", &c.head.Turns, t, conversation.MaxTurnBytes)
		if err != nil {
			return err
		}
		c.head.Usage = t.CumulativeUsage
		if err := c.Tx.AddTurn(c.head.SessionID, it); err != nil {
			return err
		}
		return c.emit(TurnAdded, thread.Detail{Version: it.Seq})
	})
}
