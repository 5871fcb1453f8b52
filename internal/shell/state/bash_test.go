package state

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/proctree"
)

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// realBash is one bash as the launcher starts it, for tests of what runs in it.
type realBash struct {
	t   testing.TB
	dir string
	in  *os.File
	cmd *exec.Cmd
}

// startBash starts a bash with an environment and a shell directory.
func startBash(t testing.TB, dir string, env []string) *realBash {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	inheritNothing(t)
	cmd := exec.Command("bash", "--noprofile", "--norc", "-i")
	cmd.Dir = dir
	cmd.Env = env
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &realBash{t: t, dir: dir, in: w, cmd: cmd}
	t.Cleanup(b.end)
	b.raw("PS1= PS2=; set +H +o history\n")
	return b
}

// inheritNothing keeps what this process was started with from the shells, which would take it for theirs.
func inheritNothing(t testing.TB) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC) // one may be closed by now
		}
	}
}

// end ends the bash and what it left.
func (b *realBash) end() {
	_ = b.in.Close()
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	_ = b.cmd.Wait()
}

// raw writes a control line and waits until the next one has run.
func (b *realBash) raw(line string) {
	b.t.Helper()
	code := b.status(line)
	if code < 0 {
		b.t.Fatalf("the shell never came back from %.200q", line)
	}
}

// status is raw with the status.
func (b *realBash) status(line string) int {
	b.t.Helper()
	status := filepath.Join(b.dir, "rc.")
	if _, err := b.in.WriteString(line + ">|" + QuoteASCII(status) + "\"$?\"\n"); err != nil {
		b.t.Fatal(err)
	}
	tick, limit := time.NewTicker(100*time.Microsecond), time.After(patience)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-limit:
			return -1
		}
		list, err := filepath.Glob(status + "*")
		if err != nil || len(list) == 0 {
			continue
		}
		if err := os.Remove(list[0]); err != nil {
			b.t.Fatal(err)
		}
		code, err := strconv.Atoi(strings.TrimPrefix(list[0], status))
		if err != nil {
			b.t.Fatal(err)
		}
		return code
	}
}

// run runs a command as the shell does and returns what it printed, both outputs together.
func (b *realBash) run(text string) string {
	b.t.Helper()
	file, out := filepath.Join(b.dir, "cmd"), filepath.Join(b.dir, "out")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.raw("{ \\. " + QuoteASCII(file) + "\n} </dev/null >|" + QuoteASCII(out) + " 2>&1\n>/dev/null" + JobsWord(b.dir) +
		"\n")
	got, err := os.ReadFile(out)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(got)
}

// capture runs the capture and adopts what it found.
func (b *realBash) capture() *Snapshot {
	b.t.Helper()
	b.raw(CaptureLine(b.dir))
	i, err := Adopt(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

// again starts a new bash from an image.
func (b *realBash) again(i *Snapshot, first []string) *realBash {
	b.t.Helper()
	env, _, err := i.WriteRestore(b.dir, first)
	if err != nil {
		b.t.Fatal(err)
	}
	next := startBash(b.t, b.dir, env)
	next.raw(". " + QuoteASCII(filepath.Join(b.dir, RestoreFile)) + " >/dev/null 2>|" + QuoteASCII(filepath.Join(b.dir,
		"complaints")) + "\n")
	return next
}

// complaints are what the restore printed.
func (b *realBash) complaints() string {
	text, err := os.ReadFile(filepath.Join(b.dir, "complaints"))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// firstEnv is the environment of the tests' first starts.
func firstEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "LC_ALL=C.UTF-8", "OLD=1", "GONE=1", proctree.TagVariable +
		"=x",
		"odd-name=kept"}
}

// newBash starts a first bash in a directory whose name needs quoting.
func newBash(t testing.TB) *realBash {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's a dir")
	if err := os.Mkdir(dir, fs.FileMode(0o700)); err != nil {
		t.Fatal(err)
	}
	if err := WriteScript(dir); err != nil {
		t.Fatal(err)
	}
	return startBash(t, dir, firstEnv())
}
