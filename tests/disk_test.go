package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// volume is a file system of its own for a data directory, seen by the server and
// its children only: it goes away with them.
type volume struct {
	t      *testing.T
	dir    string
	mounts string // shell commands that make it
}

// smallDisk is a tmpfs of that size.
func smallDisk(t *testing.T, size string) *volume {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	return newVolume(t, dir, "mount -t tmpfs -o size="+size+",mode=700 tmpfs "+dir)
}

// failingDisk is an ext2 on a loop device whose file is sparse, on a tmpfs too
// small for it: write(2) succeeds, and what does not fit fails later, in fsync(2),
// as on a broken disk.
func failingDisk(t *testing.T, size string) *volume {
	t.Helper()
	top := t.TempDir()
	dir, below := filepath.Join(top, "data"), filepath.Join(top, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	return newVolume(t, dir, strings.Join([]string{"mount -t tmpfs -o size=" + size + " tmpfs " + below,
		"truncate -s 256M " + below + "/image", "mke2fs -q -F -t ext2 " + below + "/image", "mount -o loop " + below +
			"/image " + dir, "chmod 700 " + dir}, " && "))
}

func newVolume(t *testing.T, dir, mounts string) *volume {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	v := &volume{t, dir, mounts}
	if out, err := exec.Command("unshare", "--mount", "sh", "-c", mounts).CombinedOutput(); err != nil {
		t.Skipf("file systems cannot be mounted here: %v: %s", err, out)
	}
	return v
}

// launch is a server with its data on the volume.
func (v *volume) launch(flags ...string) launch {
	return launch{dir: v.dir, listen: freePort(v.t), flags: flags, errors: true,
		shell: "exec unshare --mount sh -c '" + v.mounts + ` && exec "$0" "$@"' "$0" "$@"`}
}

// inside carries out a command where the server is.
func (v *volume) inside(pid int, command string) {
	v.t.Helper()
	if out, err := exec.Command("nsenter", "-t", fmt.Sprint(pid), "-m", "sh", "-c",
		command).CombinedOutput(); err != nil {
		v.t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// degraded waits until the server says that output can be lost, with all the words.
func (s *server) degraded(words ...string) {
	s.t.Helper()
	s.complains(func(h wire.Health) bool { return !*h.Lossless }, words...)
}

// complains waits until the server is degraded, its reasons have all words and more holds.
func (s *server) complains(more func(wire.Health) bool, words ...string) {
	s.t.Helper()
	var health wire.Health
	if !polling.Until(patience, func() bool {
		s.get("/healthz").wants(200).into(&health)
		reasons := strings.Join(health.Reasons, "\n")
		for _, w := range words {
			if !strings.Contains(reasons, w) {
				return false
			}
		}
		return health.Status == "degraded" && more(health)
	}) {
		s.t.Fatalf("the server does not say %q: %+v\n%s", words, health, s.stderr)
	}
}

// watchFlood follows a flood from now on; the result tells of the first wrong byte.
func (f *numbered) watchFlood() (w *follower, more func(bytes uint64)) {
	f.s.t.Helper()
	v := f.s.watch(wsBinary, f.id)
	w = &follower{f: f}
	f.s.must(w.take(v.first))
	return w, func(bytes uint64) {
		f.s.t.Helper()
		for end := w.seq + bytes; w.seq < end; {
			e, err := v.events.Next()
			f.s.must(err)
			f.s.must(w.take(e))
		}
	}
}

// TestAFullDisk: programs and viewers go on, exactly; the server says so, and is
// well again when there is space.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "3m")
	s := start(t, disk.launch("--snapshot-interval", "100ms"))
	quiet := s.still()
	s.lossless()
	f := s.numbered("plain")
	_, more := f.watchFlood()
	more(4 << 20)
	s.degraded("disk is full")
	more(2 << 20)
	s.checkStill(quiet)
	fresh := s.post("/session/test/pty", `{"cmd":["cat"]}`)
	if fresh.status != 201 && fresh.status != 503 && fresh.status != 507 {
		t.Errorf("a new terminal: %d %s", fresh.status, fresh.body)
	}
	disk.inside(s.pid(), "mount -o remount,size=512m "+disk.dir)
	s.lossless()
	well := s.info(f.id).Seq
	more(2 << 20)
	eventually(t, "more output", func() bool { return s.info(f.id).Seq > well+1<<20 })
	seq := f.quiet()
	f.checkScreen(seq)
	raw, want := string(s.raw(f.id)), string(f.kind.output(well, seq))
	if uint64(len(raw)) > seq || !strings.HasSuffix(raw, want) {
		t.Errorf("of %d bytes the recording has %d; what came since %d, when there was space again, is not its end",
			seq, len(raw), well)
	}
	s.how.shell = fmt.Sprintf(`exec nsenter -t %d -m "$0" "$@"`, s.keeperPID())
	s.kill()
	s.again()
	f.checkScreen(seq)
	s.checkStill(quiet)
	s.input(f.id, "\n")
	if exit := s.exit(f.id); *exit.Code != 5 {
		t.Errorf("%+v", exit)
	}
}

// TestAKillOnAFullDisk: what was never written cannot come back, but the server
// starts, and the program and its next output are there.
func TestAKillOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "2m")
	s := start(t, disk.launch("--snapshot-interval", "100ms"))
	f := s.numbered("plain")
	shell := s.shell()
	_, more := f.watchFlood()
	more(3 << 20)
	s.degraded("disk is full")
	f.quiet()
	s.how.shell = fmt.Sprintf(`exec nsenter -t %d -m "$0" "$@"`, s.keeperPID())
	s.kill()
	s.again()
	if i := s.info(f.id); i.State != "running" || i.PID != f.pid {
		t.Errorf("%+v", i)
	}
	s.input(shell.ID, "echo 'alive' still\n")
	s.await(shell.ID, "^alive still$")
	s.complains(func(wire.Health) bool { return true }, "disk is full") // for so few bytes there may be room
	s.input(f.id, "\n")
	if exit := s.exit(f.id); *exit.Code != 5 {
		t.Errorf("%+v", exit)
	}
	disk.inside(s.pid(), "mount -o remount,size=512m "+disk.dir)
	s.lossless() // what could not be written is written now, and the keeper may forget the program
}

// TestADiskThatFails: fsync returns an error. Programs and viewers go on; the
// server says so.
func TestADiskThatFails(t *testing.T) {
	t.Parallel()
	for _, sync := range []string{"interval", "always"} {
		t.Run(sync, func(t *testing.T) {
			t.Parallel()
			disk := failingDisk(t, "6m")
			s := start(t, disk.launch("--snapshot-interval", "100ms", "--sync", sync))
			quiet := s.still()
			f := s.numbered("plain")
			_, more := f.watchFlood()
			more(8 << 20)
			s.degraded()
			more(2 << 20)
			s.checkStill(quiet)
			f.checkScreen(0)
			disk.inside(s.pid(), "mount -o remount,size=1g "+filepath.Join(filepath.Dir(disk.dir), "below"))
			s.lossless()
			more(1 << 20)
			f.checkScreen(f.quiet())
			s.input(f.id, "\n")
			if exit := s.exit(f.id); *exit.Code != 5 {
				t.Errorf("%+v", exit)
			}
		})
	}
}

// TestTheMonotonicClockJumps: a server after a reboot of the machine or a move to
// another one counts from elsewhere. No time may come out wrong.
func TestTheMonotonicClockJumps(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--time", "--monotonic", "1000000", "true").CombinedOutput(); err != nil {
		t.Skipf("no time namespaces here: %v: %s", err, out)
	}
	s := start(t, launch{listen: freePort(t), flags: append([]string{"--pty-idle", "1h"}, often...)})
	id := s.shell().ID
	pid := s.info(id).PID
	for i, shell := range []string{`exec unshare --time --monotonic 100000000 --boottime 100000000 "$0" "$@"`, "",
		`exec unshare --time --monotonic 5000 --boottime 5000 "$0" "$@"`} {
		s.input(id, fmt.Sprintf("echo 'jump' %d\n", i))
		s.await(id, fmt.Sprintf("^jump %d$", i))
		s.kill()
		s.how.shell = shell
		s.again()
		is := s.info(id)
		if is.State != "running" || is.PID != pid || is.LastOutputAt.Before(is.CreatedAt) ||
			is.LastActivityAt.Before(is.CreatedAt) {
			t.Errorf("after jump %d: %+v", i, is)
		}
		s.castTimes(id)
	}
}

// castTimes checks the times of a recording: none is negative, none beyond the
// test's own life.
func (s *server) castTimes(id string) {
	s.t.Helper()
	for _, format := range []string{"asciicast-v3", "asciicast-v2"} {
		body := s.get("/pty/" + id + "/recording?format=" + format).wants(200).body
		last := 0.0
		for n, line := range strings.Split(strings.TrimSpace(body), "\n") {
			if n == 0 || strings.HasPrefix(line, "#") {
				continue
			}
			var event []any
			s.must(json.Unmarshal([]byte(line), &event))
			at, ok := event[0].(float64)
			if !ok || at < 0 || format == "asciicast-v2" && at < last || at > 4*patience.Seconds() {
				s.t.Errorf("%s: line %d has the time %v after %v", format, n, event[0], last)
			}
			last = at
		}
	}
}

// TestJunkInTheDataDirectory: what is found in place of the small files of the data
// directory does not keep a server from starting, nor programs from being found.
func TestJunkInTheDataDirectory(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: often, errors: true})
	id := s.shell()
	for _, name := range []string{"server.json", "lock", "keeper.lock", "keeper.log"} {
		for _, junk := range []string{"", "junk\n", "999999999\n", "-1", "\x00\xff{"} {
			s.kill()
			s.must(os.WriteFile(s.file(name), []byte(junk), 0o600))
			s.again()
			if i := s.info(id.ID); i.State != "running" || i.PID != id.PID {
				t.Fatalf("with %q in %s: %+v", junk, name, i)
			}
		}
	}
	s.kill()
	s.must(errors.Join(os.WriteFile(s.file("terminals", "a file"), []byte("junk"), 0o600),
		os.Mkdir(s.file("terminals", "BAD ID"), 0o700),
		os.Mkdir(s.file("terminals", "empty"), 0o700),
		os.WriteFile(s.file("terminals", id.ID, "notes"), []byte("junk"), 0o600),
		os.WriteFile(s.file("terminals", id.ID, "data.junk"), []byte("junk"),
			0o600), os.WriteFile(s.file("terminals", id.ID, "screen.junk"), []byte("junk"), 0o600)))
	s.again()
	s.input(id.ID, "echo 'still' here\n")
	s.await(id.ID, "^still here$")
}
