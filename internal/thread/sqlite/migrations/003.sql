-- The records of threads. What a record consists of is in JSON, in the words of record files; the columns beside it are what is asked for.

CREATE TABLE records (
  id          TEXT PRIMARY KEY,
  seq         INTEGER NOT NULL UNIQUE, -- in the order in which they were made
  thread_id   TEXT REFERENCES threads (id) ON DELETE SET NULL, -- null: deleted with the thread, and not removed yet
  current     INTEGER NOT NULL,
  created_at  TEXT NOT NULL, -- as it was given
  updated_at  TEXT NOT NULL,
  messages    INTEGER NOT NULL,
  archived    INTEGER NOT NULL, -- messages up to this one are behind the summary of the newest compaction
  bytes       INTEGER NOT NULL,
  users       INTEGER NOT NULL,
  timeline    INTEGER NOT NULL,
  traces      INTEGER NOT NULL,
  prompts     INTEGER NOT NULL,
  turns       INTEGER NOT NULL,
  mail        INTEGER NOT NULL,
  waiting     INTEGER NOT NULL,
  compactions INTEGER NOT NULL,
  usage_json  TEXT NOT NULL
);
CREATE UNIQUE INDEX records_current ON records (thread_id) WHERE current;
CREATE INDEX records_thread ON records (thread_id, seq);
CREATE INDEX records_latest ON records (updated_at) WHERE current AND thread_id IS NOT NULL;

-- What there is one of in a record and is written seldom: 'state', 'ledger', 'extra'.
CREATE TABLE record_parts (
  record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  part      TEXT NOT NULL,
  json      TEXT NOT NULL,
  PRIMARY KEY (record_id, part)
);

CREATE TABLE messages (
  record_id    TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq          INTEGER NOT NULL,
  role         TEXT NOT NULL,
  message_json TEXT NOT NULL,
  bytes        INTEGER NOT NULL, -- of message_json
  created_at   TEXT NOT NULL,
  PRIMARY KEY (record_id, seq)
);

CREATE TABLE compactions (
  record_id    TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq          INTEGER NOT NULL, -- its count
  up_to        INTEGER NOT NULL,
  compaction_json TEXT NOT NULL,
  message_json TEXT NOT NULL, -- null: it was imported, and its summary is a message
  created_at   TEXT NOT NULL,
  PRIMARY KEY (record_id, seq)
);

CREATE TABLE timeline (
  record_id  TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  json       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (record_id, seq)
);

CREATE TABLE traces (
  record_id  TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  json       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (record_id, seq)
);

CREATE TABLE prompts (
  record_id  TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  json       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (record_id, seq)
);

CREATE TABLE turns (
  record_id  TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  json       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (record_id, seq)
);

CREATE TABLE mailbox (
  record_id  TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  json       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  drained_at TEXT,
  PRIMARY KEY (record_id, seq)
);
CREATE INDEX mailbox_waiting ON mailbox (record_id) WHERE drained_at IS NULL;
