package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// Beside shell.json in a shell's directory.
const (
	earlierFile = shelldir.ShellFile + ".1"   // the record before it, or the same when there is none before it
	badFile     = shelldir.ShellFile + ".bad" // the newest one that could not be read, for people
)

// saveShell writes shell.json and syncs it; the record before it becomes its predecessor. Whenever that is cut, one of both is whole. Errors: ErrNoSpace.
func saveShell(dir string, r *shellRecord) error {
	content, err := encodeShell(r)
	if err == nil {
		err = replaceRecord(dir, content)
	}
	if err != nil {
		return fmt.Errorf("shell: record of shell %s: %w", r.Spec.ID, shelldir.SpaceError(err))
	}
	return nil
}

func replaceRecord(dir string, content []byte) error {
	path, earlier := filepath.Join(dir, shelldir.ShellFile), filepath.Join(dir, earlierFile)
	part := path + ".part"
	if err := shelldir.WriteSynced(part, content); err != nil {
		return err
	}
	if err := os.Rename(path, earlier); errors.Is(err, fs.ErrNotExist) {
		err = shelldir.WriteSynced(earlier, content)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return shelldir.SyncDir(dir)
}

// loadShell reads shell.json; Spec.Dir is dir. Errors: ErrDamaged, fs.ErrNotExist.
func loadShell(dir string) (*shellRecord, error) { return loadShellFile(dir, shelldir.ShellFile) }

func loadShellFile(dir, name string) (*shellRecord, error) {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("shell: record: %w", err)
	}
	r, err := decodeShell(content)
	if err != nil {
		return nil, fmt.Errorf("shell: record in %q: %w", dir, err)
	}
	r.Spec.Dir = dir
	r.First = slices.Clip(r.First)
	return r, nil
}

// findShell is the record of a shell: shell.json, its predecessor, or, when neither can be read, what spare says of it. what says what was wrong with shell.json, lost what is
// not as it was, in words. A bad shell.json is set aside. Errors: ErrDamaged of a shell elsewhere, whose place nobody knows then.
func findShell(dir string, held []*keeper.Program, spare Spec) (r *shellRecord, what string, lost []string, err error) {
	if r, err = loadShell(dir); err == nil {
		return r, "", nil, nil
	}
	what = shelldir.ShellFile + " was missing"
	if !errors.Is(err, fs.ErrNotExist) {
		what = shelldir.ShellFile + " was damaged and is set aside as " + badFile
		if bad := os.Rename(filepath.Join(dir, shelldir.ShellFile), filepath.Join(dir, badFile)); bad != nil {
			return nil, what, nil, errors.Join(err, bad)
		}
	}
	number := newestIncarnation(dir, held)
	if r, earlier := loadShellFile(dir, earlierFile); earlier == nil {
		r.Incarnation = max(r.Incarnation, number)
		return r, what, nil, nil // nothing but the number of an incarnation ever changes
	}
	if _, elsewhere := os.Lstat(filepath.Join(dir, shelldir.RemoteFile)); elsewhere == nil {
		if !errors.Is(err, shelldir.ErrDamaged) {
			err = fmt.Errorf("%w: %w", shelldir.ErrDamaged, err)
		}
		return nil, what, nil, err
	}
	if r, err = spareRecord(dir, spare); err != nil {
		return nil, what, nil, err
	}
	r.Incarnation = number
	return r, what, []string{what + ", and so was its predecessor: the directory and variables that the shell was created with, its bounds and login"}, nil
}

// spareRecord is that of a shell of which nobody knows what it was created with.
func spareRecord(dir string, spec Spec) (*shellRecord, error) {
	spec.Dir = dir
	if err := spec.check(); err != nil {
		return nil, err
	}
	plan, err := pty.Spec{Argv: []string{"bash"}, Dir: shelldir.Nearest(spec.Cwd)}.Plan()
	if err != nil {
		return nil, err
	}
	r := &shellRecord{Spec: spec}
	if info, err := os.Stat(dir); err == nil {
		r.CreatedAt = info.ModTime()
	}
	r.First, err = firstEnvironment(plan.Env, nil)
	return r, err
}

// newestIncarnation is the highest number of an incarnation that the shell's signs or the keeper know of.
func newestIncarnation(dir string, held []*keeper.Program) (newest int) {
	take := func(text string) {
		number, _, _ := strings.Cut(text, ".")
		if n, err := strconv.Atoi(number); err == nil {
			newest = max(newest, n)
		}
	}
	list, _ := os.ReadDir(filepath.Join(dir, shelldir.SignsDir))
	for _, f := range list {
		for _, prefix := range [...]string{shelldir.PidName, shelldir.UpName, shelldir.SessionName} {
			if rest, is := strings.CutPrefix(f.Name(), prefix); is {
				take(rest)
			}
		}
	}
	for _, p := range held {
		if at := strings.LastIndexByte(p.ID, '.'); at >= 0 && p.Child != nil {
			take(p.ID[at+1:])
		}
	}
	return newest
}
