//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/server/auth"
)

// FuzzUsers: a file of users is taken, and then names and tokens are there once, or refused with one line that begins
// with the file.
func FuzzUsers(f *testing.F) {
	hash := func(c string) string { return "token_hash = \"sha256:" + strings.Repeat(c, 64) + "\"\n" }
	alice := "[[users]]\nname = \"alice\"\n" + hash("a")
	for _, seed := range []string{
		"", alice, alice + "admin = true\nlimits = {max_ptys = 1, max_viewers = 2, max_shells = 3}\n",
		alice + "[users.limits]\nmax_ptys = -1\n", alice + alice, alice + "[[users]]\nname = \"bob\"\n" + hash("a"),
		alice + "[[\"users\"]]\n\"name\" = 'b@c'\n", "users = [{name = \"a\", token_hash = \"\"}]\n", "users = 1\n",
		"[[users]]\nname = 1\n", "[users]\nname = \"a\"\n", "\x00", "\ufeff", "\"a\\nb\" = 1\n", "[[users]]\n\"\" = 1\n",
		"x = [[[[]]]]\n", alice + "limits = {max_ptys = 1e400}\n", alice + "limits = 99999999999999999999\n",
		"[[users]]\nname = \"\"\"\n[[users]]\n\"\"\"\n", "[[users]]\r\nname = \"a\nb\"\r\n",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, "users.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := usersOf(file)
		if err != nil && (len(list) > 0 || !strings.HasPrefix(err.Error(), file+":") ||
			strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: %d users, %v", text, len(list), err)
		}
		seen := map[any]bool{}
		for _, u := range list {
			if auth.CheckUserName(u.Name) != nil || seen[u.Name] || seen[u.Hash] || u.Hash == auth.DigestOf("") {
				t.Errorf("%q: user %+v", text, u)
			}
			seen[u.Name], seen[u.Hash] = true, true
		}
	})
}
