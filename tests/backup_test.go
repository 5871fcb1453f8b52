package tests

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/client"
)

// kept are the names at the top of a data directory that a backup has; the others it leaves out, see
// docs/operate/backup.md.
var (
	kept    = []string{"evertty.db", "permissions.json", "providers", "shells", "terminals", "threads"}
	leftOut = []string{"audit.log", "audit.refused.log", "evertty.db-shm", "evertty.db-wal", "identity", "keeper.lock",
		"keeper.log", "keeper.sock", "lock", "relay", "reserve", "server.json", "server.sock", "shares",
		"ssh_host_ed25519_key", "tickets", "token", "tries", "authorized_keys"}
)

// countsLines prints numbers without end, a line each.
const countsLines = `i=0; while :; do i=$((i+1)); echo "line $i."; done`

// TestBackupWhileItRuns: the new directory has terminals with their output, shells and threads as they were, nothing
// of it is damaged, and the first server goes on. Two backups at a time are two backups.
func TestBackupWhileItRuns(t *testing.T) {
	t.Parallel()
	first := start(t, launch{auth: "token", listen: freePort(t), flags: []string{"--ssh", "127.0.0.1:0"}})
	first.must(os.WriteFile(first.file("authorized_keys"), nil, 0o600))
	quiet := first.create("sh", "-c", "echo 'still he're; exec cat")
	first.await(quiet.ID, "^still here$")
	loud := first.create("sh", "-c", countsLines)
	first.await(loud.ID, "^line [0-9]{3,}.$")
	w := first.in("work")
	w.run("cd /usr; export KEPT=value; echo of the shell")
	owner := first.made("topic", `{}`)
	before := owner.record()
	file := filepath.Join(t.TempDir(), "backup")
	twice := make(chan ended, 1)
	go func() { twice <- run(t, first.cli("backup", file+"-2")) }()
	if said := first.says("backup", file); !strings.Contains(said, "terminals 2, shells 1") {
		t.Errorf("it said %q", said)
	}
	if out := <-twice; out.code != 0 {
		t.Errorf("the other one: %+v", out)
	}
	for _, name := range []string{file, file + "-2"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	decided(t, first.how.dir)
	pids := []int{first.info(quiet.ID).PID, first.info(loud.ID).PID}

	at := filepath.Join(t.TempDir(), "second")
	first.says("restore", file, "--data-dir", at)
	if out := run(t, first.command("restore", file, "--data-dir", at)); out.code != 1 ||
		!strings.Contains(out.stderr, "not empty") {
		t.Errorf("into what is there: %+v", out)
	}
	second := start(t, launch{dir: at, auth: "token", listen: freePort(t)})
	list, err := second.List(second.ctx(), "")
	second.must(err)
	for _, i := range list {
		if i.State != "lost" {
			t.Errorf("%s is %s", i.ID, i.State)
		}
	}
	if text := second.text(quiet.ID); len(list) != 2 || !strings.Contains(text, "still here") {
		t.Errorf("%d terminals, of the quiet one: %s", len(list), text)
	}
	if first.token() == second.token() {
		t.Error("both have one token")
	}
	wholeLines(t, second, loud.ID)
	var health struct {
		Status  string
		Reasons []string
		Damaged int
	}
	second.get("/healthz").wants(200).into(&health)
	if health.Status != "ok" || health.Damaged != 0 {
		t.Errorf("the restored server: %+v", health)
	}
	second.in("work").run("echo $KEPT in $PWD").is(0, "value in /usr\n")
	if got := second.thread("topic").record(); !got.CreatedAt.Equal(before.CreatedAt) {
		t.Errorf("the thread is %+v, was %+v", got, before)
	}
	second.says("kill", "--all")
	live(t, "programs of the first server", pids...)
}

// wholeLines checks that what a program printed is there from its beginning, without a gap.
func wholeLines(t *testing.T, s *server, id string) {
	t.Helper()
	in, err := s.Recording(s.ctx(), id, client.RecordingRequest{Format: client.Raw})
	s.must(err)
	defer in.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(in)
	s.must(err)
	lines := strings.Split(b.String(), "\r\n")
	for n, l := range lines[:max(0, len(lines)-1)] {
		if want := "line " + strconv.Itoa(n+1) + "."; l != want {
			t.Fatalf("line %d of %d is %q", n+1, len(lines), l)
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d lines", len(lines))
	}
}

// filesIn are the entries of a directory.
func filesIn(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// decided checks that every name in a data directory is in a backup or was left out on purpose.
func decided(t *testing.T, dir string) {
	t.Helper()
	for _, e := range filesIn(t, dir) {
		if !slices.Contains(kept, e.Name()) && !slices.Contains(leftOut, e.Name()) {
			t.Errorf("%s: nobody has decided whether a backup has it", e.Name())
		}
	}
}

// TestBackupWithoutAServer: after kill -9 too; the directory can be used as before.
func TestBackupWithoutAServer(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("sh", "-c", "echo 'be'fore; exec cat").ID
	s.await(id, "^before$")
	file := filepath.Join(t.TempDir(), "backup")
	s.kill()
	if out := run(t, s.command("backup", file, "--data-dir", s.how.dir)); out.code != 0 {
		t.Errorf("%+v", out)
	}
	s.again()
	s.input(id, "after\n")
	s.await(id, "^after$")
	if out := run(t, s.command("backup", file, "--data-dir", filepath.Join(t.TempDir(), "none"))); out.code != 1 ||
		!strings.Contains(out.stderr, "no data directory") {
		t.Errorf("of nothing: %+v", out)
	}
	at := filepath.Join(t.TempDir(), "second")
	s.says("restore", file, "--data-dir", at)
	second := start(t, launch{dir: at, listen: freePort(t)})
	if text := second.text(id); !strings.Contains(text, "before") {
		t.Errorf("the screen is %q", text)
	}
}

// TestBackupOverTheNetwork: with the token it is the same, without one there is no file.
func TestBackupOverTheNetwork(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	file := filepath.Join(t.TempDir(), "backup")
	c := s.command("backup", file, "--server", s.url)
	c.Env = append(c.Env, "EVERTTY_TOKEN_FILE="+s.file("token"))
	if out := run(t, c); out.code != 0 {
		t.Errorf("over the network: %+v", out)
	}
	if out := run(t, s.command("backup", file+"-2", "--server", s.url)); out.code != 1 {
		t.Errorf("without a token: %+v", out)
	}
	if _, err := os.Stat(file + "-2"); err == nil {
		t.Error("a refused backup has left a file")
	}
}

// TestAKilledBackup leaves no file of its name; the next one takes away what it left.
func TestAKilledBackup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(dir, "terminals", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 64<<20) // bytes; long enough to be killed within
	_, _ = rand.Read(noise)
	if err := os.WriteFile(filepath.Join(dir, "terminals", "a", "data.0"), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	file := filepath.Join(top, "backup")
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(binary, append(args, "--data-dir", dir)...)
		c.Env = cleanEnv(t)
		return c
	}
	c := command("backup", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it writes", func() bool {
		list, _ := filepath.Glob(filepath.Join(top, ".backup.*"))
		return len(list) > 0 && sizeOf(list[0]) > 1<<20
	})
	_ = c.Process.Signal(syscall.SIGKILL)
	if err := c.Wait(); err == nil {
		t.Fatal("it was too fast")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("half a backup has the name of a whole one")
	}
	if out := run(t, command("backup", file)); out.code != 0 {
		t.Errorf("%+v", out)
	}
	if left := filesIn(t, top); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

// TestBackupOnAFullDisk: it says so, and leaves nothing.
func TestBackupOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("sh", "-c", "head -c 3000000 /dev/urandom | base64; exec cat").ID
	eventually(t, "all is printed", func() bool { return s.info(id).Seq > 3_000_000 })
	top := t.TempDir()
	s.how.shell = "ulimit -f 1000" // blocks of 512 or 1024 bytes
	out := run(t, s.command("backup", filepath.Join(top, "backup"), "--data-dir", s.how.dir))
	s.how.shell = ""
	if out.code != 1 || !strings.Contains(out.stderr, "no space left") {
		t.Errorf("%+v", out)
	}
	if left := filesIn(t, top); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}
