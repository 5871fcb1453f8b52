package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReadmeTypesAndWaits runs the lines of README that type a command and wait for its output, as
// they stand there, twice: the second wait is not met by what the first command has printed.
func TestReadmeTypesAndWaits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("README's lines need jq, which is not installed")
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(readme)) {
		if strings.Contains(line, "evertty send build") || strings.Contains(line, "evertty wait build") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 2 {
		t.Fatalf("README types and waits in %d lines: %q", len(lines), lines)
	}
	s := start(t, launch{})
	dir := t.TempDir()
	s.must(os.WriteFile(filepath.Join(dir, "Makefile"), []byte("test:\n\t@sleep 1; echo PA''SS\n"), 0o600))
	id := strings.TrimSpace(s.says("new", "-d", "--name", "build", "--cwd", dir, "--", "bash", "--norc"))
	s.await(id, `[$#]$`)
	bin := t.TempDir()
	s.must(os.Symlink(s.cli().Path, filepath.Join(bin, "evertty")))
	for range 2 {
		sh := s.cli()
		sh.Path, sh.Args = "/bin/sh", []string{"sh", "-ec", strings.Join(lines, "")}
		sh.Env = append(sh.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		began := time.Now()
		if out, err := sh.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", lines, err, out)
		}
		if d := time.Since(began); d < time.Second {
			t.Errorf("PASS is seen %v after a command that prints it after a second", d)
		}
	}
}
