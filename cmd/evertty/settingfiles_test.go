package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	key := strings.Repeat("k", minSecret)
	for name, c := range map[string]struct {
		text, want, refusal string
		mode                os.FileMode
	}{
		"a line":           {key + "\n", key, "", 0o600},
		"one byte less":    {key[1:] + "\n", "", "want one line", 0o600},
		"the longest":      {strings.Repeat("x", maxSecret), strings.Repeat("x", maxSecret), "", 0o600},
		"one byte more":    {strings.Repeat("x", maxSecret+1), "", "want one line", 0o600},
		"much with a line": {key + strings.Repeat("\n", 2*maxSecret), "", "want one line", 0o600},
		"nothing":          {" \n", "", "want one line", 0o600},
		"two lines":        {key + "\n" + key + "\n", "", "want one line", 0o600},
		"of its group too": {key + "\n", "", "mode 0640", 0o640},
		"of everybody":     {key + "\n", "", "mode 0604", 0o604},
		"to be written":    {key + "\n", "", "mode 0602", 0o602},
	} {
		file := filepath.Join(dir, "secret")
		if err := errors.Join(os.WriteFile(file, []byte(c.text), 0o600), os.Chmod(file, c.mode)); err != nil {
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
