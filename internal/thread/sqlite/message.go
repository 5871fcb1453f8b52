package sqlite

import (
	"fmt"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

func (r messageRows) AddMessage(id string, k conversation.Kept) int {
	what := fmt.Sprintf("message %d of record %s", k.Seq, id)
	text := r.json(what, k.Message)
	r.put(what,
		`INSERT INTO messages (record_id, seq, role, message_json, bytes, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		id, k.Seq, k.Role, text, len(text), k.At)
	return len(text)
}

func (r messageRows) Messages(id string, q store.Range) ([]conversation.Kept, error) {
	limit := noLimit
	if q.Limit > 0 {
		limit = q.Limit
	}
	list, err := some(r.table, q.Bytes, "messages of record "+id,
		func(s scanner) (k conversation.Kept, n int, err error) {
			return k, n, s.Scan(&k.Seq, fromJSON{&k.Message}, &n, &k.At)
		}, `SELECT seq, message_json, bytes, created_at FROM messages WHERE record_id = ? AND seq > ? AND seq <= ?
		ORDER BY seq `+order(q.Newest)+` LIMIT ?`, id, q.From, q.To, limit)
	return inOrder(list, q.Newest), err
}

// order is the order in which a list is read, of which the newest rows may be wanted; inOrder is
// the list in the order of its numbers again.
func order(newest bool) string {
	if newest {
		return "DESC"
	}
	return "ASC"
}

func inOrder[T any](list []T, newest bool) []T {
	if newest {
		slices.Reverse(list)
	}
	return list
}

func (r messageRows) MessageBytes(id string, from, to int64) (int64, error) {
	return one(r.table, "messages of record "+id, number,
		`SELECT coalesce(sum(bytes), 0) FROM messages WHERE record_id = ? AND seq > ? AND seq <= ?`, id, from, to)
}

const compactionColumns = `created_at, up_to, message_json, compaction_json`

// scanCompaction also says how many bytes of JSON it has.
func scanCompaction(s scanner) (a conversation.Archive, bytes int, err error) {
	var message, numbers int
	err = s.Scan(&a.CreatedAt, &a.UpTo, counted{&a.Message, &message}, counted{&a.Compaction, &numbers})
	return a, message + numbers, err
}

func (r messageRows) AddCompaction(id string, a conversation.Archive) {
	what := fmt.Sprintf("compaction %d of record %s", a.Count, id)
	r.put(what, `INSERT INTO compactions (record_id, seq, up_to, message_json, compaction_json, created_at)
		VALUES (?, ?, ?, ?, ?, ?)`, id, a.Count, a.UpTo, r.json(what, a.Message), asJSON(a.Compaction), a.CreatedAt)
}

func (r messageRows) LastCompaction(id string) (conversation.Archive, error) {
	return one(r.table, "compaction of record "+id, func(s scanner) (conversation.Archive, error) {
		a, _, err := scanCompaction(s)
		return a, err
	}, `SELECT `+compactionColumns+` FROM compactions WHERE record_id = ? ORDER BY seq DESC LIMIT 1`, id)
}

func (r messageRows) Compactions(id string, p store.Page) ([]conversation.Archive, error) {
	return r.compactions(id, p, conversation.MaxPageBytes)
}

func (r messageRows) compactions(id string, p store.Page, bytes int) ([]conversation.Archive, error) {
	list, err := some(r.table, bytes, "compactions of record "+id, scanCompaction, `SELECT `+compactionColumns+`
		FROM compactions WHERE record_id = ? AND seq > ? ORDER BY seq `+order(p.Newest)+` LIMIT ?`,
		id, p.After, page(p.Limit))
	return inOrder(list, p.Newest), err
}
