package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManualPages: there is a page for each verb that the help has, the same at each call; completion is written for
// each shell. None of it needs a server.
func TestManualPages(t *testing.T) {
	t.Parallel()
	run := func(args ...string) string {
		c := exec.Command(quick, args...)
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "EVERTTY_DATA_DIR="+t.TempDir())
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	one, two := filepath.Join(t.TempDir(), "deep", "man"), t.TempDir()
	run("man", one)
	run("man", two)
	for _, verb := range []string{"evertty", "evertty-serve", "evertty-thread-new", "evertty-completion-zsh"} {
		page, err := os.ReadFile(filepath.Join(one, verb+".1"))
		again, _ := os.ReadFile(filepath.Join(two, verb+".1"))
		if err != nil || string(page) != string(again) || !strings.Contains(string(page), `"Nov 2023"`) {
			t.Errorf("%s.1 is absent, changes, or has another date: %v", verb, err)
		}
	}
	if _, err := os.Stat(filepath.Join(one, "evertty-keeper.1")); err == nil {
		t.Error("a hidden verb has a page")
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if script := run("completion", shell); !strings.Contains(script, "__complete") {
			t.Errorf("completion %s asks the program nothing", shell)
		}
	}
}
