package protocol

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// FileID names a file for as long as somebody has it open, as a bound socket has its file.
type FileID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// IDOf is the name of the file that a stat is of.
func IDOf(st unix.Stat_t) FileID { return FileID{st.Dev, st.Ino} }

// SocketAt tells which file is the socket of a directory; the zero value when there is none.
func SocketAt(path string) (FileID, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	if err == unix.ENOENT {
		return FileID{}, nil
	}
	return IDOf(st), err
}

// SocketOf is SocketAt for a data directory of any length.
func SocketOf(dir string) (id FileID, err error) {
	err = AtSocket(dir, func(path string) (err error) {
		id, err = SocketAt(path)
		return err
	})
	return id, err
}

// AtSocket calls f with a path to the socket that fits into sun_path (108 bytes, unix(7)), however long the directory's
// is.
func AtSocket(dir string, f func(path string) error) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return f("/proc/self/fd/" + strconv.Itoa(fd) + "/" + SocketName)
}
