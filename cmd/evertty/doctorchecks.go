//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/server/auth"
)

const (
	// enoughFiles is a limit of descriptors that does not matter in practice: some hundred terminals.
	enoughFiles = 4096
	// enoughDisk is the free space, in bytes, below which journals may not find room.
	enoughDisk = 256 << 20
	// enoughInodes is the same in files.
	enoughInodes = 1000
)

// checksOf are the checks of the machine and of a data directory. None writes anything.
func checksOf(dir string) []check {
	list := []check{checkFiles(), checkPTY(), checkProc(), checkPidfd()}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return append(list, check{Name: "data directory", Text: dir + " is not there; serve makes it"})
	}
	if err != nil {
		return append(list, check{"data directory", dir, problem(err.Error(), "choose another with --data-dir")})
	}
	return append(list, checkDir(dir, info), checkSecrecy(dir), checkToken(dir), checkFileSystem(dir), checkDisk(dir))
}

func checkFiles() check {
	c := check{Name: "file descriptors"}
	_, limit, err := proc.Descriptors()
	if err != nil {
		c.finding = problem(err.Error(), "is /proc mounted?")
		return c
	}
	c.Text = fmt.Sprintf("a server may have %d", limit)
	if limit < enoughFiles {
		c.finding = problem("that is for few terminals",
			fmt.Sprintf("raise the hard limit to %d or more (ulimit -Hn, LimitNOFILE)", enoughFiles))
	}
	return c
}

func checkPTY() check {
	c := check{Name: "pseudo-terminals", Text: "can be opened"}
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		c.Text, c.finding = "/dev/ptmx",
			problem(err.Error(), "mount /dev/pts; in a unit of systemd do not set PrivateDevices")
		return c
	}
	_ = f.Close()
	return c
}

func checkProc() check {
	c := check{Name: "/proc", Text: "is mounted"}
	if _, ok := proc.Find(os.Getpid()); !ok {
		c.finding = problem("it does not show this process", "mount -t proc proc /proc")
	}
	return c
}

func checkPidfd() check {
	c := check{Name: "kernel"}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		c.Text = unix.ByteSliceToString(u.Release[:])
	}
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		c.finding = problem("pidfd_open: "+err.Error(), "Linux 5.3 is needed, 5.11 for terminals without loss")
		return c
	}
	_ = unix.Close(fd)
	return c
}

func checkDir(dir string, info fs.FileInfo) check {
	c := check{Name: "data directory", Text: dir}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0 || !info.IsDir():
		c.finding = problem("it is no directory", "choose another with --data-dir")
	case ok && int(st.Uid) != os.Geteuid():
		c.finding = problem(fmt.Sprintf("it belongs to user %d, this is %d", st.Uid, os.Geteuid()),
			"chown it, or run as its owner")
	case info.Mode().Perm()&0o077 != 0:
		c.finding = problem(fmt.Sprintf("others may look into it (mode %04o)", info.Mode().Perm()), "chmod 700 "+dir)
	case unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK, unix.AT_EACCESS) != nil:
		c.finding = problem("it cannot be written", "mount it for writing, or choose another with --data-dir")
	}
	return c
}

// checkSecrecy looks for files at the top of the directory that others may read.
func checkSecrecy(dir string) check {
	c := check{Name: "files in it", Text: "are this user's alone"}
	entries, err := os.ReadDir(dir)
	if err != nil {
		c.finding = problem(err.Error(), "chmod 700 "+dir)
		return c
	}
	var open []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().Type() != fs.ModeSymlink {
			open = append(open, filepath.Join(dir, e.Name()))
		}
	}
	if len(open) > 0 {
		slices.Sort(open)
		c.finding = problem("others may use "+strings.Join(open[:min(len(open), 3)], ", "), "chmod -R go= "+dir)
	}
	return c
}

// checkToken reads the token as a server does at its start. There is none before the first one.
func checkToken(dir string) check {
	c := check{Name: "token", Text: "can be used"}
	path := filepath.Join(dir, "token")
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return c // checkSecrecy tells
	}
	if _, err = auth.ReadToken(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.finding = problem(err.Error(), "rm -r "+path+"; the next server makes a new one, and browsers log in again")
	}
	return c
}

// networkFiles are file systems whose locks and shared memory other machines do not see, or see late (statfs(2)).
var networkFiles = map[int64]string{unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.AFS_SUPER_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda",
	unix.V9FS_MAGIC: "9P", unix.CEPH_SUPER_MAGIC: "Ceph"}

func checkFileSystem(dir string) check {
	c := check{Name: "file system", Text: "is of this machine"}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		c.finding = problem(err.Error(), "choose another directory with --data-dir")
		return c
	}
	c.finding = fileSystemFault(int64(st.Type)) //nolint:unconvert // sizes differ between architectures
	return c
}

// fileSystemFault is what is wrong with a type of file system.
func fileSystemFault(kind int64) finding {
	const mend = "choose a directory on a disk of this machine with --data-dir"
	switch name := networkFiles[kind]; {
	case name != "":
		return problem("it is "+name+", on the network: locks and the database are not safe there", mend)
	case kind == unix.FUSE_SUPER_MAGIC:
		return finding{Warning: "it is FUSE: if that is a network, locks and the database are not safe there",
			Advice: mend}
	case kind == unix.TMPFS_MAGIC, kind == unix.RAMFS_MAGIC:
		return finding{Warning: "it is in memory: all is gone after a restart of the machine", Advice: mend}
	}
	return finding{}
}

func checkDisk(dir string) check {
	c := check{Name: "disk"}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		c.finding = problem(err.Error(), "choose another directory with --data-dir")
		return c
	}
	free := uint64(st.Bavail) * uint64(st.Bsize) //nolint:gosec,unconvert // sizes differ between architectures
	c.Text = fmt.Sprintf("%d MiB are free", free>>20)
	switch {
	case free < enoughDisk:
		c.finding = problem(fmt.Sprintf("less than %d MiB", enoughDisk>>20), "free some; journals are lost first")
	case st.Files > 0 && st.Ffree < enoughInodes:
		c.finding = problem(fmt.Sprintf("%d files can be made", st.Ffree), "remove files from the file system")
	}
	return c
}
