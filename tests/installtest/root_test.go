package installtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// suite is what debootstrap makes, with wget for the install script and nothing else.
	suite = "bookworm"
	// enough is how long anything here may take on a slow and busy machine.
	enough = 3 * time.Minute
	// fetching is how long debootstrap may take, which loads 90 packages.
	fetching = 20 * time.Minute
)

// root is a running Debian of its own: files, processes and terminals. It shares the network with this machine.
type root struct {
	t   *testing.T
	pid int // of its first process, as this machine sees it
}

// inside is the first process of a root: it mounts what a system has, says so and reaps what is left over. The files
// of $1 are not changed: what is written goes to $2. Terminals have their numbers from this machine, as the user's has.
const inside = `set -e
mount --make-rprivate /
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root" 2>/dev/null ||
	cp -a --reflink=auto "$1/." "$2/root"
mount -t proc proc "$2/root/proc"
mkdir -p "$2/root/dev/pts"
mount --bind /dev/pts "$2/root/dev/pts"
rm -f "$2/root/dev/ptmx"
mknod -m 666 "$2/root/dev/ptmx" c 5 2
cd "$2/root"
exec chroot . bash -c 'echo ready; while :; do sleep 1; done'
`

// newRoot starts a Debian that ends with the test.
func newRoot(t *testing.T) *root {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("makes a Debian")
	case os.Geteuid() != 0:
		t.Skip("needs root, for debootstrap and mount")
	}
	base := debian(t)
	c := exec.Command("sh", "-c", inside, "sh", base, scratchDir(t))
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	var said strings.Builder
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("this machine allows no namespaces: %v", err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // with all processes of the namespace
		_ = c.Wait()
	})
	line := make([]byte, len("ready\n"))
	if n, _ := out.Read(line); string(line[:n]) != "ready\n" {
		_ = c.Wait()
		t.Skipf("this machine allows no mounts: %s", said.String())
	}
	return &root{t, c.Process.Pid}
}

// scratchDir is a new directory for the files of a root. It is not t.TempDir, which would fail the test for what the
// kernel still holds when its namespace ends.
func scratchDir(t *testing.T) string {
	dir, err := os.MkdirTemp(scratch, "root-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// debian is a directory with a minimal Debian, which stays for the next run in this user's cache. The test is skipped
// where there is none and none can be made.
func debian(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = scratch
	}
	cache = filepath.Join(cache, "evertty-test")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, suite)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := repo("scripts/debootstrap.sh"); err != nil {
		t.Skip(err)
	}
	_ = os.RemoveAll(dir + ".new") // of a run that was killed
	ctx, cancel := context.WithTimeout(t.Context(), fetching)
	defer cancel()
	c := exec.CommandContext(ctx, "debootstrap", "--variant=minbase", "--include=wget", suite, dir+".new")
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("debootstrap, which loads packages from Debian's mirror: %v\n%s", err, out[max(0, len(out)-1000):])
	}
	for _, archive := range []string{"var/cache/apt/archives", "var/lib/apt/lists"} {
		_ = os.RemoveAll(filepath.Join(dir+".new", archive))
	}
	if err := os.Rename(dir+".new", dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// enter is a command in the root.
func (r *root) enter(name string, args ...string) *exec.Cmd {
	args = append([]string{"--target", strconv.Itoa(r.pid), "--mount", "--pid", "--root", "--wd", "--", name}, args...)
	c := exec.CommandContext(r.t.Context(), "nsenter", args...)
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=xterm",
		"DEBIAN_FRONTEND=noninteractive"}
	return c
}

// as runs a line of sh as a user with the user's environment and returns what it printed. It fails the test when the
// line fails.
func (r *root) as(user, line string) string {
	r.t.Helper()
	out, err := r.enter("su", "-", user, "-c", line).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %s: %v\n%s", user, line, err, out)
	}
	return string(out)
}

// put copies a file into the root.
func (r *root) put(from, to string) {
	r.t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		r.t.Fatal(err)
	}
	c := r.enter("sh", "-c", fmt.Sprintf("cat >%s && chmod 755 %[1]s", to))
	c.Stdin = strings.NewReader(string(b))
	if out, err := c.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", to, err, out)
	}
}
