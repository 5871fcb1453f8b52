package compat

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/wire"
)

// TestReadWhole: a file of which only a part would be read is refused, whatever its size was a moment ago.
func TestReadWhole(t *testing.T) {
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zeros.Close()
	if p, err := readWhole(io.LimitReader(zeros, maxFile), "f"); err != nil || len(p) != maxFile {
		t.Errorf("the largest: %d bytes, %v", len(p), err)
	}
	if p, err := readWhole(zeros, "f"); !errors.Is(err, syscall.EFBIG) || p != nil {
		t.Errorf("one without an end: %d bytes, %v", len(p), err)
	}
}

// TestNoFilesOfProcesses: no call reaches what the server has in /proc, or anything through it, whatever the way is
// called; other files there are read. What would be lost without the refusal is a file of the test's own.
func TestNoFilesOfProcesses(t *testing.T) {
	dir, ctx, own := t.TempDir(), context.Background(), "/proc/"+strconv.Itoa(os.Getpid())
	for name, to := range map[string]string{"self": "/proc/self", "link": own, "fd": "/dev/fd", "again": "self",
		"environ": "/proc/self/environ", "loop": "loop", "task": "/proc/self/task",
		"up": ".." + strings.Repeat("/..", 30) + own + "/root"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	other := exec.Command("sleep", "1000") // in the place of a keeper or relay
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()         //nolint:errcheck // it is killed
	defer other.Process.Kill() //nolint:errcheck // see above
	secret := filepath.Join(dir, "secret")
	open, err := os.Create(secret)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := open.WriteString(secret); err != nil {
		t.Fatal(err)
	}
	ways := []string{"/proc/self", "/proc/thread-self", own, own + "/task/" + strconv.Itoa(os.Getpid()),
		"/dev/../proc/./self",
		"/proc/self/root" + own, "/proc/self/root/proc/self", own + "/cwd/../../../../../../../../../../proc/self",
		dir + "/self", dir + "/link", dir + "/task/..", dir + "/again", dir + "/up/proc/self",
		"/proc/" + strconv.Itoa(other.Process.Pid)}
	var paths []string
	for _, way := range ways {
		for _, name := range []string{"/environ", "/mem", "/maps", "/status", "/cwd/x", "/root" + secret, "/exe",
			"/nothing", "/no/thing", "/fd/" + strconv.Itoa(int(open.Fd()))} {
			paths = append(paths, way+name)
		}
	}
	links := []string{dir + "/self", dir + "/fd", dir + "/environ"} // removed and moved as others are
	paths = append(append(paths, links...), "/proc/self", "/proc/self/", "/proc/thread-self", own, "/dev/fd",
		"/dev/fd/", "/dev/fd/"+strconv.Itoa(int(open.Fd())), "/dev/fd/99", dir+"/fd/0", dir+"/fd/99", "/dev/stdin")
	for _, path := range paths {
		_, reading := (localFiles{}).read(ctx, path)
		_, looking := (localFiles{}).exists(ctx, path)
		l := wire.CompatFiles{CompatFile: wire.CompatFile{Path: path}}
		refused := map[string]error{"read": reading, "exists": looking,
			"list":  (localFiles{}).list(ctx, &l, true, true),
			"write": (localFiles{}).write(ctx, path, nil), "mkdir": (localFiles{}).mkdir(ctx, path, true)}
		if !slices.Contains(links, path) {
			refused["rename"] = (localFiles{}).rename(ctx, path, "/proc/nothing")
			refused["move"] = (localFiles{}).rename(ctx, "/proc/nothing", path)
		}
		if !slices.Contains(links, path) && !strings.HasPrefix(path, "/dev/") { // root would miss it
			refused["remove"] = (localFiles{}).remove(ctx, path)
		}
		for what, err := range refused {
			if !errors.Is(err, errProcess) {
				t.Errorf("%s %s: %v", what, path, err)
			}
		}
	}
	if now, err := os.Stat(secret); err != nil || now.Size() != int64(len(secret)) {
		t.Errorf("the file behind root is changed: %v", err)
	}
	if err := (localFiles{}).rename(ctx, dir+"/self", dir+"/other"); err != nil {
		t.Error(err)
	}
	if err := (localFiles{}).remove(ctx, dir+"/other"); err != nil {
		t.Error(err)
	}
	l := wire.CompatFiles{CompatFile: wire.CompatFile{Path: "/proc"}}
	if err := (localFiles{}).list(ctx, &l, true, true); err != nil || len(l.Files) == 0 {
		t.Errorf("list /proc: %d, %v", len(l.Files), err)
	}
	for _, f := range l.Files {
		if strings.HasPrefix(f.AbsolutePath, own+"/") {
			t.Fatalf("/proc has %s", f.AbsolutePath)
		}
	}
	if p, err := (localFiles{}).read(ctx, "/proc/sys/kernel/ostype"); err != nil || string(p) != "Linux\n" {
		t.Errorf("%q, %v", p, err)
	}
	if _, err := (localFiles{}).read(ctx, dir+"/loop"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
	if err := fileError(errProcess); !strings.Contains(err.Error(), "processes") {
		t.Error(err)
	}
}
