package keeper

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// fileID names a file for as long as somebody has it open, as a bound socket has its file.
type fileID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

func idOf(st unix.Stat_t) fileID { return fileID{st.Dev, st.Ino} }

// socketAt tells which file is the socket of a directory; the zero value when there is none.
func socketAt(path string) (fileID, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	if err == unix.ENOENT {
		return fileID{}, nil
	}
	return idOf(st), err
}

// atSocket calls f with a path to the socket that fits into sun_path (108 bytes, unix(7)), however long the directory's is.
func atSocket(dir string, f func(path string) error) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return f("/proc/self/fd/" + strconv.Itoa(fd) + "/" + socketName)
}
