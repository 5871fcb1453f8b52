//go:build unix

// Package strictmodes checks that only this user and root can change a file or directory, as
// StrictModes of sshd_config(5) does. Windows has no such modes: there it only looks whether the path exists.
package strictmodes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrUnsafe means that another user could change the path, or read a secret. The error names the
// part of the path that is wrong, its owner and mode, and what to do.
var ErrUnsafe = errors.New("another user could change it")

// maxLinks bounds the symbolic links on the way to a path, as the kernel does (path_resolution(7)).
const maxLinks = 40

// The bits of a mode that let others write, read or replace.
const (
	groupWrite = 0o020
	otherWrite = 0o002
	groupRead  = 0o040
	others     = 0o077
)

// Check fails with ErrUnsafe unless the path, all directories above it and all symbolic links on
// the way belong to this user or root, and only they may write to them. Others may write to a
// directory on the way that is sticky, such as /tmp, and so may this user's private group. A
// relative path is of the working directory; behind a link .. is the directory above what the link
// leads to, as it is for who opens the path. Errors of the file system are returned, fs.ErrNotExist
// when what there is of the path is safe.
func Check(path string) error {
	at, rest := "/", strings.Split(path, "/")
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		rest = append(strings.Split(wd, "/"), rest...)
	}
	for links := 0; len(rest) > 0; {
		name := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if why, mend := wrong(info, len(rest) > 0); why != "" {
			return refusal(name, info, why, mend)
		}
		if info.Mode().Type() != fs.ModeSymlink {
			at = name
			continue
		}
		if links++; links > maxLinks {
			return &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
		}
		to, err := os.Readlink(name)
		if err != nil {
			return err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return nil
}

// CheckOwn is Check of a path that belongs to this user: root's are of no use to others.
func CheckOwn(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		why, mend := foreign()
		return refusal(path, info, why, mend)
	}
	return nil
}

// CheckSecret is Check of a file that only this user may read. A group may read a file of root, as
// PostgreSQL allows for keys: services get the system's keys that way.
func CheckSecret(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	allowed := fs.FileMode(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == 0 && os.Geteuid() != 0 {
		allowed = groupRead
	}
	if info.Mode().Perm()&others&^allowed != 0 {
		return refusal(path, info, "others can read it", "chmod 600")
	}
	return nil
}

// refusal is the error about a part of a path. mend is a command that takes the part.
func refusal(name string, info fs.FileInfo, why, mend string) error {
	st := info.Sys().(*syscall.Stat_t) // of package os on Linux
	return fmt.Errorf("%w: %s (owner %s, mode %04o) %s; choose another place, or: %s %s", ErrUnsafe, name,
		userName(int(st.Uid)), st.Mode&0o7777, why, mend, name)
}

// wrong says what is wrong with a file and which command mends it, "" for nothing. A sticky
// directory may be on the way to the path, not at its end.
func wrong(info fs.FileInfo, onTheWay bool) (why, mend string) {
	st, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode()
	shared := onTheWay && mode.IsDir() && mode&fs.ModeSticky != 0 // only owners remove and rename what is in it
	switch {
	case !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid() && !(onTheWay && isUnmapped(st.Uid)):
		return foreign()
	case mode.Type() == fs.ModeSymlink || shared: // the mode of a link says nothing
	case mode&otherWrite != 0:
		return "others can write to it", "chmod go-w"
	case mode&groupWrite != 0 && !isPrivate(st.Gid):
		return fmt.Sprintf("its group %d can write to it", st.Gid), "chmod g-w"
	}
	return "", ""
}

// foreign is wrong's answer about another user's file.
func foreign() (why, mend string) {
	self := userName(os.Geteuid())
	return "belongs to another user, this is " + self, "chown " + self
}

// userName is the name of a user, or the number when it has none.
func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
