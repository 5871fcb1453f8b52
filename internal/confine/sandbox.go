package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// devices are the files that every program may write to.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// terminalDevices are what programs need that make terminals of their own, as tmux does.
var terminalDevices = []string{"/dev/ptmx", "/dev/pts"}

// keptCapabilities are those that a program of root keeps: what changes owners and modes of files, users and groups,
// and does not reach the kernel or other processes. They are numbers of capability(7).
const keptCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETPCAP |
	1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_NET_RAW | 1<<unix.CAP_SETFCAP

// enter puts this thread into the sandbox, for ever.
func (s *Sandbox) enter() error {
	if dir, err := os.Getwd(); err == nil && Within(dir, s.Hide) {
		return fmt.Errorf("%w: a sandbox cannot begin in the server's data directory %s", ErrUnsupported, s.Hide)
	}
	masked, err := s.mask()
	if err == nil {
		err = proc.Mark()
	}
	var r *ruleset
	if err == nil {
		r, err = newRuleset()
	}
	if err == nil {
		err = s.rules(r, masked)
	}
	if err == nil {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err == nil {
		err = dropCapabilities()
	}
	if err != nil {
		return err
	}
	return r.enforce()
}

// rules fills a ruleset. The data directory is covered when masked is set.
func (s *Sandbox) rules(r *ruleset, masked bool) error {
	var errs []error
	if masked {
		errs = append(errs, r.allow("/", accessRead))
	} else {
		errs = append(errs, r.allowAllBut(s.Hide, accessRead))
	}
	files := devices
	if own, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(own, "/dev/pts/") {
		files = append(files[:len(files):len(files)], own)
	}
	if s.Terminals {
		files = append(files[:len(files):len(files)], terminalDevices...)
	}
	for _, path := range files {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			errs = append(errs, r.allow(real, accessFile|r.ioctl))
		}
	}
	for _, dir := range s.Write {
		errs = append(errs, r.allow(dir, accessWrite))
	}
	if s.Keep != "" {
		errs = append(errs, r.allow(s.Keep, accessKeep))
	}
	return errors.Join(errs...)
}

// mask covers the data directory by an empty one in a mount namespace of this thread, and reports whether it could,
// which needs CAP_SYS_ADMIN. Without it Landlock alone hides the directory, and cannot where a parent of it may be
// written. Errors: ErrUnsupported then.
func (s *Sandbox) mask() (bool, error) {
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "")
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		for _, dir := range s.Write {
			if Within(s.Hide, dir) {
				return false, fmt.Errorf("%w: the sandbox may write in %s, where the server's data directory %s is: "+
					"start it in another directory, or with TMPDIR at another place", ErrUnsupported, dir, s.Hide)
			}
		}
		return false, nil
	}
	if err == nil {
		err = s.cover()
	}
	if err != nil {
		return false, fmt.Errorf("sandbox: hide %s: %w", s.Hide, err)
	}
	return true, nil
}

// cover mounts an empty directory over the data directory, and what is kept into it.
func (s *Sandbox) cover() error {
	keep := -1
	if s.Keep != "" {
		var err error
		if keep, err = unix.Open(s.Keep, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		defer unix.Close(keep)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("evertty", s.Hide, "tmpfs", flags, "mode=700,size=64k"); err != nil {
		return err
	}
	if keep >= 0 {
		if err := os.MkdirAll(s.Keep, 0o700); err != nil {
			return err
		}
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", keep), s.Keep, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return unix.Mount("", s.Hide, "", flags|unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

// dropCapabilities takes from a program of root, and from all that it starts, what would let it leave the sandbox.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // of 32 capabilities each
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	for c := range uintptr(64) {
		if 1<<c&keptCapabilities != 0 {
			continue
		}
		// EINVAL: the kernel has no more; EPERM: a program that has none of its own, and gains none any more.
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("PR_CAPBSET_DROP: %w", err)
		}
	}
	for i, kept := range []uint32{keptCapabilities & (1<<32 - 1), keptCapabilities >> 32} {
		data[i].Effective &= kept
		data[i].Permitted &= kept
		data[i].Inheritable = 0
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}

// Within reports whether a path is dir or below it.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
