package sshd

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/server/auth"
)

// newKey makes a key, and the line of a file of authorized keys that it is in.
func newKey(t *testing.T, comment string) (ssh.PublicKey, string) {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " " + comment + "\n"
}

// TestKeysOpenWhatTheirLineSays: and no more; a line that is not understood opens nothing.
func TestKeysOpenWhatTheirLineSays(t *testing.T) {
	for options, want := range map[string]*access{
		"":                     {role: auth.Write, name: "me"},
		"read-only ":           {role: auth.Read, name: "me"},
		"READ-ONLY ":           {role: auth.Read, name: "me"},
		`user="alice" `:        {role: auth.Write, user: "alice", name: "me"},
		`no-pty,user="alice" `: nil,
		`user="alice",read-only,no-x11-forwarding,no-port-forwarding `: {role: auth.Read, user: "alice", name: "me"},
		`user="" `:         nil,
		`user="a@b" `:      nil,
		"user ":            nil,
		"read-only=no ":    nil,
		"restrict ":        nil,
		"cert-authority ":  nil,
		`from="10.0.0.1" `: nil,
		`command="ls" `:    nil,
		"user=\"alice ":    nil,
	} {
		key, line := newKey(t, "me")
		keys, wrong := parseKeys("# people\n\n"+options+line, "keys")
		got, ok := keys[string(key.Marshal())]
		switch {
		case want == nil && (ok || !strings.Contains(fmt.Sprint(wrong), "keys:3: ")):
			t.Errorf("%q opens %+v; wrong is %v", options, got, wrong)
		case want != nil && got != *want:
			t.Errorf("%q opens %+v, want %+v", options, got, *want)
		}
	}
	key, line := newKey(t, "me")
	if got, _ := parseKeys("read-only "+line+line, "keys"); got[string(key.Marshal())].role != auth.Read {
		t.Errorf("the first line does not count: %+v", got)
	}
}

// TestNamesOfKeys: a comment is a name that a viewer may have.
func TestNamesOfKeys(t *testing.T) {
	for comment, want := range map[string]string{"me@here": "me@here", "a\x1b[2J": "a?[2J", "\xff": "?",
		strings.Repeat("é", 40): strings.Repeat("é", 32), strings.Repeat("x", 63) + "é": strings.Repeat("x", 63)} {
		if got := nameOf(comment); got != want {
			t.Errorf("%q is called %q, want %q", comment, got, want)
		}
	}
}

// TestHostKey: made once, and never replaced by itself.
func TestHostKey(t *testing.T) {
	dir := t.TempDir()
	first, err := hostKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := hostKey(dir)
	if err != nil || !bytes.Equal(again.PublicKey().Marshal(), first.PublicKey().Marshal()) {
		t.Errorf("another key: %v", err)
	}
	path := filepath.Join(dir, HostKeyFile)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := hostKey(dir); !errors.Is(err, ErrHostKey) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := hostKey(dir); !errors.Is(err, ErrHostKey) || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged key: %v", err)
	}
}
