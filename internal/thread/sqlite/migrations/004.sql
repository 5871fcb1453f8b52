-- What may be done with the terminals of a thread. A thread of which nobody has said it has no row.
CREATE TABLE permissions (
  thread_id  TEXT PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
  mode       TEXT NOT NULL CHECK (mode IN ('read-only', 'workspace-write', 'danger-full-access', 'prompt', 'allow')),
  rules_json TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;

-- Calls that somebody was asked about. call_key is the same for identical calls.
CREATE TABLE approvals (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  id             TEXT NOT NULL UNIQUE,
  thread_id      TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  tool           TEXT NOT NULL,
  arguments_json TEXT NOT NULL,
  call_key       TEXT NOT NULL,
  reason         TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'used')),
  created_at     TEXT NOT NULL,
  decided_at     TEXT,
  used_at        TEXT
);
CREATE INDEX approvals_thread ON approvals (thread_id, seq);
CREATE INDEX approvals_call ON approvals (thread_id, call_key, seq);
CREATE INDEX approvals_pending ON approvals (thread_id, created_at) WHERE status = 'pending';
