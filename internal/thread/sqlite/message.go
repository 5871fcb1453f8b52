package sqlite

import (
	"fmt"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

func (r messageRows) AddMessage(id string, k conversation.Kept) (int, error) {
	what := fmt.Sprintf("message %d of record %s", k.Seq, id)
	text, err := checkedJSON(k.Message)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return len(text), r.put(what,
		`INSERT INTO messages (record_id, seq, role, message_json, bytes, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		id, k.Seq, k.Role, text, len(text), k.At)
}

func (r messageRows) Messages(id string, q store.Range) ([]conversation.Kept, error) {
	order, limit := "ASC", -1
	if q.Newest {
		order = "DESC"
	}
	if q.Limit > 0 {
		limit = q.Limit
	}
	list, err := some(
		r.table,
		q.Bytes,
		"messages of record "+id,
		func(s scanner) (k conversation.Kept, n int, err error) {
			return k, n, s.Scan(&k.Seq, fromJSON{&k.Message}, &n, &k.At)
		},
		`SELECT seq, message_json, bytes,
		created_at FROM messages WHERE record_id = ? AND seq > ? AND seq <= ? ORDER BY seq `+order+`
		LIMIT ?`,
		id,
		q.From,
		q.To,
		limit,
	)
	if q.Newest {
		slices.Reverse(list)
	}
	return list, err
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

func (r messageRows) AddCompaction(id string, a conversation.Archive) error {
	what := fmt.Sprintf("compaction %d of record %s", a.Count, id)
	message, err := checkedJSON(a.Message)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return r.put(what,
		`INSERT INTO compactions (record_id, seq, up_to, message_json, compaction_json, created_at) VALUES (?, ?, ?,
		?, ?, ?)`,
		id, a.Count, a.UpTo, message, asJSON(a.Compaction), a.CreatedAt)
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
	order := "ASC"
	if p.Newest {
		order = "DESC"
	}
	list, err := some(r.table, bytes, "compactions of record "+id, scanCompaction,
		`SELECT `+compactionColumns+` FROM compactions WHERE record_id = ? AND seq > ? ORDER BY seq `+order+
			` LIMIT ?`, id, p.After, page(p.Limit))
	if p.Newest {
		slices.Reverse(list)
	}
	return list, err
}
