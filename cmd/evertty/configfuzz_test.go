package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzConfig: a file of settings is taken, or refused with wrong usage and a line that names the file.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"pty_idle = \"90s\"\n", "max_ptys_per_session = 5\n", "allowed_host = [\"a\", \"b:80\"]\n", "verify = true\n",
		"journal_quota = \"64MiB\"\n", "listen = 5\n", "no_such = 1\n", "[table]\nx = 1\n", "listen = \"x\"\nlisten = \"y\"\n",
		"\x00", "sync = \"always\"\nunicode = \"11\"\n", "pty_idle = 1e400\n", "a.b.c = 1\n", "x = [[[[]]]]\n", "\ufeff",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, "config.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := applyConfig(new(app).newServe(), file)
		if _, ok := errors.AsType[usageError](err); err != nil && (!ok || !strings.Contains(err.Error(), file)) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
