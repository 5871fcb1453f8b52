// Package installtest installs what a release has in a fresh Debian and uses it there as a newcomer does. It needs root
// and debootstrap, and skips with the reason where they are not; the install script alone needs neither.
package installtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const (
	// version is that of the packages that are built here.
	version = "9.8.7"
	// nfpm makes them, in the version that GoReleaser (Makefile) has.
	nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0"
	// builtAt is the time in them, in seconds since 1970.
	builtAt = "1767225600"
	// builtDate is builtAt as GoReleaser writes it.
	builtDate = "2026-01-01T00:00:00Z"
)

// scratch is removed after the tests.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "evertty-install-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}

// built is the directory with the binary evertty and share/, as a release has them.
var built = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "built")
	if err := repo("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.release=v"+version, "-o",
		filepath.Join(dir, "evertty"), "./cmd/evertty"); err != nil {
		return "", err
	}
	return dir, repo("scripts/share.sh", filepath.Join(dir, "share"), version, builtAt)
})

// repo runs a command at the top of the repository.
func repo(name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir = filepath.Join("..", "..")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return &failure{c, out, err}
	}
	return nil
}

// failure is a command that failed, with what it printed.
type failure struct {
	command *exec.Cmd
	out     []byte
	err     error
}

func (f *failure) Error() string {
	return f.command.String() + ": " + f.err.Error() + "\n" + string(f.out)
}
