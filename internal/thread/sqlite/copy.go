package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
)

// Copy writes the database at path as of one instant to the empty file to, also while a Store has it open. Nobody waits
// for it. What was deleted is not in the copy. Errors: thread.ErrDamaged, ErrNoSpace, context.Cause(ctx).
func Copy(ctx context.Context, path, to string) error {
	settings := url.Values{"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}}
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+settings.Encode())
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "VACUUM INTO ?", to)
	if err = errors.Join(err, pool.Close()); err != nil {
		return errors.Join(context.Cause(ctx), (&Store{path: path}).explain(err))
	}
	return nil
}
