-- Times are UTC text, all of one length, so that they sort and can be read. JSON is text. Ids are chosen by the server or by clients.

CREATE TABLE leases (
  id            TEXT PRIMARY KEY,
  provider      TEXT NOT NULL,
  made_for      TEXT NOT NULL DEFAULT '', -- the thread; no reference, a lease outlives it
  desired_state TEXT NOT NULL CHECK (desired_state IN ('running', 'paused', 'destroyed')),
  observed_state TEXT NOT NULL CHECK (observed_state IN ('running', 'paused', 'dead', 'unknown')),
  status        TEXT NOT NULL CHECK (status IN ('active', 'recovering', 'expired')),
  instance_id   TEXT REFERENCES instances (id) DEFERRABLE INITIALLY DEFERRED,
  version       INTEGER NOT NULL,
  last_error    TEXT NOT NULL DEFAULT '',
  needs_refresh INTEGER NOT NULL DEFAULT 0,
  observed_at   TEXT,
  config_json   TEXT NOT NULL DEFAULT '',
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL
);
CREATE INDEX leases_instance ON leases (instance_id);
CREATE INDEX leases_provider ON leases (provider, created_at);

CREATE TABLE instances (
  id                  TEXT PRIMARY KEY,
  lease_id            TEXT NOT NULL REFERENCES leases (id) ON DELETE CASCADE,
  provider_session_id TEXT NOT NULL,
  state               TEXT NOT NULL CHECK (state IN ('running', 'paused', 'dead', 'unknown')),
  created_at          TEXT NOT NULL,
  last_seen_at        TEXT NOT NULL,
  ended_at            TEXT
);
CREATE INDEX instances_lease ON instances (lease_id);
CREATE INDEX instances_session ON instances (provider_session_id);

CREATE TABLE lease_events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id    TEXT NOT NULL REFERENCES leases (id) ON DELETE CASCADE,
  type        TEXT NOT NULL,
  source      TEXT NOT NULL,
  from_state  TEXT NOT NULL,
  to_state    TEXT NOT NULL,
  instance_id TEXT NOT NULL DEFAULT '',
  error       TEXT NOT NULL DEFAULT '',
  created_at  TEXT NOT NULL
);
CREATE INDEX lease_events_lease ON lease_events (lease_id, id);

CREATE TABLE provider_events (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  provider     TEXT NOT NULL,
  instance_id  TEXT NOT NULL,
  type         TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  matched_lease_id TEXT NOT NULL DEFAULT '',
  created_at   TEXT NOT NULL
);

CREATE TABLE threads (
  id                  TEXT PRIMARY KEY,
  provider            TEXT NOT NULL,
  lease_id            TEXT REFERENCES leases (id) ON DELETE RESTRICT,
  policy_json         TEXT NOT NULL,
  default_terminal_id TEXT REFERENCES terminals (id) DEFERRABLE INITIALLY DEFERRED,
  active_terminal_id  TEXT REFERENCES terminals (id) DEFERRABLE INITIALLY DEFERRED,
  event_seq           INTEGER NOT NULL DEFAULT 0,
  created_at          TEXT NOT NULL,
  updated_at          TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX threads_lease ON threads (lease_id);
CREATE INDEX threads_default ON threads (default_terminal_id);
CREATE INDEX threads_active ON threads (active_terminal_id);

CREATE TABLE terminals (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  thread_id     TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  lease_id      TEXT NOT NULL REFERENCES leases (id) ON DELETE RESTRICT,
  kind          TEXT NOT NULL CHECK (kind IN ('pty', 'shell')),
  name          TEXT NOT NULL,
  cmd_json      TEXT NOT NULL DEFAULT '[]',
  cols          INTEGER NOT NULL DEFAULT 0,
  rows          INTEGER NOT NULL DEFAULT 0,
  title         TEXT NOT NULL DEFAULT '',
  cwd           TEXT NOT NULL,
  env_delta_json TEXT NOT NULL,
  env_unset_json TEXT NOT NULL,
  state_version INTEGER NOT NULL,
  state_at      TEXT,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  UNIQUE (thread_id, name)
);
CREATE INDEX terminals_lease ON terminals (lease_id);

CREATE TABLE terminal_states (
  terminal_id    TEXT NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
  version        INTEGER NOT NULL,
  cwd            TEXT NOT NULL,
  env_delta_json TEXT NOT NULL,
  env_unset_json TEXT NOT NULL,
  at             TEXT,
  PRIMARY KEY (terminal_id, version)
) WITHOUT ROWID;

CREATE TABLE sessions (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  id             TEXT NOT NULL UNIQUE,
  thread_id      TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  status         TEXT NOT NULL CHECK (status IN ('active', 'idle', 'paused', 'closed', 'failed')),
  idle_seconds   REAL NOT NULL,
  max_seconds    REAL NOT NULL,
  budget_json    TEXT NOT NULL,
  used_cpu_seconds REAL NOT NULL DEFAULT 0,
  used_commands  INTEGER NOT NULL DEFAULT 0,
  used_bytes     INTEGER NOT NULL DEFAULT 0,
  started_at     TEXT NOT NULL,
  last_active_at TEXT NOT NULL,
  warned_for      TEXT,
  ended_at       TEXT,
  close_reason   TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX sessions_live ON sessions (thread_id) WHERE status IN ('active', 'idle', 'paused');
CREATE INDEX sessions_thread ON sessions (thread_id, seq);

CREATE TABLE runtimes (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  terminal_id TEXT NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
  session_id  TEXT REFERENCES sessions (id) ON DELETE SET NULL,
  generation  INTEGER NOT NULL,
  pid         INTEGER NOT NULL,
  pid_start_time INTEGER NOT NULL,
  boot_id     TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('starting', 'running', 'adopted', 'exited', 'lost')),
  exit_code   INTEGER,
  signal      TEXT NOT NULL DEFAULT '',
  started_at  TEXT NOT NULL,
  ended_at    TEXT,
  UNIQUE (terminal_id, generation)
);
CREATE UNIQUE INDEX runtimes_live ON runtimes (terminal_id) WHERE state IN ('starting', 'running', 'adopted');
CREATE INDEX runtimes_session ON runtimes (session_id);

CREATE TABLE commands (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  terminal_id  TEXT NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
  runtime_id   TEXT REFERENCES runtimes (id) ON DELETE SET NULL,
  line         TEXT NOT NULL,
  cwd          TEXT NOT NULL,
  env_json     TEXT NOT NULL DEFAULT '{}',
  background   INTEGER NOT NULL DEFAULT 0,
  pid          INTEGER NOT NULL DEFAULT 0,
  status       TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'cancelled', 'failed')),
  exit_code    INTEGER,
  stdout_bytes INTEGER NOT NULL DEFAULT 0,
  stderr_bytes INTEGER NOT NULL DEFAULT 0,
  log_path     TEXT NOT NULL DEFAULT '',
  started_at   TEXT,
  finished_at  TEXT
);
CREATE INDEX commands_terminal ON commands (terminal_id, seq);
CREATE INDEX commands_runtime ON commands (runtime_id);
CREATE INDEX commands_open ON commands (terminal_id) WHERE status IN ('queued', 'running');

CREATE TABLE events (
  thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  seq       INTEGER NOT NULL,
  type      TEXT NOT NULL,
  at        TEXT NOT NULL,
  data_json TEXT NOT NULL,
  PRIMARY KEY (thread_id, seq)
) WITHOUT ROWID;

-- The three tables of the design that this one grew from, for whoever reads the file by their names.
CREATE VIEW abstract_terminals AS
  SELECT t.id AS terminal_id, t.thread_id, t.lease_id, t.cwd, t.env_delta_json, t.state_version, t.created_at, t.updated_at
  FROM terminals t JOIN threads h ON h.default_terminal_id = t.id;

CREATE VIEW sandbox_leases AS
  SELECT l.id AS lease_id, l.provider AS provider_name, i.provider_session_id AS current_instance_id, l.observed_state AS instance_status,
         i.created_at AS instance_created_at, l.created_at, l.updated_at
  FROM leases l LEFT JOIN instances i ON i.id = l.instance_id;

CREATE VIEW chat_sessions AS
  SELECT s.id AS session_id, s.thread_id, h.active_terminal_id AS terminal_id, t.lease_id, s.idle_seconds AS idle_timeout_seconds,
         s.max_seconds AS max_duration_seconds, s.status, s.started_at AS created_at, s.last_active_at AS last_activity_at
  FROM sessions s JOIN threads h ON h.id = s.thread_id LEFT JOIN terminals t ON t.id = h.active_terminal_id
  WHERE s.status IN ('active', 'idle', 'paused');
