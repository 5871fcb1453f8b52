package service

import (
	"database/sql"
	"errors"
	"testing"
)

var errTest = errors.New("the cloud is down")

// checkFile looks at a closed file as SQLite sees it.
func checkFile(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`PRAGMA foreign_key_check`)
	must(t, err)
	defer rows.Close()
	if rows.Next() {
		t.Error("a reference points at nothing")
	}
	must(t, rows.Err())
	var word string
	must(t, db.QueryRow(`PRAGMA integrity_check`).Scan(&word))
	if word != "ok" {
		t.Error(word)
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
