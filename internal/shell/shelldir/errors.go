package shelldir

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Errors of the files of shells.
var (
	ErrNoSpace = errors.New("no space left for the shell's files")
	ErrNoFiles = errors.New("the shell's files and FIFOs cannot be made")
	ErrDamaged = errors.New("files of a shell are damaged")
)

// SpaceError adds ErrNoSpace to the errors of a full disk, quota or limit.
func SpaceError(err error) error {
	for _, full := range [...]error{unix.ENOSPC, unix.EDQUOT, unix.EFBIG} {
		if errors.Is(err, full) && !errors.Is(err, ErrNoSpace) {
			return fmt.Errorf("%w: %w", ErrNoSpace, err)
		}
	}
	return err
}

// FileError is SpaceError, and adds ErrNoFiles to other errors of making a file.
func FileError(err error) error {
	if err = SpaceError(err); err == nil || errors.Is(err, ErrNoSpace) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoFiles, err)
}
