package sshd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/strictmodes"
)

// KeysFile is the file of authorized keys in the data directory.
const KeysFile = "authorized_keys"

// maxName bounds the name of a viewer, in bytes, as wire.Watcher does.
const maxName = 64

// maxKeys bounds that file, in bytes: some thousands of keys.
const maxKeys = 1 << 20

// always are options of sshd(8) that hold for every key here.
var always = []string{"no-agent-forwarding", "no-port-forwarding", "no-user-rc", "no-x11-forwarding"}

// access is what a key opens.
type access struct {
	user string // "" is everything
	role auth.Role
	name string // for other viewers: the comment of the key
}

// keyFile is the file of authorized keys as it is now: it is read again when it has changed. It is safe for concurrent
// use.
type keyFile struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex
	stamp stamp
	keys  map[string]access // by ssh.PublicKey.Marshal
	wrong []error           // lines that cannot be used
	told  string            // what was wrong with the file last
}

// stamp tells a file from what it was before.
type stamp struct{ inode, size, mtime, ctime int64 }

// find returns what a key opens.
func (f *keyFile) find(key ssh.PublicKey) (access, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	a, ok := f.keys[string(key.Marshal())]
	return a, ok
}

// count is the number of keys.
func (f *keyFile) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return len(f.keys)
}

// refresh reads the file when it has changed. Without a file, and with one that others could change, there are no keys.
// f.mu is held.
func (f *keyFile) refresh() {
	err := f.read()
	if err == nil {
		f.told = ""
		return
	}
	f.keys, f.stamp = nil, stamp{}
	if why := err.Error(); !errors.Is(err, fs.ErrNotExist) && why != f.told {
		f.told = why
		f.log.Warn("the file of authorized keys is not used", "error", err)
	}
}

func (f *keyFile) read() error {
	if err := strictmodes.Check(f.path); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a FIFO must not hang
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", f.path)
	case info.Size() > maxKeys:
		return fmt.Errorf("%s: at most %d bytes are allowed", f.path, maxKeys)
	}
	now := stamp{int64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
	if now == f.stamp {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(file, maxKeys))
	if err != nil {
		return err
	}
	f.keys, f.wrong = parseKeys(string(b), f.path)
	f.stamp = now
	for _, err := range f.wrong {
		f.log.Warn("a line of the file of authorized keys is not used", "error", err)
	}
	return nil
}

// CheckKeys reads a file of authorized keys as a server does. n is the number of keys that can be used, err why there
// are none, or what is wrong with the first line that cannot be used. A file that is not there has none.
func CheckKeys(path string) (n int, err error) {
	f := keyFile{path: path, log: slog.New(slog.DiscardHandler)}
	if err := f.read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if len(f.wrong) > 0 {
		err = f.wrong[0]
	}
	return len(f.keys), err
}

// parseKeys reads the keys of a text. A line that is not understood opens nothing, and is wrong; of a key that is there
// twice the first line counts, as in OpenSSH.
func parseKeys(text, path string) (keys map[string]access, wrong []error) {
	keys = map[string]access{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
		var a access
		if err == nil {
			a, err = accessOf(options)
			a.name = nameOf(comment)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", path, n, err))
			continue
		}
		if id := string(key.Marshal()); keys[id] == (access{}) {
			keys[id] = a
		}
	}
	return keys, wrong
}

// nameOf is a comment as the name of a viewer: text without control characters, of at most maxName bytes.
func nameOf(comment string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, comment)
	for len(name) > maxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name
}

// accessOf is what a key with options opens. An option that is not known may be a restriction, so it is an error.
func accessOf(options []string) (access, error) {
	a := access{role: auth.Write}
	for _, o := range options {
		name, value, given := strings.Cut(o, "=")
		switch name = strings.ToLower(name); {
		case name == "read-only" && !given:
			a.role = auth.Read
		case name == "user" && given:
			a.user = strings.Trim(value, `"`)
			if err := owner.CheckUser(a.user); err != nil {
				return a, fmt.Errorf("user: %w", err)
			}
		case !slices.Contains(always, name) || given:
			return a, fmt.Errorf("there is no option %.80q; allowed are read-only, user=\"NAME\" and what always "+
				"holds: %s", o, strings.Join(always, ", "))
		}
	}
	return a, nil
}
