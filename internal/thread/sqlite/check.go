package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/evertty/evertty/internal/thread"
)

// Check reads every page of the database at path, also while a Store has it open, and changes nothing. It returns an
// error soon after ctx ends. Errors: thread.ErrDamaged, ErrNewer, context.Cause(ctx), the operating system's.
func Check(ctx context.Context, path string) error {
	settings := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)"}}
	if _, err := os.Stat(path + "-shm"); errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
			settings.Set("immutable", "1") // nobody has it open; else SQLite would make both files
		}
	}
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+settings.Encode())
	if err != nil {
		return err
	}
	defer pool.Close()
	c, err := pool.Conn(ctx)
	if err == nil {
		defer c.Close()
		err = quickCheck(ctx, c)
	}
	if err == nil {
		_, _, err = versionOf(ctx, c)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return (&Store{path: path}).explain(err)
	}
	return nil
}

// quickCheck reads every page once. Errors: thread.ErrDamaged, SQLite's.
func quickCheck(ctx context.Context, c *sql.Conn) error {
	rows, err := c.QueryContext(ctx, "PRAGMA quick_check(3)")
	if err != nil {
		return err
	}
	defer rows.Close()
	var told []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		told = append(told, line)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(told) != 1 || told[0] != "ok" {
		return fmt.Errorf("%w: %s", thread.ErrDamaged, strings.Join(told, "; "))
	}
	return nil
}

// versionOf is how many of the scripts the file has had. Errors: thread.ErrNewer, SQLite's.
func versionOf(ctx context.Context, c *sql.Conn) (has int, scripts []string, err error) {
	if scripts, err = fs.Glob(migrations, "migrations/*.sql"); err != nil {
		return 0, nil, err
	}
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil {
		return 0, nil, err
	}
	if has > len(scripts) {
		return 0, nil, fmt.Errorf("%w: it has version %d, this program knows %d", thread.ErrNewer, has, len(scripts))
	}
	return has, scripts, nil
}
