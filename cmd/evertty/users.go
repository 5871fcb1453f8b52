//go:build linux

package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/strictmodes"
)

// maxUsersFile bounds the file of users, in bytes: some thousands of them.
const maxUsersFile = 1 << 20

// userEntry is a user in the file.
type userEntry struct {
	Name      string `toml:"name"`
	TokenHash string `toml:"token_hash"`
	Admin     bool   `toml:"admin"`
	Limits    struct {
		PTYs    int `toml:"max_ptys"`
		Viewers int `toml:"max_viewers"`
		Shells  int `toml:"max_shells"`
	} `toml:"limits"`
}

// hashPrefix says how the hash of a token is made.
const hashPrefix = "sha256:"

// readUsers reads the users of --users, who get their limits.
func (f *serveFlags) readUsers() error {
	if f.users == "" {
		return nil
	}
	if f.auth.Mode == auth.ModeNone {
		return fmt.Errorf("users: with --auth none nobody shows a token; leave one of the two out")
	}
	file, err := filepath.Abs(f.users)
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}
	f.users = file // a server in the background changes its directory, and reads the file again
	list, err := usersOf(file)
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}
	users := auth.NewUsers(list)
	f.auth.Users = users
	f.terminals.MaxOf = func(user string) int { return users.LimitsOf(user).PTYs }
	f.shells.MaxOf = func(user string) int { return users.LimitsOf(user).Shells }
	return nil
}

// rereadUsers reads the file again for each signal, until ctx ends. A file with a mistake changes nothing.
func (d *daemon) rereadUsers(ctx context.Context, file string, again <-chan os.Signal) {
	for {
		select {
		case <-again:
		case <-ctx.Done():
			return
		}
		list, err := usersOf(file)
		if err != nil {
			slog.Error("the file of users is not read again, and users stay as they were", "error", err)
			continue
		}
		d.auth.SetUsers(list)
	}
}

// usersOf reads a file of users. Its errors are one line with the line in the file.
func usersOf(file string) ([]auth.User, error) {
	b, err := readChecked(file, maxUsersFile, strictmodes.Check)
	if err != nil {
		return nil, err
	}
	if len(b) > maxUsersFile {
		return nil, fmt.Errorf("%s: at most %d bytes are allowed", file, maxUsersFile)
	}
	var all struct {
		Users []userEntry `toml:"users"`
	}
	meta, err := toml.Decode(string(b), &all)
	if err != nil {
		return nil, wrongTOML(file, err)
	}
	at := usersText(b)
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		key := unknown[0]
		return nil, fmt.Errorf("%s:%d: %s: there is no such key; allowed are name, token_hash, admin, "+
			"limits.max_ptys, limits.max_viewers and limits.max_shells of [[users]]", file,
			at.line(-1, key[len(key)-1]), key)
	}
	list := make([]auth.User, 0, len(all.Users))
	names, hashes := map[string]bool{}, map[string]bool{}
	for i, entry := range all.Users {
		u, key, err := entry.user()
		switch {
		case err != nil:
		case names[u.Name]:
			key, err = "name", fmt.Errorf("%q is there twice", u.Name)
		case hashes[string(u.Hash[:])]:
			key, err = "token_hash", fmt.Errorf("another user has the same token; make one for each")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", file, at.line(i, key), key, err)
		}
		names[u.Name], hashes[string(u.Hash[:])] = true, true
		list = append(list, u)
	}
	return list, nil
}

// user checks an entry. key is the one that is wrong.
func (e userEntry) user() (u auth.User, key string, err error) {
	u = auth.User{Name: e.Name, Admin: e.Admin,
		Limits: auth.Limits{PTYs: e.Limits.PTYs, Viewers: e.Limits.Viewers, Shells: e.Limits.Shells}}
	if err := auth.CheckUserName(e.Name); err != nil {
		return u, "name", err
	}
	digits, ok := strings.CutPrefix(e.TokenHash, hashPrefix)
	hash, err := hex.DecodeString(digits)
	if !ok || err != nil || len(hash) != len(u.Hash) {
		return u, "token_hash", fmt.Errorf("%.80q: sha256: and 64 hexadecimal digits are needed; evertty user add %s "+
			"makes a token and its line", e.TokenHash, e.Name)
	}
	if copy(u.Hash[:], hash); u.Hash == auth.DigestOf("") {
		return u, "token_hash", fmt.Errorf("it is of no token, which anybody has")
	}
	for key, n := range map[string]int{"max_ptys": e.Limits.PTYs, "max_viewers": e.Limits.Viewers,
		"max_shells": e.Limits.Shells} {
		if n < 0 {
			return u, key, fmt.Errorf("%d: a number from 0 is needed; 0 is no limit of the user's own", n)
		}
	}
	return u, "", nil
}

// usersText is the text of a file of users, to find lines in.
type usersText string

var usersHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[\[\s*"?users"?\s*\]\]`) })

// line is the number of the line with a key of a user, of any for -1; that of the user's first line when it has no such
// key of its own line; at least 1.
func (t usersText) line(user int, key string) int {
	keyLine := regexp.MustCompile(`(^|[\s{,.\["])` + regexp.QuoteMeta(key) + `"?\s*(=|\])`)
	n, found, current := 0, 1, -1
	for text := range strings.Lines(string(t)) {
		n++
		if usersHead().MatchString(text) {
			if current++; current == user {
				found = n
			}
		}
		if (user < 0 || current == user) && keyLine.MatchString(text) {
			return n
		}
	}
	return found
}
