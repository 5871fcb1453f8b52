package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want, refusal string }{
		"a line":           {"s3cret\n", "s3cret", ""},
		"the longest":      {strings.Repeat("x", maxSecret), strings.Repeat("x", maxSecret), ""},
		"one byte more":    {strings.Repeat("x", maxSecret+1), "", "want one line"},
		"much with a line": {"s" + strings.Repeat("\n", 2*maxSecret), "", "want one line"},
		"nothing":          {" \n", "", "want one line"},
		"two lines":        {"a\nb\n", "", "want one line"},
	} {
		file := filepath.Join(dir, "secret")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readSecret(file)
		if got != c.want || (err == nil) != (c.refusal == "") || err != nil &&
			!strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := readSecret("/dev/zero"); err == nil {
		t.Error("a file without an end is a secret")
	}
}
