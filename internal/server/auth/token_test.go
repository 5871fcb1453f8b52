package auth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestTokenIsMadeOnceAndPrivate(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	dir := t.TempDir()
	first, err := loadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := loadToken(dir)
	if err != nil || first != second || len(first) != 43 {
		t.Errorf("%q, then %q (%v)", first, second, err)
	}
	stat, err := os.Stat(filepath.Join(dir, tokenFile))
	if err != nil || stat.Mode() != 0o600 {
		t.Errorf("mode %v (%v)", stat.Mode(), err)
	}
	if other, err := loadToken(t.TempDir()); err != nil || other == first {
		t.Errorf("another directory has %q (%v)", other, err)
	}
	onlyTokenIn(t, dir)
}

// onlyTokenIn fails when making the token left another file behind.
func onlyTokenIn(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != tokenFile {
		t.Errorf("the directory holds %v (%v)", entries, err)
	}
}

func TestTokenOfTwoStarts(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	tokens := make([]string, 16)
	for i := range tokens {
		group.Go(func() {
			var err error
			if tokens[i], err = loadToken(dir); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, token := range tokens {
		if token != tokens[0] {
			t.Fatalf("tokens differ: %q", tokens)
		}
	}
	onlyTokenIn(t, dir)
}

func TestTokenFileOfOnesOwn(t *testing.T) {
	for content, ok := range map[string]bool{
		strings.Repeat("a", minToken):           true,
		strings.Repeat("a", minToken) + "\n":    true,
		strings.Repeat("aZ9-._~+/=", 51) + "xy": true,
		"":                                      false,
		"\n":                                    false,
		strings.Repeat("a", minToken-1) + "\n":  false,
		strings.Repeat("a", maxToken+1):         false,
		strings.Repeat("a", minToken) + "\n\n":  false,
		strings.Repeat("a ", minToken):          false,
		strings.Repeat("ä", minToken):           false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tokenFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := loadToken(dir)
		if (err == nil) != ok || ok && token != strings.TrimSpace(content) || !ok && !errors.Is(err, ErrTokenFile) {
			t.Errorf("%q: %q, %v", content, token, err)
		}
	}
}

func TestTokenFileThatCannotBeTrusted(t *testing.T) {
	good := strings.Repeat("a", minToken)
	for name, plant := range map[string]func(path string) error{
		"readable by the group": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chmod(path, 0o640))
		},
		"writable by all": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chmod(path, 0o602))
		},
		"a symbolic link": func(path string) error {
			return errors.Join(os.WriteFile(path+".real", []byte(good), 0o600), os.Symlink(path+".real", path))
		},
		"a dangling link": func(path string) error { return os.Symlink(path+".absent", path) },
		"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"not regular":     func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, tokenFile)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		token, err := loadToken(dir)
		if !errors.Is(err, ErrTokenFile) || token != "" || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), good) {
			t.Errorf("%s: %q, %v", name, token, err)
		}
		if _, err := os.Lstat(path + ".absent"); err == nil {
			t.Errorf("%s: the link's target was made", name)
		}
	}
}

func TestTokenFileOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, tokenFile)
	if err := os.WriteFile(path, []byte(strings.Repeat("a", minToken)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, os.Geteuid()+1, -1); err != nil {
		t.Skip("only root can give a file away: ", err)
	}
	if _, err := loadToken(dir); !errors.Is(err, ErrTokenFile) || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("got %v", err)
	}
}

func TestTokenWithoutDirectory(t *testing.T) {
	if token, err := loadToken(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Errorf("got %q", token)
	}
}
