package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// recordTables are those whose rows are a conversation's, by the database itself.
func recordTables(t *testing.T, s *Store) (tables []string) {
	t.Helper()
	rows, err := s.writer.QueryContext(context.Background(),
		`SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'record_id' WHERE m.type = `+
			`'table' ORDER BY m.name`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	must(t, rows.Err())
	return tables
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	must(t, s.writer.QueryRowContext(context.Background(), `SELECT count(*) FROM `+table).Scan(&n))
	return n
}

// fillRecord makes a conversation with some rows in every table.
func fillRecord(tx store.Tx, thread, id string, messages int) error {
	h := conversation.Head{RecordHead: wire.RecordHead{SessionID: id, ThreadID: thread, Current: true, CreatedAt: "c",
		UpdatedAt: "u"}}
	tx.PutConversation(h)
	tx.PutPart(id, "state", []byte("{}"))
	tx.AddCompaction(id, conversation.Archive{Compaction: conversation.Compaction{Count: 1}})
	for _, l := range []store.List{"timeline", "traces", "prompts", "turns", "mailbox"} {
		tx.AddItem(l, id, store.Item[json.RawMessage]{Seq: 1, Value: json.RawMessage("{}")})
	}
	for n := range messages {
		tx.AddMessage(id, conversation.Kept{Seq: int64(n + 1),
			Message: conversation.Message{Role: conversation.RoleUser, Content: fmt.Sprint(n)}})
	}
	return tx.Err()
}

// TestRecordsOfDeletedThreads: they are found no more, and their rows go in steps, from every
// table, also by the next server; those of others stay.
func TestRecordsOfDeletedThreads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "evertty.db")
	s := open(t, path)
	must(t, s.Update(func(tx *Tx) error {
		if err := put(tx, "gone"); err != nil {
			return err
		}
		return put(tx, "stays")
	}))
	const messages = 25
	must(t, s.Conversations().Update(func(tx store.Tx) error {
		if err := fillRecord(tx, "gone", "r1", messages); err != nil {
			return err
		}
		return fillRecord(tx, "stays", "r2", messages)
	}))
	tables := recordTables(t, s)
	if len(tables) < 8 {
		t.Errorf("tables of records: %v", tables)
	}
	before := map[string]int{}
	for _, table := range tables {
		if before[table] = count(t, s, table); before[table] < 2 {
			t.Errorf("nothing is tested of %s", table)
		}
	}
	must(t, s.Update(func(tx *Tx) error { tx.DeleteThread("gone"); return nil }))
	must(t, s.Conversations().View(func(tx store.Tx) error {
		_, err := tx.Conversation("r1")
		want(t, err, thread.ErrNotFound)
		_, err = tx.CurrentConversation("gone")
		want(t, err, thread.ErrNotFound)
		list, err := tx.AllConversations("", 0)
		if len(list) != 1 || list[0].SessionID != "r2" {
			t.Errorf("%+v", list)
		}
		return err
	}))
	must(t, s.Close())
	s = open(t, path)
	steps := 0
	var gone []string
	must(t, s.Conversations().View(func(tx store.Tx) (err error) {
		gone, err = tx.DeletedConversations("", 0)
		return err
	}))
	for _, ids := range [][]string{nil, gone} { // whose files nobody has removed yet, then those
		for more := true; more; steps++ {
			must(t, s.Conversations().Update(func(tx store.Tx) error {
				more = tx.PurgeConversations(ids, 10)
				return nil
			}))
		}
		if n := count(t, s, "records"); n != 1+len(gone)-len(ids) {
			t.Errorf("%d records behind a purge of %v", n, ids)
		}
	}
	if steps < messages/10 {
		t.Errorf("%d steps of 10 rows for %d messages", steps, messages)
	}
	for _, table := range tables {
		if n := count(t, s, table); n != before[table]/2 {
			t.Errorf("%s had %d rows, has %d", table, before[table], n)
		}
	}
}

// TestTheIdOfADeletedRecord is taken until its rows are gone: what is written under it would go
// with them.
func TestTheIdOfADeletedRecord(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error {
		if err := put(tx, "gone"); err != nil {
			return err
		}
		return put(tx, "stays")
	}))
	must(t, s.Conversations().Update(func(tx store.Tx) error { return fillRecord(tx, "gone", "r", 1) }))
	again := func() error {
		return s.Conversations().Update(func(tx store.Tx) error { return fillRecord(tx, "stays", "r", 2) })
	}
	want(t, again(), thread.ErrConflict) // of another thread
	must(t, s.Update(func(tx *Tx) error { tx.DeleteThread("gone"); return nil }))
	want(t, again(), thread.ErrConflict)
	for more := true; more; {
		must(t, s.Conversations().Update(func(tx store.Tx) error {
			more = tx.PurgeConversations([]string{"r"}, 1)
			return nil
		}))
	}
	must(t, again())
	must(t, s.Conversations().View(func(tx store.Tx) error {
		h, err := tx.CurrentConversation("stays")
		if h.SessionID != "r" {
			t.Errorf("%+v", h)
		}
		return err
	}))
}

// TestPagesOfLargeCompactions: a page of them has an end in bytes too, and leaves nothing out.
func TestPagesOfLargeCompactions(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t") }))
	const n = 3
	summary := strings.Repeat("x", 1000)
	must(t, s.Conversations().Update(func(tx store.Tx) error {
		head := wire.RecordHead{SessionID: "r", ThreadID: "t", Current: true}
		tx.PutConversation(conversation.Head{RecordHead: head})
		for i := range int64(n) {
			tx.AddCompaction("r", conversation.Archive{UpTo: i + 1,
				Compaction: conversation.Compaction{Count: i + 1, Summary: summary}})
		}
		return nil
	}))
	must(t, s.view(func(one *table) error {
		tx := messageRows{one}
		for after := int64(0); after < n; after++ {
			page, err := tx.compactions("r", store.Page{After: after}, len(summary)*3/2)
			if err != nil || len(page) != 1 || page[0].Count != after+1 || len(page[0].Summary) != len(summary) {
				t.Fatalf("%d compactions behind %d (%v)", len(page), after, err)
			}
		}
		last, err := tx.LastCompaction("r")
		if last.Count != n {
			t.Errorf("the last is %d", last.Count)
		}
		return err
	}))
}

// TestAnAppendReadsLittle: what an append and a page ask for is found by an index, however many
// messages there are.
func TestAnAppendReadsLittle(t *testing.T) {
	s := fresh(t)
	for _, query := range []string{
		`SELECT ` + recordColumns + ` FROM records WHERE thread_id = 't' AND current`,
		`SELECT ` + recordColumns +
			` FROM records WHERE current AND thread_id IS NOT NULL ORDER BY updated_at DESC LIMIT 1`,
		`SELECT seq FROM messages WHERE record_id = 'r' AND seq > 5 AND seq <= 9 ORDER BY seq DESC LIMIT 3`,
		`SELECT seq FROM timeline WHERE record_id = 'r' AND seq > 5 ORDER BY seq DESC LIMIT 3`,
		`SELECT t.rowid FROM records r JOIN messages t ON t.record_id = r.id WHERE r.thread_id IS NULL LIMIT 10`,
	} {
		rows, err := s.writer.QueryContext(context.Background(), `EXPLAIN QUERY PLAN `+query)
		must(t, err)
		for rows.Next() {
			var id, parent, unused int
			var detail string
			must(t, rows.Scan(&id, &parent, &unused, &detail))
			if strings.Contains(detail, "TEMP B-TREE") || strings.HasPrefix(detail, "SCAN") &&
				!strings.Contains(detail, "records_latest") {
				t.Errorf("%s: %s", query, detail)
			}
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
}
