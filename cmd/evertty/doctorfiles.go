//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/proc"
)

// maxLooked bounds how many files of a directory are looked at: some seconds on a slow disk.
const maxLooked = 20_000

// lookedAt is what the names, owners, modes and times of the files in a data directory say.
type lookedAt struct {
	count      int       // maxLooked when there are more
	newest     time.Time // when the file that was changed last was changed
	newestPath string
	foreign    []string // of another user
	closed     []string // that their owner may not read and write
	fifos      []string
	unfinished []leftFile // what interrupted writes and removals have left, or what is being written
}

type leftFile struct {
	path    string
	changed time.Time
}

// lookAt looks at the files of a directory, and opens none.
func lookAt(dir string) (l lookedAt) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // checkDir and others tell
		}
		if l.count == maxLooked {
			return fs.SkipAll
		}
		info, err := e.Info()
		if err != nil {
			return nil // it is gone
		}
		l.count++
		return l.note(path, info)
	})
	return l
}

func (l *lookedAt) note(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		l.foreign = append(l.foreign, path)
	}
	if info.ModTime().After(l.newest) {
		l.newest, l.newestPath = info.ModTime(), path
	}
	need := fs.FileMode(0o600)
	if info.IsDir() {
		need = 0o700
	}
	switch mode := info.Mode(); {
	case mode.Type() == fs.ModeSymlink:
	case mode.Perm()&need != need:
		l.closed = append(l.closed, path)
	case mode.Type() == fs.ModeNamedPipe:
		l.fifos = append(l.fifos, path)
	}
	if datadir.Leftover(info.Name()) {
		l.unfinished = append(l.unfinished, leftFile{path, info.ModTime()})
		if info.IsDir() {
			return fs.SkipDir
		}
	}
	return nil
}

// firstOf names the first of a list and says how many more there are.
func firstOf(list []string) string {
	const shown = 3
	text := strings.ReplaceAll(strings.Join(list[:min(len(list), shown)], ", "), "\n", "; ")
	if len(list) > shown {
		text += fmt.Sprintf(" and %d more", len(list)-shown)
	}
	return text
}

// checkAccess looks for files that the server cannot use: root's of one call with sudo, say.
func checkAccess(t examined) check {
	c := check{Name: "owners and modes", Text: fmt.Sprintf("files looked at: %d", t.files.count)}
	switch {
	case len(t.files.foreign) > 0:
		c.finding = problem("of another user: "+firstOf(t.files.foreign),
			fmt.Sprintf("chown -R %d %s, as root", os.Geteuid(), t.dir))
	case len(t.files.closed) > 0:
		c.finding = problem("their own user may not read and write them: "+firstOf(t.files.closed),
			"chmod -R u+rwX "+t.dir)
	}
	return c
}

// clockSlack is how far clock and files may be apart: NTP sets a clock by less, without a jump.
const clockSlack = time.Minute

// checkClock compares the clock with the times of the files, and with how long the server has run.
func checkClock(t examined) check {
	now := time.Now()
	c := check{Name: "clock", Text: now.UTC().Format(time.DateTime) + "Z"}
	const mend = "set the clock and keep it right: timedatectl set-ntp true"
	if ahead := t.files.newest.Sub(now); ahead > clockSlack {
		c.finding = problem(fmt.Sprintf("it is behind %s by %s", t.files.newestPath, age(ahead.Round(clockSlack))), mend)
		return c
	}
	if jump := t.jump(now); jump.Abs() > clockSlack {
		c.finding = finding{Warning: fmt.Sprintf("it has jumped by %s since the server started: times of terminals and "+
			"recordings too", age(jump.Abs().Round(clockSlack))), Advice: mend}
	}
	return c
}

// jump is how far the clock went otherwise than the time since the server's start: it writes its lock then.
func (t examined) jump(now time.Time) time.Duration {
	if t.server == nil {
		return 0
	}
	info, err := os.Stat(filepath.Join(t.dir, "lock"))
	p, ok := proc.Find(t.server.PID)
	if err != nil || !ok {
		return 0
	}
	return now.Sub(info.ModTime()) - p.Age()
}
