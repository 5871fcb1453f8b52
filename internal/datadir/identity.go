package datadir

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Identity identifies a data directory. Process tags are made of its ID, so that no copy of the
// directory finds processes of the first.
type Identity struct {
	// ID is unique; "" of a directory whose programs an older release has started.
	ID string `json:"id"`
	// Place is the directory that the ID was given to. A copy of the file is in another one; a
	// directory that was renamed or is mounted elsewhere too is the same.
	Place Place `json:"place"`
	// Copied says that the directory is a copy whose records still name objects of the first one.
	Copied bool `json:"copied,omitempty"`
}

// Place names a directory among all of a machine since its start. It is comparable.
type Place struct {
	Boot   string `json:"boot"` // /proc/sys/kernel/random/boot_id (random(4))
	Device string `json:"device"`
	Inode  uint64 `json:"inode"`
	Born   string `json:"born,omitempty"` // time of creation, where the file system has it (statx(2))
}

// copiedTo reports whether a file of the place p that is found at q was copied there. The numbers
// of devices hold for one start of the machine.
func (p Place) copiedTo(q Place) bool {
	return p.Inode != q.Inode || p.Born != q.Born || p.Boot == q.Boot && p.Device != q.Device
}

// placeOf is the place of a directory.
func placeOf(dir string) (Place, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return Place{}, fmt.Errorf("datadir: %s: %w", dir, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Place{}, fmt.Errorf("datadir: %w", err)
	}
	p := Place{Boot: strings.TrimSpace(string(boot)), Device: fmt.Sprintf("%d:%d", st.Dev_major, st.Dev_minor),
		Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		p.Born = fmt.Sprintf("%d.%09d", st.Btime.Sec, st.Btime.Nsec)
	}
	return p, nil
}

const (
	identityFile = "identity"
	maxIdentity  = 4 << 10 // bytes of the file
	// keeperLock is the file in the data directory that a living keeper has locked (flock(2)).
	keeperLock = "keeper.lock"
)

// Identify is the identity of a data directory, whose lock the caller has. A new directory, a
// copy, and one without processes since the start of the machine get a new ID. What the files of a
// copy say of processes is forgotten; it is Copied until Settle. Errors: the file system's.
func Identify(dir string) (Identity, error) {
	root, err := openDataDir(dir)
	if err != nil {
		return Identity{}, err
	}
	defer root.Close()
	here, err := placeOf(dir)
	if err != nil {
		return Identity{}, err
	}
	i, err := readIdentity(root)
	switch {
	case err == nil && i.Place == here:
		return i, nil
	case errors.Is(err, fs.ErrNotExist) && hasKeeper(root): // of an older release, with its programs
		i = Identity{Place: here}
	default:
		copied := i.Copied || err == nil && i.Place.copiedTo(here) && !hasKeeper(root)
		i = Identity{ID: rand.Text(), Place: here, Copied: copied}
	}
	if i.Copied {
		if err := forgetProcesses(root); err != nil {
			return i, err
		}
	}
	return i, i.write(root)
}

// Settle notes that nothing of the records of a copy is the first one's any more.
func (i Identity) Settle(dir string) error {
	if !i.Copied {
		return nil
	}
	root, err := openDataDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	i.Copied = false
	return i.write(root)
}

// MarkCopied makes the directory d a copy of one that nobody knows: Identify gives it an ID and forgets the processes.
func MarkCopied(d *os.Root) error { return Identity{Copied: true}.write(d) }

func (i Identity) write(root *os.Root) error {
	b, err := json.Marshal(i)
	if err == nil {
		err = writeFile(root, identityFile, b)
	}
	if err != nil {
		return fmt.Errorf("datadir: %s: %w", filepath.Join(root.Name(), identityFile), err)
	}
	return nil
}

// IDOf is the ID that Identify has given to a data directory last.
func IDOf(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	i, _ := readIdentity(root) // without one its programs are of an older release
	return i.ID
}

func readIdentity(root *os.Root) (i Identity, err error) {
	b, err := ReadFile(root, identityFile, maxIdentity)
	if err == nil {
		err = json.Unmarshal(b, &i)
	}
	return i, err
}

// hasKeeper reports whether a keeper of this very directory lives: a copy of its lock is not locked.
func hasKeeper(root *os.Root) bool {
	f, err := root.OpenFile(keeperLock, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// forgetProcesses removes what the files of shells say of sessions, and gives the shells new tags.
func forgetProcesses(root *os.Root) error {
	list, err := fs.Glob(root.FS(), "shells/*")
	if err != nil {
		return err
	}
	for _, name := range list {
		shell, err := root.OpenRoot(name)
		if err != nil {
			continue // a record beside the directories
		}
		err = errors.Join(shell.RemoveAll(shellMarkers), writeFile(shell, shellTag, []byte(rand.Text())))
		_ = shell.Close()
		if err != nil {
			return fmt.Errorf("datadir: %s: %w", name, err)
		}
	}
	return nil
}

// Names in the directory of a shell, see internal/shell/shelldir.
const (
	shellMarkers = "s"
	shellTag     = "tag"
)
