package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/evertty/evertty/internal/thread"
)

// explain gives an error of SQLite the name that package thread has for it.
func (s *Store) explain(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return thread.ErrNotFound
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("database %s: %w", s.path, err)
	}
	switch e.Code() {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY, lib.SQLITE_CONSTRAINT_ROWID:
		return &refusal{thread.ErrConflict, err}
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY, lib.SQLITE_CONSTRAINT_TRIGGER: // RESTRICT comes as a trigger
		return &refusal{thread.ErrInUse, err}
	case lib.SQLITE_CONSTRAINT_CHECK, lib.SQLITE_CONSTRAINT_NOTNULL:
		return &refusal{thread.ErrInvalid, err}
	}
	switch e.Code() & 0xff { // the rest of a code says where
	case lib.SQLITE_FULL:
		return &refusal{thread.ErrNoSpace, fmt.Errorf("database %s: %w", s.path, err)}
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s: %w; it is left as it is: put a good copy in its place, or move it away to begin "+
			"anew", thread.ErrDamaged, s.path, err)
	}
	return fmt.Errorf("database %s: %w", s.path, err)
}

// refusal is an error by the name that package thread has for it. People read that alone; the
// database's own words are a cause, for logs.
type refusal struct{ kind, cause error }

// Error is the name alone.
func (e *refusal) Error() string { return e.kind.Error() }

// Unwrap returns both.
func (e *refusal) Unwrap() []error { return []error{e.kind, e.cause} }
