package sqlite

import (
	"fmt"
	"slices"

	"github.com/evertty/evertty/record"
)

// The lists of a record have tables of one form. A table's name is never from outside.
const (
	tableTimeline = "timeline"
	tableTraces   = "traces"
	tablePrompts  = "prompts"
	tableTurns    = "turns"
	tableMail     = "mailbox"
)

func addItem[T any](r *rows, table, id string, it record.Item[T]) error {
	what := fmt.Sprintf("%s of record %s: %d", table, id, it.Seq)
	text, err := checkedJSON(it.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return r.put(what, `INSERT INTO `+table+` (record_id, seq, json, created_at) VALUES (?, ?, ?, ?)`, id, it.Seq, text, it.At)
}

func items[T any](r *rows, table, id string, p record.Page) ([]record.Item[T], error) {
	order := "ASC"
	if p.Newest {
		order = "DESC"
	}
	list, err := some(r, record.MaxPageBytes, table+" of record "+id, func(s scanner) (it record.Item[T], n int, err error) {
		err = s.Scan(&it.Seq, counted{&it.Value, &n}, &it.At)
		return it, n, err
	}, `SELECT seq, json, created_at FROM `+table+` WHERE record_id = ? AND seq > ? ORDER BY seq `+order+` LIMIT ?`, id, p.After, page(p.Limit))
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

func (r *rows) AddEntry(id string, e record.Item[record.Entry]) error {
	return addItem(r, tableTimeline, id, e)
}

func (r *rows) Entries(id string, p record.Page) ([]record.Item[record.Entry], error) {
	return items[record.Entry](r, tableTimeline, id, p)
}

func (r *rows) AddTrace(id string, e record.Item[record.TraceEntry]) error {
	return addItem(r, tableTraces, id, e)
}

func (r *rows) Traces(id string, p record.Page) ([]record.Item[record.TraceEntry], error) {
	return items[record.TraceEntry](r, tableTraces, id, p)
}

func (r *rows) AddPrompt(id string, p record.Item[record.Prompt]) error {
	return addItem(r, tablePrompts, id, p)
}

func (r *rows) Prompts(id string, p record.Page) ([]record.Item[record.Prompt], error) {
	return items[record.Prompt](r, tablePrompts, id, p)
}

func (r *rows) AddTurn(id string, t record.Item[record.Turn]) error {
	return addItem(r, tableTurns, id, t)
}

func (r *rows) Turns(id string, p record.Page) ([]record.Item[record.Turn], error) {
	return items[record.Turn](r, tableTurns, id, p)
}

func (r *rows) AddMail(id string, m record.Item[string]) error {
	return addItem(r, tableMail, id, m)
}

func (r *rows) Mail(id string) ([]record.Item[string], error) {
	return all(r, "mailbox of record "+id, func(s scanner) (m record.Item[string], err error) {
		return m, s.Scan(&m.Seq, fromJSON{&m.Value}, &m.At)
	}, `SELECT seq, json, created_at FROM mailbox WHERE record_id = ? AND drained_at IS NULL ORDER BY seq`, id)
}

func (r *rows) TakeMail(id, at string) ([]record.Item[string], error) {
	list, err := r.Mail(id)
	if err != nil || len(list) == 0 {
		return list, err
	}
	return list, r.put("mailbox of record "+id, `UPDATE mailbox SET drained_at = ? WHERE record_id = ? AND drained_at IS NULL`, at, id)
}
