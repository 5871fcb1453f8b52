package sqlite

import (
	"errors"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/thread"
)

// Conversations is the same file as a store.Database.
func (s *Store) Conversations() store.Database { return records{s} }

type records struct{ store *Store }

var _ store.Database = records{}

// View implements store.Database.
func (s records) View(fn func(store.Tx) error) error {
	return s.store.view(func(t *table) error { return fn(newConversationTx(t)) })
}

// Update implements store.Database.
func (s records) Update(fn func(store.Tx) error) error {
	return s.store.update(func(t *table) error { return fn(newConversationTx(t)) })
}

const recordColumns = `id, thread_id, current, created_at, updated_at, messages, archived, bytes, users, timeline,
		traces, prompts, turns, mail, waiting, compactions, usage_json`

func scanConversation(s scanner) (h conversation.Head, err error) {
	return h, s.Scan(&h.SessionID, &h.ThreadID, &h.Current, &h.CreatedAt, &h.UpdatedAt, &h.Messages, &h.Archived,
		&h.Bytes, &h.Users, &h.Timeline, &h.Traces, &h.Prompts, &h.Turns, &h.Inbox, &h.Waiting, &h.Compactions,
		fromJSON{&h.Usage})
}

func (r conversationRows) Conversation(id string) (conversation.Head, error) {
	return one(r.table, "record "+id, scanConversation,
		`SELECT `+recordColumns+` FROM records WHERE id = ? AND thread_id IS NOT NULL`, id)
}

func (r conversationRows) CurrentConversation(thread string) (conversation.Head, error) {
	return one(r.table, "record of thread "+thread, scanConversation,
		`SELECT `+recordColumns+` FROM records WHERE thread_id = ? AND current`, thread)
}

func (r conversationRows) LatestConversation(prefix string) (conversation.Head, error) {
	return one(r.table, "the newest record", scanConversation,
		`SELECT `+recordColumns+` FROM records WHERE current AND thread_id IS NOT NULL
		AND substr(thread_id, 1, length(?1)) = ?1 ORDER BY updated_at DESC LIMIT 1`, prefix)
}

func (r conversationRows) Conversations(thread string) ([]conversation.Head, error) {
	return all(r.table, "records of thread "+thread, scanConversation,
		`SELECT `+recordColumns+` FROM records WHERE thread_id = ? ORDER BY seq DESC LIMIT ?`, thread,
		conversation.MaxConversations)
}

func (r conversationRows) AllConversations(after string, limit int) ([]conversation.Head, error) {
	return all(r.table, "records", scanConversation,
		`SELECT `+recordColumns+` FROM records WHERE id > ? AND thread_id IS NOT NULL ORDER BY id LIMIT ?`, after,
		page(limit))
}

// PutConversation does not change the row of another thread, nor one whose thread was deleted: that
// is ErrConflict until it is purged.
func (r conversationRows) PutConversation(h conversation.Head) {
	n := r.put("record "+h.SessionID, `UPDATE records SET current = ?, updated_at = ?, messages = ?, archived = ?,
		bytes = ?, users = ?, timeline = ?, traces = ?, prompts = ?, turns = ?, mail = ?, waiting = ?, compactions = ?,
		usage_json = ? WHERE id = ? AND thread_id = ?`,
		h.Current, h.UpdatedAt, h.Messages, h.Archived, h.Bytes, h.Users, h.Timeline, h.Traces, h.Prompts, h.Turns,
		h.Inbox, h.Waiting, h.Compactions, asJSON(h.Usage), h.SessionID, h.ThreadID)
	if n > 0 {
		return
	}
	r.put("record "+h.SessionID, `INSERT INTO records (`+recordColumns+`, seq)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM records))`,
		h.SessionID, orNull(h.ThreadID), h.Current, h.CreatedAt, h.UpdatedAt, h.Messages, h.Archived, h.Bytes, h.Users,
		h.Timeline, h.Traces, h.Prompts, h.Turns, h.Inbox, h.Waiting, h.Compactions, asJSON(h.Usage))
}

func (r conversationRows) AdoptConversation(id, thread string) {
	r.change("record "+id,
		`UPDATE records SET thread_id = ?, seq = (SELECT max(seq) + 1 FROM records) WHERE id = ? AND thread_id IS NULL`,
		thread, id)
}

func (r conversationRows) RetireConversation(thread string) {
	r.put("records of thread "+thread, `UPDATE records SET current = 0 WHERE thread_id = ? AND current`, thread)
}

func (r conversationRows) DeletedConversations(after string, limit int) ([]string, error) {
	return all(r.table, "records of deleted threads", text,
		`SELECT id FROM records WHERE thread_id IS NULL AND id > ? ORDER BY id LIMIT ?`, after, page(limit))
}

func (r conversationRows) PurgeConversations(ids []string, limit int) (more bool) {
	const what = "records of deleted threads"
	for _, table := range []string{"messages", "compactions", "timeline", "traces", "prompts", "turns", "mailbox"} {
		n := r.put(what, `DELETE FROM `+table+` WHERE rowid IN (SELECT t.rowid FROM records r JOIN `+table+
			` t ON t.record_id = r.id WHERE r.thread_id IS NULL LIMIT ?)`, limit)
		if n == int64(limit) {
			return true
		}
	}
	for _, id := range ids {
		r.put(what, `DELETE FROM records WHERE thread_id IS NULL AND id = ?`, id)
	}
	if len(ids) > 0 {
		r.erased(eraseNow)
	}
	return false
}

func (r conversationRows) PutPart(id, part string, json []byte) {
	r.put(part+" of record "+id, `INSERT INTO record_parts (record_id, part, json) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET json = excluded.json`, id, part, string(json))
}

func (r conversationRows) Part(id, part string, v any) error {
	_, err := one(r.table, part+" of record "+id,
		func(s scanner) (struct{}, error) { return struct{}{}, s.Scan(fromJSON{v}) },
		`SELECT json FROM record_parts WHERE record_id = ? AND part = ?`, id, part)
	if errors.Is(err, thread.ErrNotFound) {
		return nil
	}
	return err
}
