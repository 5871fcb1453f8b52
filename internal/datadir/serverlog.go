package datadir

import "os"

// The log of a server that was started in the background.
const (
	ServerLog    = "server.log"
	oldServerLog = "server.log.1"
	// maxServerLog is how large the log may be when a server starts, in bytes: some weeks of lines. A larger one
	// becomes DIR/server.log.1, in the place of the one before.
	maxServerLog = 1 << 20
)

// OpenServerLog opens DIR/server.log for appending, with mode 0600, and makes it when absent. size is its size in bytes.
// The directory is made and checked as Open does. The caller has the lock of LockStart.
func OpenServerLog(dir string) (f *os.File, size int64, err error) {
	root, err := openDataDir(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	if info, err := root.Lstat(ServerLog); err == nil && info.Size() > maxServerLog {
		if err := root.Rename(ServerLog, oldServerLog); err != nil {
			return nil, 0, refused(dir, err)
		}
	}
	if f, err = openOwn(root, ServerLog, os.O_APPEND); err != nil {
		return nil, 0, refused(dir, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, refused(dir, err)
	}
	return f, info.Size(), nil
}
