package lifecycle_test

import (
	"database/sql"
	"errors"
)

var errTest = errors.New("the cloud is down")

// check looks at the closed file as SQLite sees it.
func (r *rig) check() {
	r.t.Helper()
	db, err := sql.Open("sqlite", r.path)
	r.ok(err)
	defer db.Close()
	rows, err := db.Query(`PRAGMA foreign_key_check`)
	r.ok(err)
	defer rows.Close()
	if rows.Next() {
		r.t.Error("a reference points at nothing")
	}
	r.ok(rows.Err())
	var word string
	r.ok(db.QueryRow(`PRAGMA integrity_check`).Scan(&word))
	if word != "ok" {
		r.t.Error(word)
	}
}

func (r *rig) countRows(query string) (n int) {
	r.t.Helper()
	db, err := sql.Open("sqlite", r.path)
	r.ok(err)
	defer db.Close()
	r.ok(db.QueryRow(query).Scan(&n))
	return n
}
