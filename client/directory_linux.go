package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/evertty/evertty/internal/localsocket"
	"github.com/evertty/evertty/internal/strictmodes"
)

// socketName is the server's socket in its data directory.
const socketName = localsocket.Name

// DirectoryID tells a directory from its copies on this machine, by device and inode; "" when it
// cannot be read.
func DirectoryID(dir string) string {
	i, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// checkDirectory refuses a data directory that another user has or could change.
func checkDirectory(dir string) error { return strictmodes.CheckOwn(dir) }

// dialOwn connects to the socket of a data directory and looks who serves it, before anything is
// sent.
func dialOwn(ctx context.Context, d net.Dialer, path string) (conn net.Conn, err error) {
	err = localsocket.At(path, func(short string) error {
		conn, err = d.DialContext(ctx, "unix", short)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (a server of an older release has no socket there: evertty serve --takeover goes on in "+
			"its place)", err)
	}
	if err != nil {
		return nil, err
	}
	if err := localsocket.CheckPeer(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
