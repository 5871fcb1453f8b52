package sqlite

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/thread"
)

// Tx is one transaction on the rows of threads, by noun. Each noun has a file. Put writes a row, new
// or not.
//
// Writes return no error: the first that fails leaves its error in Err, and all later ones do nothing.
// Update then changes nothing and returns that error. Errors, of package thread: ErrNotFound (no such
// row), ErrConflict (an id or name twice), ErrInUse (another row refers to the deleted one),
// ErrNoSpace, ErrDamaged.
type Tx struct {
	*table
	threadRows
	terminalRows
	sessionRows
	leaseRows
	processRows
}

// conversationTx is a store.Tx: the rows of conversations, and of threads, in one transaction.
type conversationTx struct {
	*table
	threadRows
	permissionRows
	conversationRows
	messageRows
	listRows
}

type (
	threadRows       struct{ *table }
	terminalRows     struct{ *table }
	sessionRows      struct{ *table }
	leaseRows        struct{ *table }
	processRows      struct{ *table }
	permissionRows   struct{ *table }
	conversationRows struct{ *table }
	messageRows      struct{ *table }
	listRows         struct{ *table }
)

func newTx(t *table) *Tx {
	return &Tx{t, threadRows{t}, terminalRows{t}, sessionRows{t}, leaseRows{t}, processRows{t}}
}

func newConversationTx(t *table) *conversationTx {
	return &conversationTx{t, threadRows{t}, permissionRows{t}, conversationRows{t}, messageRows{t}, listRows{t}}
}

// table runs the statements of one transaction.
type table struct {
	store  *Store
	conn   *conn
	failed error // of the first write that failed
}

// Err is the error of the first write that failed, nil when none did.
func (r *table) Err() error { return r.failed }

// TakeErr is Err, and forgets it: for one of several changes, of which the others may be kept.
func (r *table) TakeErr() error {
	err := r.failed
	r.failed = nil
	return err
}

// fail notes that a write of what has failed.
func (r *table) fail(what string, err error) {
	r.failed = cmp.Or(r.failed, fmt.Errorf("%s: %w", what, err))
}

// put runs a statement that writes, and returns how many rows it changed; what names the row for
// errors.
func (r *table) put(what, query string, args ...any) int64 {
	if r.failed != nil {
		return 0
	}
	p, err := r.conn.stmt(query)
	if err == nil {
		var res sql.Result
		if res, err = p.Exec(args...); err == nil {
			n, _ := res.RowsAffected() // never fails: SQLite counts them
			return n
		}
	}
	r.fail(what, r.store.explain(err))
	return 0
}

// change is put for a row that has to be there.
func (r *table) change(what, query string, args ...any) {
	if r.put(what, query, args...) == 0 {
		r.fail(what, thread.ErrNotFound)
	}
}

// insert runs a statement that writes a row and returns its number.
func (r *table) insert(what, query string, args ...any) int64 {
	if r.failed != nil {
		return 0
	}
	n, err := one(r, what, number, query, args...)
	r.failed = err
	return n
}

// upsert is the statement that writes a row, new or not. The first column is its key; a row that is
// there keeps the columns in kept.
func upsert(table, columns string, kept ...string) string {
	names := strings.FieldsFunc(columns, func(c rune) bool { return c == ',' || unicode.IsSpace(c) })
	var set []string
	for _, name := range names[1:] {
		if !slices.Contains(kept, name) {
			set = append(set, name+" = excluded."+name)
		}
	}
	return "INSERT INTO " + table + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) +
		") ON CONFLICT (" + names[0] + ") DO UPDATE SET " + strings.Join(set, ", ")
}

type scanner interface{ Scan(...any) error }

// one reads the row that a query finds.
func one[T any](r *table, what string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	p, err := r.conn.stmt(query)
	if err == nil {
		var v T
		if v, err = scan(p.QueryRow(args...)); err == nil {
			return v, nil
		}
	}
	return *new(T), fmt.Errorf("%s: %w", what, r.store.explain(err))
}

// all reads the rows that a query finds.
func all[T any](r *table, what string, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	return some(r, 0, what, func(s scanner) (v T, n int, err error) {
		v, err = scan(s)
		return v, 0, err
	}, query, args...)
}

// some is all of them until they have so many bytes together as budget says, but one at least; scan
// says how many a row has. A budget of 0 is none.
func some[T any](r *table, budget int, what string,
	scan func(scanner) (T, int, error), query string, args ...any) ([]T, error) {
	p, err := r.conn.stmt(query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, r.store.explain(err))
	}
	found, err := p.Query(args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, r.store.explain(err))
	}
	defer found.Close()
	list, bytes := []T{}, 0
	for found.Next() {
		v, n, err := scan(found)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, r.store.explain(err))
		}
		if bytes += n; budget > 0 && bytes > budget && len(list) > 0 {
			break
		}
		list = append(list, v)
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, r.store.explain(err))
	}
	return list, nil
}

func text(s scanner) (v string, err error) { return v, s.Scan(&v) }

// timeForm has one length, so times sort as text.
const timeForm = "2006-01-02T15:04:05.000000Z"

func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(timeForm)
}

// when scans a time; NULL is the zero one.
type when struct{ to *time.Time }

// Scan implements sql.Scanner.
func (w when) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*w.to = time.Time{}
		return nil
	case string:
		t, err := time.Parse(timeForm, v)
		*w.to = t
		return err
	}
	return fmt.Errorf("a time is text, not %T", v)
}

// orNull is for references: none is NULL, which points at nothing.
func orNull(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// maybe scans a reference or another text that may be NULL.
type maybe struct{ to *string }

// Scan implements sql.Scanner.
func (m maybe) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m.to = ""
		return nil
	case string:
		*m.to = v
		return nil
	}
	return fmt.Errorf("an id is text, not %T", v)
}

// json is the JSON of a value that others have made. Without any the row that it is for fails. Errors:
// thread.ErrInvalid.
func (r *table) json(what string, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		r.fail(what, fmt.Errorf("%w: %w", thread.ErrInvalid, err))
	}
	return string(b)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sqlite: %T is made of what has no JSON: %v", v, err)) // only our own types get here
	}
	return string(b)
}

// environment is variables in JSON. A value is text, or {"base64"} when it is not UTF-8: it has to
// come back byte for byte.
type environment map[string]string

type notText struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (e environment) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(e))
	for k, v := range e {
		if out[k] = v; !utf8.ValidString(v) {
			out[k] = notText{[]byte(v)}
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *environment) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*e = make(environment, len(raw))
	for k, r := range raw {
		var v string
		if json.Unmarshal(r, &v) != nil {
			var n notText
			if err := json.Unmarshal(r, &n); err != nil {
				return err
			}
			v = string(n.Base64)
		}
		(*e)[k] = v
	}
	return nil
}

// fromJSON scans JSON text.
type fromJSON struct{ to any }

// Scan implements sql.Scanner.
func (f fromJSON) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("JSON is text, not %T", v)
	}
	return json.Unmarshal([]byte(s), f.to)
}

// noLimit is SQLite's LIMIT for all rows.
const noLimit = -1

// page is the limit of a part: 1..MaxPage; 0 is MaxPage.
func page(limit int) int {
	if limit <= 0 || limit > thread.MaxPage {
		return thread.MaxPage
	}
	return limit
}
