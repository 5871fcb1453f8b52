package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// copyDatabase is the database as of one instant, in a file without a name; nil when there is none. A copy that a kill
// leaves is removed by the next server.
func copyDatabase(ctx context.Context, root *os.Root) (*os.File, error) {
	if _, err := root.Lstat(databaseName); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	name, f, err := datadir.CreateCopy(root)
	if err != nil {
		return nil, err
	}
	err = sqlite.Copy(ctx, filepath.Join(root.Name(), databaseName), filepath.Join(root.Name(), name))
	if err = errors.Join(err, root.Remove(name)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
