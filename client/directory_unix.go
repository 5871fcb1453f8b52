//go:build unix

package client

import (
	"fmt"
	"os"
	"syscall"
)

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
