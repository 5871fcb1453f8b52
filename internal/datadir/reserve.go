package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// reserveFile is in the data directory: blocks that are given back when the disk is full, so that a command that frees
// space can be written down.
const reserveFile = "reserve"

// ReserveBytes is the size of the reserve, in bytes. A command's files take some 30 KiB until its state is captured,
// most of it one block each.
const ReserveBytes = 256 << 10

// HoldReserve makes the reserve when it is missing. Errors: ErrNoSpace, of the kernel.
func (s *Store) HoldReserve() error {
	if info, err := os.Stat(s.reserve()); err == nil && info.Size() == ReserveBytes {
		return nil
	}
	if err := os.WriteFile(s.reserve(), make([]byte, ReserveBytes), 0o600); err != nil {
		_ = os.Remove(s.reserve())
		return fmt.Errorf("datadir: reserve: %w", NoSpace(err))
	}
	return nil
}

// ReleaseReserve gives the blocks of the reserve back and reports whether there were any.
func (s *Store) ReleaseReserve() bool { return os.Remove(s.reserve()) == nil }

func (s *Store) reserve() string { return filepath.Join(filepath.Dir(s.path), reserveFile) }

// FreeSpace is how much the disk of the shells' files takes, in bytes. Errors: the kernel's.
func (s *Store) FreeSpace() (int64, error) {
	dir, err := s.shells.Open(".")
	if err != nil {
		return 0, fmt.Errorf("datadir: %w", err)
	}
	defer dir.Close()
	var stat syscall.Statfs_t
	if err := Control(dir, func(fd int) error { return syscall.Fstatfs(fd, &stat) }); err != nil {
		return 0, fmt.Errorf("datadir: free space: %w", err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil //nolint:gosec // sizes of disks
}
