// Package sqlite keeps the records of packages thread and conversation in one SQLite file.
//
// The file is in WAL mode. A commit is not synced one by one: it survives a kill of the process,
// and a loss of power may take the last of them but never leaves half of one. All writes go through
// one connection, reads through others that never wait for it.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Sizes and times of the connections.
const (
	readers     = 4                // connections; a read is microseconds, more would only cost memory
	busyTimeout = 10 * time.Second // waited for another program that has the file locked, such as somebody's sqlite3
	maxWAL      = 64 << 20         // bytes that the WAL keeps after a checkpoint
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store has the rows of threads and conversations in a file. It does not
// know the rules; it holds that ids are unique and that references have their row. Safe for
// concurrent use.
type Store struct {
	path    string
	pool    *sql.DB
	writing sync.Mutex // of writer
	writer  *conn
	erasing erasing    // guarded by writing
	readers chan *conn // those that nobody uses
	opened  int        // readers
	closing chan struct{}
	closed  sync.Once     // closing
	shrunk  chan struct{} // closed when nothing is given back any more
}

// conn is a connection with its statements, each prepared once. One goroutine at a time uses it.
type conn struct {
	*sql.Conn
	begin string
	stmts map[string]*sql.Stmt
}

// Open opens the database at path, makes it (0600) when absent, and brings an older one up to date.
// The directory exists. A damaged file stays as it is, and the error names it. Errors:
// thread.ErrDamaged, ErrNewer, ErrNoSpace, the operating system's. Close releases it.
func Open(path string) (*Store, error) {
	if err := makeFile(path); err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	s := &Store{path: path, readers: make(chan *conn, readers), closing: make(chan struct{}),
		shrunk: make(chan struct{})}
	err := s.connect()
	if err == nil {
		err = quickCheck(context.Background(), s.writer.Conn) // damage shows now and not when a row is needed
	}
	if err == nil {
		err = s.migrate()
	}
	if err == nil {
		err = s.makeShrinkable()
	}
	if err != nil {
		close(s.shrunk)
		_ = s.Close()
		return nil, s.explain(err)
	}
	s.erasing = eraseLater // what a server that was killed has not
	go s.shrinkLoop()
	return s, nil
}

// makeFile makes an empty private file, which SQLite takes for an empty database; SQLite itself
// would make it readable to others. The files beside it get the same mode from SQLite.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	return err
}

func (s *Store) connect() (err error) {
	// Settings of a connection are in the name that opens it, so that no connection is without
	// them.
	common := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "foreign_keys(1)", "journal_mode(WAL)",
		"synchronous(NORMAL)", "secure_delete(1)", // deleted content is overwritten in the file
		fmt.Sprintf("journal_size_limit(%d)", maxWAL), "trusted_schema(0)",
	}}
	name := "file:" + (&url.URL{Path: s.path}).EscapedPath() + "?" + common.Encode()
	if s.pool, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	if s.writer, err = s.dial("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for range readers {
		c, err := s.dial("BEGIN")
		if err != nil {
			return err
		}
		s.readers <- c
		s.opened++
		if _, err := c.ExecContext(context.Background(), "PRAGMA query_only = 1"); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) dial(begin string) (*conn, error) {
	c, err := s.pool.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, begin: begin, stmts: map[string]*sql.Stmt{}}, nil
}

// migrate runs the scripts that the file has not had: number n brings user_version n-1 to n. Each
// is one transaction.
func (s *Store) migrate() error {
	has, scripts, err := versionOf(context.Background(), s.writer.Conn)
	if err != nil {
		return err
	}
	for n := has + 1; n <= len(scripts); n++ {
		script, err := migrations.ReadFile(fmt.Sprintf("migrations/%03d.sql", n))
		if err != nil {
			return err
		}
		if err := s.run(string(script), n); err != nil {
			return fmt.Errorf("to version %d: %w", n, err)
		}
	}
	return nil
}

func (s *Store) run(script string, version int) error {
	return s.writer.transact(func() error {
		if _, err := s.writer.ExecContext(context.Background(), script); err != nil {
			return err
		}
		_, err := s.writer.ExecContext(context.Background(), fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// Close ends all connections; the WAL goes into the file. It waits for what runs. Nothing but Close
// may be called after it.
func (s *Store) Close() error {
	s.closed.Do(func() { close(s.closing) })
	<-s.shrunk
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.pool == nil {
		return nil
	}
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
		for range s.opened {
			select {
			case c := <-s.readers:
				errs = append(errs, c.close())
			case <-time.After(busyTimeout):
				errs = append(errs, errors.New("somebody still reads"))
			}
		}
	}
	err := errors.Join(append(errs, s.pool.Close())...)
	s.pool = nil
	return err
}

func (c *conn) close() error {
	var errs []error
	for _, p := range c.stmts {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}

// View calls fn with the rows as of one instant. It never waits for an Update. The Tx is valid until
// fn returns; fn calls neither View nor Update. Errors: of fn and of Tx.
func (s *Store) View(fn func(*Tx) error) error {
	return s.view(func(t *table) error { return fn(newTx(t)) })
}

// Update makes all changes of fn or none, and returns when they survive a kill of this process. One
// Update runs at a time. Otherwise it is as View.
func (s *Store) Update(fn func(*Tx) error) error {
	return s.update(func(t *table) error { return fn(newTx(t)) })
}

func (s *Store) view(fn func(*table) error) error {
	c := <-s.readers
	defer func() { s.readers <- c }()
	return s.in(c, fn)
}

func (s *Store) update(fn func(*table) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.in(s.writer, fn)
	if s.erasing == eraseNow {
		s.truncate()
	}
	return err
}

func (s *Store) in(c *conn, fn func(*table) error) error {
	t := &table{store: s, conn: c}
	var explained error
	err := c.transact(func() error {
		if explained = fn(t); explained == nil {
			explained = t.failed
		}
		return explained
	})
	if explained != nil || err == nil {
		return explained
	}
	return s.explain(err)
}

// transact runs fn in a transaction, which is undone when fn fails or panics. Statements are not
// tied to a context: each is short, and an interrupted one would leave it to chance whether a
// change was kept.
func (c *conn) transact(fn func() error) error {
	if err := c.exec(c.begin); err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			_ = c.exec("ROLLBACK") // fails when SQLite has done it already
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if err := c.exec("COMMIT"); err != nil {
		return err
	}
	kept = true
	return nil
}

func (c *conn) exec(query string) error {
	p, err := c.stmt(query)
	if err == nil {
		_, err = p.Exec()
	}
	return err
}

func (c *conn) stmt(query string) (*sql.Stmt, error) {
	if p := c.stmts[query]; p != nil {
		return p, nil
	}
	p, err := c.PrepareContext(context.Background(), query)
	if err == nil {
		c.stmts[query] = p
	}
	return p, err
}
