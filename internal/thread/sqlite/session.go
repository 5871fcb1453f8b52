package sqlite

import (
	"math"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

const sessionColumns = `id, thread_id, status, idle_seconds, max_seconds, budget_json, used_cpu_seconds,
		used_commands, used_bytes, started_at, last_active_at, warned_for, ended_at, close_reason`

var putSession = upsert("sessions", sessionColumns, "thread_id")

// seconds scans a length of time.
type seconds struct{ to *time.Duration }

// Scan implements sql.Scanner.
func (s seconds) Scan(v any) error {
	switch v := v.(type) {
	case float64:
		*s.to = time.Duration(math.Round(v*1e6)) * time.Microsecond
	case int64:
		*s.to = time.Duration(v) * time.Second
	}
	return nil
}

func scanSession(s scanner) (w thread.Session, err error) {
	return w, s.Scan(&w.ID, &w.Thread, &w.Status, seconds{&w.Policy.Idle}, seconds{&w.Policy.Max},
		fromJSON{&w.Policy.Budget}, &w.Used.CPUSeconds, &w.Used.Commands, &w.Used.Bytes, when{&w.StartedAt},
		when{&w.LastActiveAt}, when{&w.WarnedFor}, when{&w.EndedAt}, &w.CloseReason)
}

func (r sessionRows) LastSession(thread string) (thread.Session, error) {
	// A live one is always the newest: it is closed before there is another.
	return one(r.table, "session of thread "+thread, scanSession,
		`SELECT `+sessionColumns+` FROM sessions WHERE thread_id = ? ORDER BY seq DESC LIMIT 1`, thread)
}

func (r sessionRows) Sessions(threadID string) ([]thread.Session, error) {
	return all(r.table, "sessions of thread "+threadID, scanSession, `SELECT `+sessionColumns+` FROM sessions
		WHERE thread_id = ? ORDER BY seq DESC LIMIT ?`, threadID, thread.MaxPage)
}

func (r sessionRows) LiveSessions() ([]thread.Session, error) {
	return all(r.table, "live sessions", scanSession,
		`SELECT `+sessionColumns+` FROM sessions WHERE status IN ('active', 'idle', 'paused')`)
}

func (r sessionRows) PutSession(w thread.Session) {
	r.put("session "+w.ID, putSession, w.ID, w.Thread, w.Status, w.Policy.Idle.Seconds(), w.Policy.Max.Seconds(),
		asJSON(w.Policy.Budget), w.Used.CPUSeconds, w.Used.Commands, w.Used.Bytes, at(w.StartedAt), at(w.LastActiveAt),
		at(w.WarnedFor), at(w.EndedAt), w.CloseReason)
}

func (r sessionRows) Pulse(id string, active time.Time, used thread.Usage) {
	r.put("session "+id, `UPDATE sessions SET last_active_at = max(last_active_at, ?),
		used_cpu_seconds = max(used_cpu_seconds, ?), used_commands = max(used_commands, ?),
		used_bytes = max(used_bytes, ?) WHERE id = ? AND status IN ('active', 'idle', 'paused')`,
		at(active), used.CPUSeconds, used.Commands, used.Bytes, id)
}
