package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minABI is the oldest version of Landlock that keeps its promise: before Linux 6.2 truncate(2) was free.
const minABI = 3

// The versions of Landlock that know more.
const (
	abiIoctl = 5 // Linux 6.10: ioctl(2) of devices
	abiScope = 6 // Linux 6.12: signals and abstract sockets
)

// What a program may do, as Landlock names it.
const (
	accessRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	accessFile  = accessRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	accessWrite = accessFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	accessKeep = accessFile | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	// Device files are made nowhere. READ_DIR is not handled: listing is free.
	accessMake = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// Check reports whether this kernel can make a sandbox. Errors: ErrUnsupported.
func Check() error {
	_, err := abi()
	return err
}

// abi is the kernel's version of Landlock. Errors: ErrUnsupported.
func abi() (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("%w: a sandbox needs Landlock, which this kernel has not (%w)", ErrUnsupported, errno)
	}
	if n < minABI {
		return 0, fmt.Errorf("%w: a sandbox needs Landlock of Linux 6.2 (ABI %d), this kernel has ABI %d",
			ErrUnsupported, minABI, n)
	}
	return int(n), nil
}

// ruleset is a set of Landlock rules that is being made.
type ruleset struct {
	fd    int
	ioctl uint64 // the right to ioctl(2) of devices, where the kernel knows it
}

// newRuleset makes a set that allows nothing. Errors: ErrUnsupported.
func newRuleset() (*ruleset, error) {
	version, err := abi()
	if err != nil {
		return nil, err
	}
	r := &ruleset{}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: accessWrite | accessMake}
	if version >= abiIoctl {
		r.ioctl = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
		attr.Handled_access_fs |= r.ioctl
	}
	if version >= abiScope {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("%w: landlock_create_ruleset: %w", ErrUnsupported, errno)
	}
	r.fd = int(fd)
	return r, nil
}

// allow gives rights to a file, or to everything below a directory. A path that does not exist, or has a symbolic link
// anywhere, gives none.
func (r *ruleset) allow(path string, access uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP),
		errors.Is(err, unix.EACCES): // where this user may not look Landlock need not forbid anything
		return nil
	case err != nil:
		return fmt.Errorf("sandbox: %s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("sandbox: %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= accessFile | r.ioctl
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("sandbox: landlock_add_rule %s: %w", path, errno)
	}
	return nil
}

// allowAllBut gives rights to everything that is not in a directory: to what lies beside it and beside its parents at
// this moment.
func (r *ruleset) allowAllBut(hidden string, access uint64) error {
	dir := "/"
	for name := range strings.SplitSeq(strings.TrimPrefix(hidden, "/"), "/") {
		list, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		for _, e := range list {
			if e.Name() == name {
				continue
			}
			if err := r.allow(filepath.Join(dir, e.Name()), access); err != nil {
				return err
			}
		}
		dir = filepath.Join(dir, name)
	}
	return nil
}

// enforce makes the rules those of this thread, for ever.
func (r *ruleset) enforce() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("%w: landlock_restrict_self: %w", ErrUnsupported, errno)
	}
	return unix.Close(r.fd)
}
