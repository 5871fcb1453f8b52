package sqlite

import (
	"fmt"
	"math/rand/v2"

	"github.com/evertty/evertty/internal/thread"
)

// How much is kept of what only ever grows. Every trimStep rows it is looked at.
const (
	maxEvents   = 10000 // of a thread
	maxCommands = 10000 // of a terminal, that have ended
	maxBook     = 10000 // events of a lease; of all providers
	trimStep    = 256
)

// trims reports whether rows of one owner are to be looked at now, in a table whose numbers others
// share: once in trimStep times, by chance. By the number, who gets every second one, because two
// write by turns, would never be looked at.
func trims() bool { return rand.N(trimStep) == 0 }

const threadColumns = `id, provider, lease_id, policy_json, policy_chosen, default_terminal_id, active_terminal_id,
		created_at, updated_at`

var putThread = upsert("threads", threadColumns, "created_at") // AddEvent writes event_seq

func scanThread(s scanner) (t thread.Thread, err error) {
	return t, s.Scan(&t.ID, &t.Provider, maybe{&t.Lease}, fromJSON{&t.Policy}, &t.Chosen, maybe{&t.Default},
		maybe{&t.Active}, when{&t.CreatedAt}, when{&t.UpdatedAt}, &t.Events)
}

func (r threadRows) Thread(id string) (thread.Thread, error) {
	return one(r.table, "thread "+id, scanThread, `SELECT `+threadColumns+`, event_seq FROM threads WHERE id = ?`, id)
}

// ThreadProvider is the provider of a thread's lease, or of the thread that has none.
func (r threadRows) ThreadProvider(id string) (string, error) {
	return one(r.table, "thread "+id, text, `SELECT coalesce(l.provider, t.provider) FROM threads t
		LEFT JOIN leases l ON l.id = t.lease_id WHERE t.id = ?`, id)
}

// Threads returns the threads whose ids begin so, by id, behind the one after.
func (r threadRows) Threads(prefix, after string, limit int) ([]thread.Thread, error) {
	return all(r.table, "threads", scanThread,
		`SELECT `+threadColumns+`, event_seq FROM threads WHERE id > ?1 AND id >= ?2
			AND substr(id, 1, length(?2)) = ?2 ORDER BY id LIMIT ?3`, after, prefix, page(limit))
}

func (r threadRows) PutThread(t thread.Thread) {
	r.put("thread "+t.ID, putThread, t.ID, t.Provider, orNull(t.Lease), asJSON(t.Policy), t.Chosen, orNull(t.Default),
		orNull(t.Active), at(t.CreatedAt), at(t.UpdatedAt))
}

func (r threadRows) DeleteThread(id string) {
	r.erased(eraseNow)
	r.change("thread "+id, `DELETE FROM threads WHERE id = ?`, id)
}

// DropHistory deletes at most limit commands and as many events of a thread; more says that there
// are others.
func (r threadRows) DropHistory(thread string, limit int) (more bool) {
	what := "history of thread " + thread
	commands := r.put(what, `DELETE FROM commands WHERE seq IN (SELECT c.seq FROM terminals t
		JOIN commands c ON c.terminal_id = t.id WHERE t.thread_id = ?1 LIMIT ?2)`, thread, limit)
	events := r.put(what, `DELETE FROM events WHERE thread_id = ?1
		AND seq IN (SELECT seq FROM events WHERE thread_id = ?1 ORDER BY seq LIMIT ?2)`, thread, limit)
	return max(commands, events) == int64(limit)
}

func (r threadRows) AddEvent(e thread.Event) int64 {
	seq := r.insert("thread "+e.ThreadID,
		`UPDATE threads SET event_seq = event_seq + 1 WHERE id = ? RETURNING event_seq`, e.ThreadID)
	what := fmt.Sprintf("event %d of thread %s", seq, e.ThreadID)
	r.put(what, `INSERT INTO events (thread_id, seq, type, at, data_json) VALUES (?, ?, ?, ?, ?)`, e.ThreadID, seq,
		e.Type, at(e.At), asJSON(e.Data))
	if seq%trimStep == 0 {
		r.put(what, `DELETE FROM events WHERE thread_id = ? AND seq <= ?`, e.ThreadID, seq-maxEvents)
	}
	return seq
}

func number(s scanner) (n int64, err error) { return n, s.Scan(&n) }

func (r threadRows) Events(threadID string, after int64, limit int) ([]thread.Event, error) {
	return all(r.table, "events of thread "+threadID, func(s scanner) (e thread.Event, err error) {
		return e, s.Scan(&e.ThreadID, &e.Seq, &e.Type, when{&e.At}, fromJSON{&e.Data})
	}, `SELECT thread_id, seq, type, at, data_json FROM events WHERE thread_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
		threadID, after, page(limit))
}
