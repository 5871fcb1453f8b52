package history

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
	EarlierFile = shelldir.ShellFile + ".1"   // the record before it, or the same when there is none before it
	BadFile     = shelldir.ShellFile + ".bad" // the newest one that could not be read, for people
)

// SaveShell writes shell.json and syncs it; the record before it becomes EarlierFile. After an
// interruption at any point, one of both is valid. Errors: ErrNoSpace.
func SaveShell(dir string, r *Shell) error {
	saved := *r
	saved.Version = recordVersion
	content, err := summed(saved)
	if err == nil {
		err = replaceRecord(dir, content)
	}
	if err != nil {
		return fmt.Errorf("shell: record of shell %s: %w", r.Spec.ID, shelldir.SpaceError(err))
	}
	return nil
}

func replaceRecord(dir string, content []byte) error {
	path, earlier := filepath.Join(dir, shelldir.ShellFile), filepath.Join(dir, EarlierFile)
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

// LoadShell reads shell.json; Spec.Dir is dir. Errors: ErrDamaged, fs.ErrNotExist.
func LoadShell(dir string) (*Shell, error) { return loadShellFile(dir, shelldir.ShellFile) }

func loadShellFile(dir, name string) (*Shell, error) {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("shell: record: %w", err)
	}
	r := &Shell{}
	if err := checked(content, r, &r.Version); err != nil {
		return nil, fmt.Errorf("shell: record in %q: %w", dir, err)
	}
	r.Spec.Dir = dir
	r.FirstEnv = slices.Clip(r.FirstEnv)
	return r, nil
}

// FindShell returns the record of a shell: shell.json, EarlierFile, or, when neither can be read,
// one made of spare. what names the problem of shell.json, lost the settings that are lost. It
// renames a bad shell.json to BadFile. Errors: ErrDamaged of a remote shell, whose provider is
// unknown then.
func FindShell(dir string, held []*keeper.Program, spare Spec) (r *Shell, what string, lost []string, err error) {
	if r, err = LoadShell(dir); err == nil {
		return r, "", nil, nil
	}
	what = shelldir.ShellFile + " was missing"
	if !errors.Is(err, fs.ErrNotExist) {
		what = shelldir.ShellFile + " was damaged and is set aside as " + BadFile
		if bad := os.Rename(filepath.Join(dir, shelldir.ShellFile), filepath.Join(dir, BadFile)); bad != nil {
			return nil, what, nil, errors.Join(err, bad)
		}
	}
	number := newestProcess(dir, held)
	if r, earlier := loadShellFile(dir, EarlierFile); earlier == nil {
		r.Process = max(r.Process, number)
		return r, what, nil, nil // nothing but the number of a process of the shell ever changes
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
	r.Process = number
	return r, what, []string{what +
		", and so was its predecessor: the directory and variables that the shell was created with, its bounds and " +
		"login"}, nil
}

// spareRecord is the record of a shell whose settings are lost.
func spareRecord(dir string, spec Spec) (*Shell, error) {
	spec.Dir = dir
	if err := spec.Check(); err != nil {
		return nil, err
	}
	plan, err := pty.Spec{Argv: []string{"bash"}, Dir: shelldir.Nearest(spec.Cwd)}.Plan()
	if err != nil {
		return nil, err
	}
	r := &Shell{Spec: spec}
	if info, err := os.Stat(dir); err == nil {
		r.CreatedAt = info.ModTime()
	}
	r.FirstEnv, err = FirstEnvironment(plan.Env, nil)
	return r, err
}

// newestProcess is the highest number of a process in the shell's markers and at the keeper.
func newestProcess(dir string, held []*keeper.Program) (newest int) {
	take := func(text string) {
		number, _, _ := strings.Cut(text, ".")
		if n, err := strconv.Atoi(number); err == nil {
			newest = max(newest, n)
		}
	}
	list, _ := os.ReadDir(filepath.Join(dir, shelldir.MarkersDir))
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
