//go:build !unix

// Package strictmodes checks that only this user and root can change a file or directory. Windows has no such modes:
// there it only looks whether the path exists.
package strictmodes

import (
	"errors"
	"os"
)

// ErrUnsafe is never returned here.
var ErrUnsafe = errors.New("another user could change it")

// Check fails with the error of the file system when there is no such path.
func Check(path string) error {
	_, err := os.Stat(path)
	return err
}

// CheckOwn is Check.
func CheckOwn(path string) error { return Check(path) }

// CheckSecret is Check.
func CheckSecret(path string) error { return Check(path) }
