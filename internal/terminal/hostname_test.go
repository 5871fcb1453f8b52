package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnHost: only the names of this machine name it.
func TestOwnHost(t *testing.T) {
	self, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(self, ".")
	hosts := filepath.Join(t.TempDir(), "hosts")
	text := "127.0.0.1 localhost\n127.0.1.1\t" + short + ".corp.example " + self + " nick # " + self +
		" no\n10.0.0.1 other\n"
	if err := os.WriteFile(hosts, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n := readHostnames(hosts)
	for _, host := range []string{"", "localhost", "LocalHost", "127.0.0.1", "127.0.1.1", "[::1]", "::1", self, short,
		strings.ToUpper(self), "%6cocalhost", short + ".corp.example", short + ".Corp.Example.", "nick"} {
		if !n.own(host) {
			t.Errorf("%q is not this machine", host)
		}
	}
	for _, host := range []string{"other", "no", "some-other-host", short + ".elsewhere.example", "10.0.0.1",
		"localhost.example.com", "user@" + self, self + ":22", "x" + self, "127.0.0.1.example.com", "%6c", " "} {
		if n.own(host) {
			t.Errorf("%q is this machine", host)
		}
	}
	if n := readHostnames(filepath.Join(t.TempDir(), "none")); !n.own(self) || n.own("other") {
		t.Error("without a file the name itself does not count")
	}
}
