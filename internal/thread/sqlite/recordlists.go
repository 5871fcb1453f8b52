package sqlite

import (
	"encoding/json"
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

// AddItem adds to a list of a conversation. The lists have tables of one form, by their names.
func (r listRows) AddItem(l store.List, id string, it store.Item[json.RawMessage]) {
	r.put(fmt.Sprintf("%s of record %s: %d", l, id, it.Seq),
		`INSERT INTO `+string(l)+` (record_id, seq, json, created_at) VALUES (?, ?, ?, ?)`,
		id, it.Seq, string(it.Value), it.At)
}

func (r listRows) Items(l store.List, id string, p store.Page) ([]store.Item[json.RawMessage], error) {
	list, err := some(r.table, conversation.MaxPageBytes, string(l)+" of record "+id,
		func(s scanner) (it store.Item[json.RawMessage], n int, err error) {
			err = s.Scan(&it.Seq, (*[]byte)(&it.Value), &it.At)
			return it, len(it.Value), err
		}, `SELECT seq, json, created_at FROM `+string(l)+` WHERE record_id = ? AND seq > ? ORDER BY seq `+
			order(p.Newest)+` LIMIT ?`, id, p.After, page(p.Limit))
	return inOrder(list, p.Newest), err
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

func (r listRows) Inbox(id string) ([]store.Item[string], error) {
	return all(r.table, "mailbox of record "+id, func(s scanner) (m store.Item[string], err error) {
		return m, s.Scan(&m.Seq, fromJSON{&m.Value}, &m.At)
	}, `SELECT seq, json, created_at FROM mailbox WHERE record_id = ? AND drained_at IS NULL ORDER BY seq`, id)
}

func (r listRows) TakeInbox(id, at string) ([]store.Item[string], error) {
	list, err := r.Inbox(id)
	if len(list) > 0 {
		r.put("mailbox of record "+id,
			`UPDATE mailbox SET drained_at = ? WHERE record_id = ? AND drained_at IS NULL`, at, id)
	}
	return list, err
}
