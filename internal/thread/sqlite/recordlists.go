package sqlite

import (
	"fmt"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

// The lists of a conversation have tables of one form. A table's name is never from outside.
const (
	tableTimeline = "timeline"
	tableTraces   = "traces"
	tablePrompts  = "prompts"
	tableTurns    = "turns"
	tableMail     = "mailbox"
)

func addItem[T any](r *table, name, id string, it store.Item[T]) error {
	what := fmt.Sprintf("%s of record %s: %d", name, id, it.Seq)
	text, err := checkedJSON(it.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return r.put(what, `INSERT INTO `+name+` (record_id, seq, json, created_at) VALUES (?, ?, ?, ?)`, id, it.Seq, text,
		it.At)
}

func items[T any](r *table, name, id string, p store.Page) ([]store.Item[T], error) {
	order := "ASC"
	if p.Newest {
		order = "DESC"
	}
	list, err := some(r, conversation.MaxPageBytes, name+" of record "+id,
		func(s scanner) (it store.Item[T], n int, err error) {
			err = s.Scan(&it.Seq, counted{&it.Value, &n}, &it.At)
			return it, n, err
		}, `SELECT seq, json, created_at FROM `+name+` WHERE record_id = ? AND seq > ? ORDER BY seq `+order+
			` LIMIT ?`, id, p.After, page(p.Limit))
	if p.Newest {
		slices.Reverse(list)
	}
	return list, err
}

// counted scans JSON text and says how long it is.
type counted struct {
	to any
	n  *int
}

// Scan implements sql.Scanner.
func (c counted) Scan(v any) error {
	if text, ok := v.(string); ok {
		*c.n = len(text)
	}
	return fromJSON{c.to}.Scan(v)
}

func (r listRows) AddEntry(id string, e store.Item[conversation.Entry]) error {
	return addItem(r.table, tableTimeline, id, e)
}

func (r listRows) Entries(id string, p store.Page) ([]store.Item[conversation.Entry], error) {
	return items[conversation.Entry](r.table, tableTimeline, id, p)
}

func (r listRows) AddTrace(id string, e store.Item[conversation.TraceEntry]) error {
	return addItem(r.table, tableTraces, id, e)
}

func (r listRows) Traces(id string, p store.Page) ([]store.Item[conversation.TraceEntry], error) {
	return items[conversation.TraceEntry](r.table, tableTraces, id, p)
}

func (r listRows) AddPrompt(id string, p store.Item[conversation.Prompt]) error {
	return addItem(r.table, tablePrompts, id, p)
}

func (r listRows) Prompts(id string, p store.Page) ([]store.Item[conversation.Prompt], error) {
	return items[conversation.Prompt](r.table, tablePrompts, id, p)
}

func (r listRows) AddTurn(id string, t store.Item[conversation.Turn]) error {
	return addItem(r.table, tableTurns, id, t)
}

func (r listRows) Turns(id string, p store.Page) ([]store.Item[conversation.Turn], error) {
	return items[conversation.Turn](r.table, tableTurns, id, p)
}

func (r listRows) AddInbox(id string, m store.Item[string]) error {
	return addItem(r.table, tableMail, id, m)
}

func (r listRows) Inbox(id string) ([]store.Item[string], error) {
	return all(r.table, "mailbox of record "+id, func(s scanner) (m store.Item[string], err error) {
		return m, s.Scan(&m.Seq, fromJSON{&m.Value}, &m.At)
	}, `SELECT seq, json, created_at FROM mailbox WHERE record_id = ? AND drained_at IS NULL ORDER BY seq`, id)
}

func (r listRows) TakeInbox(id, at string) ([]store.Item[string], error) {
	list, err := r.Inbox(id)
	if err != nil || len(list) == 0 {
		return list, err
	}
	return list, r.put("mailbox of record "+id,
		`UPDATE mailbox SET drained_at = ? WHERE record_id = ? AND drained_at IS NULL`, at, id)
}
