package tests

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// printedDirs are the lines of a terminal's screen and history that are absolute paths.
func (s *server) printedDirs(id string) (dirs []string) {
	for _, line := range strings.Split(s.text(id), "\n") {
		if strings.HasPrefix(line, "/") {
			dirs = append(dirs, line)
		}
	}
	return dirs
}

// rowCwd is the directory of a terminal's row in the records of its thread.
func (s *server) rowCwd(session, id string) string {
	s.t.Helper()
	var rows struct {
		Terminals []struct {
			ID  string `json:"terminal_id"`
			Cwd string
		}
	}
	s.get("/api/threads/" + session + "/terminals").wants(200).into(&rows)
	for _, r := range rows.Terminals {
		if r.ID == id {
			return r.Cwd
		}
	}
	s.t.Errorf("thread %s has no terminal %s: %+v", session, id, rows)
	return ""
}

// TestTheDirectoryOfTheRequest: until a program was seen it is where the request said, however soon it
// ends, also for the next start, for the records of the thread and for the next server.
func TestTheDirectoryOfTheRequest(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	const tries = 40
	empty, elsewhere := 0, 0
	var last string
	for range tries {
		var made, again struct{ ID, Cwd string }
		s.post("/session/test/pty", `{"cmd":["/bin/pwd"],"cwd":"/usr"}`).wants(201).into(&made)
		if made.Cwd != "/usr" {
			empty++
		}
		s.exit(made.ID)
		s.post("/pty/"+made.ID+"/restart", `{}`).wants(200).into(&again)
		s.exit(made.ID)
		if dirs := s.printedDirs(made.ID); len(dirs) != 2 || dirs[1] != "/usr" || again.Cwd != "/usr" {
			elsewhere++
		}
		last = made.ID
	}
	if empty > 0 || elsewhere > 0 {
		t.Errorf("of %d terminals the reply to the creation had another directory in %d, the next start in %d", tries,
			empty, elsewhere)
	}
	if dir := s.rowCwd("test", last); dir != "/usr" {
		t.Errorf("the row of the thread says %q", dir)
	}
	s.kill()
	s.again()
	s.restart(last)
	s.exit(last)
	if dirs := s.printedDirs(last); len(dirs) != 3 || dirs[2] != "/usr" {
		t.Errorf("after a kill it ran in %q", dirs)
	}
}

// TestTheDirectoryOfALostTerminal: it is known from the start on, not from the first checkpoint.
func TestTheDirectoryOfALostTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), errors: true})
	var made struct{ ID string }
	s.post("/session/test/pty", `{"cmd":["sleep","1000"],"cwd":"/usr/bin"}`).wants(201).into(&made)
	keeper := s.keeperPID()
	s.kill()
	s.must(syscall.Kill(keeper, syscall.SIGKILL))
	eventually(t, "nothing is left", func() bool { return len(marked(s.mark)) == 0 })
	s.again()
	if i := s.info(made.ID); i.State != "lost" || i.Cwd != "/usr/bin" {
		t.Errorf("it is %s in %q", i.State, i.Cwd)
	}
}

// TestTheDirectoryIsGone: a start somewhere else says so, in the reply, in the info and after a restart of
// the server; a program that ends at once is no exception.
func TestTheDirectoryIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var made struct{ ID string }
	s.post("/session/test/pty", fmt.Sprintf(`{"cmd":["/bin/pwd"],"cwd":%q}`, dir)).wants(201).into(&made)
	id := made.ID
	s.exit(id)
	if err := os.RemoveAll(filepath.Join(top, "a")); err != nil {
		t.Fatal(err)
	}
	if i := s.restart(id); i.Cwd != top || i.CwdFallback != dir {
		t.Errorf("it started in %q instead of %q", i.Cwd, i.CwdFallback)
	}
	s.exit(id)
	s.kill()
	s.again()
	if i := s.info(id); i.Cwd != top || i.CwdFallback != dir {
		t.Errorf("the next server says it started in %q instead of %q", i.Cwd, i.CwdFallback)
	}
	if i := s.restart(id); i.Cwd != top || i.CwdFallback != "" {
		t.Errorf("the next one started in %q instead of %q", i.Cwd, i.CwdFallback)
	}
	s.exit(id)
	if dirs := s.printedDirs(id); len(dirs) != 3 || dirs[0] != dir || dirs[1] != top || dirs[2] != top {
		t.Errorf("it ran in %q", dirs)
	}
}

// TestTheDirectoryThatTheRecordsMissed: a server that is killed before it has written to the database where a
// program ended leaves it in the terminal's own file, and the next start is there.
func TestTheDirectoryThatTheRecordsMissed(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	id := s.create("bash", "-c", "pwd; cd /usr/bin; pwd; read; cd /usr/l?b; pwd; read").ID
	s.await(id, "/usr/bin")
	eventually(t, "the row has the first one", func() bool { return s.rowCwd("test", id) == "/usr/bin" })
	db, err := sql.Open("sqlite", s.file("evertty.db"))
	s.must(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN IMMEDIATE")
	s.must(err)
	s.input(id, "\r")
	s.await(id, "/usr/lib")
	s.info(id)
	s.input(id, "\r")
	s.exit(id)
	eventually(t, "its file has the last one", func() bool {
		b, err := os.ReadFile(s.file("terminals/" + id + "/meta"))
		return err == nil && bytes.Contains(b, []byte("/usr/lib"))
	})
	s.kill()
	_, err = db.Exec("ROLLBACK")
	s.must(err)
	s.again()
	if dir := s.rowCwd("test", id); dir != "/usr/lib" {
		t.Errorf("it ended in /usr/lib, and the row says %q", dir)
	}
	s.restart(id)
	s.await(id, `^/usr/lib\n(.*\n)*/usr/bin$`)
	if dirs := s.printedDirs(id); len(dirs) != 5 || dirs[3] != "/usr/lib" {
		t.Errorf("the programs were in %q", dirs)
	}
}

// TestTheDefaultDirectory is the home of the server's user; a relative one is relative to it.
func TestTheDefaultDirectory(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, launch{env: []string{"HOME=" + home}})
	for body, want := range map[string]string{`{"cmd":["/bin/pwd"]}`: home,
		`{"cmd":["/bin/pwd"],"cwd":"src"}`: filepath.Join(home, "src"), `{"cmd":["/bin/pwd"],"cwd":"."}`: home} {
		var made struct{ ID, Cwd string }
		s.post("/session/test/pty", body).wants(201).into(&made)
		s.exit(made.ID)
		if dirs := s.printedDirs(made.ID); made.Cwd != want || len(dirs) != 1 || dirs[0] != want {
			t.Errorf("%s: %q, and it ran in %q instead of %s", body, made.Cwd, dirs, want)
		}
	}
	s.post("/session/test/pty", `{"cmd":["/bin/pwd"],"cwd":"missing"}`).wants(400)
}

// hangingMount returns a directory on which every stat hangs until the test ends: a FUSE mount that
// nobody serves, as of a network file system whose server is gone.
func hangingMount(t *testing.T) string {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("needs /dev/fuse:", err)
	}
	dir := t.TempDir()
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd, os.Getuid(), os.Getgid())
	if err := unix.Mount("hangs", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		_ = unix.Close(fd)
		t.Skip("may not mount:", err)
	}
	t.Cleanup(func() {
		_ = unix.Close(fd) // whoever waits for it gets ENOTCONN now
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestADirectoryThatHangs: a program that reports a directory on a mount that hangs stops neither its
// own output nor its end, nor requests, nor other terminals.
func TestADirectoryThatHangs(t *testing.T) {
	dir := hangingMount(t)
	s := start(t, launch{})
	var made, other struct{ ID string }
	s.post("/session/test/pty", `{"cmd":["sh","-c","printf '\\033]7;file://%s\\007' `+dir+
		`/x; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; echo line $i; done; echo done; cat"]}`).wants(201).into(&made)
	s.post("/pty/"+made.ID+"/wait", `{"for":"text","pattern":"done","timeout_ms":10000}`).wants(200)
	s.get("/pty/" + made.ID).wants(200)
	s.post("/session/test/pty", `{"cmd":["echo","well"]}`).wants(201).into(&other)
	s.exit(other.ID)
	s.post("/pty/"+made.ID+"/input", `{"data":"\u0004"}`).wants(200)
	s.exit(made.ID)
}

// TestADirectoryOfAnotherHost: OSC 7 of a machine behind ssh is no directory of this one, whatever
// reads it: info, restart, meta and the next server. A snapshot keeps the host (RFC 8089).
func TestADirectoryOfAnotherHost(t *testing.T) {
	t.Parallel()
	self, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	reports := []struct{ osc, cwd, snapshot string }{
		{"7;file://other-host/usr", "/home", "file://other-host/usr"},
		{"7;file://localhost/usr", "/usr", "file://localhost/usr"},
		{"7;file:///usr/%6cib", "/usr/lib", "file:///usr/lib"},
		{"7;file://" + strings.ToUpper(self) + "/usr", "/usr", "file://" + strings.ToUpper(self) + "/usr"},
		{"7;file://127.0.0.1/usr", "/usr", "file://127.0.0.1/usr"},
		{"7;kitty-shell-cwd://other-host/usr", "/home", "file://other-host/usr"},
		{"7;kitty-shell-cwd://" + self + "/usr", "/usr", "file://" + self + "/usr"},
		{"1337;CurrentDir=/usr", "/usr", "file:///usr"},
		{"633;P;Cwd=/usr", "/usr", "file:///usr"},
		{"9;9;/usr", "/usr", "file:///usr"},
	}
	for _, engine := range []string{"native", "vt10x"} {
		t.Run(engine, func(t *testing.T) {
			s := start(t, launch{listen: freePort(t), flags: []string{"--engine", engine}})
			ids := make([]string, len(reports))
			// A report that the process has not followed lasts as long as its server.
			agree := func(when string, own bool) {
				for i, r := range reports {
					var shot struct{ Data string }
					s.get("/pty/" + ids[i] + "/snapshot").wants(200).into(&shot)
					_, said, _ := strings.Cut(shot.Data, "\x1b]7;")
					said, _, _ = strings.Cut(said, "\x1b\\")
					want := r.cwd
					if !own {
						want = "/home"
					}
					// The last known one is told while a report is checked for longer than 100 ms.
					eventually(t, when+", "+r.osc+": in "+want, func() bool { return s.info(ids[i]).Cwd == want })
					if said != r.snapshot {
						t.Errorf("%s, %s: the snapshot says %q, want %q", when, r.osc, said, r.snapshot)
					}
				}
			}
			for i, r := range reports {
				var made struct{ ID string }
				s.post("/session/test/pty", fmt.Sprintf(`{"cmd":["bash","-c",%q],"cwd":"/home"}`,
					fmt.Sprintf(`printf '\033]7;file:///home\a\033]%%s\a' '%s'; read x`, r.osc))).wants(201).into(&made)
				ids[i] = made.ID
				s.post("/pty/"+made.ID+"/wait", `{"for":"idle","idle_ms":100}`).wants(200)
			}
			agree("at once", true)
			for i, r := range reports {
				s.awaitRecord(ids[i], r.cwd)
			}
			s.kill()
			s.again()
			agree("after a restart of the server", false)
			for i, r := range reports {
				s.input(ids[i], "\n")
				s.exit(ids[i])
				if got := s.restart(ids[i]); got.Cwd != "/home" {
					t.Errorf("%s: the next program started in %q", r.osc, got.Cwd)
				}
			}
		})
	}
}

// recordTime is how long a directory may take to the disk: it is 3 s on a machine that does nothing
// else, and a snapshot every 60 s has it too.
const recordTime = 20 * time.Second

// awaitRecord waits until the record of a terminal on disk has a directory.
func (s *server) awaitRecord(id, dir string) {
	s.t.Helper()
	if !polling.Until(recordTime, func() bool {
		b, err := os.ReadFile(filepath.Join(s.how.dir, "terminals", id, "meta"))
		return err == nil && strings.Contains(string(b), fmt.Sprintf(`"cwd":%q,"cols"`, dir))
	}) {
		s.t.Errorf("the record of %s does not have %s", id, dir)
	}
}

// TestTheLastDirectoryIsOnDisk: a crash of the machine brings a shell back in the directory that it
// went to last, with and without output after that.
func TestTheLastDirectoryIsOnDisk(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), errors: true})
	typed := s.shell()
	s.input(typed.ID, "cd /tmp\n")
	silent := s.createWith(wire.CreateTerminal{Cwd: "/usr", Cmd: []string{"sh", "-c",
		"echo; cd /tmp; exec sleep 1000"}})
	for _, id := range []string{typed.ID, silent.ID} {
		s.awaitRecord(id, "/tmp")
	}
	keeper := s.keeperPID()
	s.kill()
	s.must(syscall.Kill(keeper, syscall.SIGKILL))
	eventually(t, "nothing is left", func() bool { return len(marked(s.mark)) == 0 })
	s.again()
	for _, id := range []string{typed.ID, silent.ID} {
		if i := s.restart(id); i.Cwd != "/tmp" {
			t.Errorf("it starts again in %q", i.Cwd)
		}
	}
}
