package tests

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// file is the path of a file of the data directory.
func (s *server) file(name ...string) string {
	return filepath.Join(append([]string{s.how.dir}, name...)...)
}

// keeperPID is the number of the process that holds the programs, 0 when there is
// none. It is found by what it is, for a test may have spoiled its files.
func (s *server) keeperPID() int {
	for _, p := range marked(s.mark) {
		number, line, _ := strings.Cut(p, ":")
		if strings.Contains(line, " keeper ") && strings.Contains(line, s.how.dir) {
			pid, err := strconv.Atoi(number)
			s.must(err)
			return pid
		}
	}
	return 0
}

// keeperLog is what the keeper said.
func (s *server) keeperLog() string {
	b, _ := os.ReadFile(s.file("keeper.log"))
	return string(b)
}

// killKeeper ends the keeper with SIGKILL and waits until it is gone.
func (s *server) killKeeper() {
	s.t.Helper()
	pid := s.keeperPID()
	if pid == 0 {
		s.t.Fatal("there is no keeper")
	}
	s.must(syscall.Kill(pid, syscall.SIGKILL))
	eventually(s.t, "the keeper is gone", func() bool { return !alive(pid) })
}

// reboot ends everything at once, as a power cut does: server, keeper, programs.
func (s *server) reboot() {
	s.t.Helper()
	if s.running() {
		s.kill()
	}
	eventually(s.t, "everything is gone", func() bool { killMarked(s.mark); return len(marked(s.mark)) == 0 })
}

// newKeeper waits until another keeper than that is there.
func (s *server) newKeeper(than int) {
	s.t.Helper()
	eventually(s.t, "there is a new keeper", func() bool {
		pid := s.keeperPID()
		return pid != 0 && pid != than
	})
	s.lossless()
}

// lossless waits until the server says that it is well.
func (s *server) lossless() {
	s.t.Helper()
	var health wire.Health
	if !polling.Until(patience, func() bool {
		s.get("/healthz").wants(200).into(&health)
		return health.Status == "ok" && *health.Lossless
	}) {
		s.t.Fatalf("the server is not well: %+v", health)
	}
}

// TestTheKeeperDies: kill -9 of the keeper alone. Programs go on, a new keeper
// holds them, and how they end is known.
func TestTheKeeperDies(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: longJournal, errors: true})
	f := s.numbered("styled")
	quiet := s.still()
	shell := s.shell()
	failing := s.create("bash", "-c", "echo soon; read; exit 7").ID
	hit := s.create("bash", "-c", "echo $$; read").ID
	hitPID := s.info(hit).PID
	s.await(failing, "^soon$")
	for round := range 3 {
		old := s.keeperPID()
		s.killKeeper()
		f.checkScreen(0) // terminals work without a keeper
		s.newKeeper(old)
		s.checkStill(quiet)
		if i := s.info(f.id); i.State != "running" || i.PID != f.pid || !alive(f.pid) {
			t.Fatalf("round %d: %+v", round, i)
		}
		s.input(shell.ID, fmt.Sprintf("echo 'round' %d\n", round))
		s.await(shell.ID, fmt.Sprintf("^round %d$", round))
		fresh := s.create("bash", "-c", "exit 4").ID
		if exit := s.exit(fresh); exit.Code == nil || *exit.Code != 4 {
			t.Errorf("a program of the new keeper: %+v", exit)
		}
	}
	// Nobody of ours is the parent of these; the kernel knows.
	s.input(failing, "\n")
	s.honest(s.exit(failing), 7, "")
	s.must(syscall.Kill(hitPID, syscall.SIGKILL))
	s.honest(s.exit(hit), 137, "KILL")
	s.kill()
	s.again() // from the new keeper
	s.checkStill(quiet)
	f.checkScreen(0)
	f.checkRecording()
	if i := s.info(shell.ID); i.State != "running" || i.PID != shell.PID {
		t.Errorf("%+v", i)
	}
	s.input(quiet.id, "\n")
	s.honest(s.exit(quiet.id), 3, "")
	f.quiet()
	if end, seq := f.checkRecording(), s.info(f.id).Seq; end != seq {
		t.Errorf("the recording ends at %d of %d", end, seq)
	}
}

// honest checks an exit that nobody may have been told of: it is true or said to
// be unknown, never a wrong code.
func (s *server) honest(exit *wire.Exit, code int, signal string) {
	s.t.Helper()
	switch {
	case exit == nil:
		s.t.Error("no exit")
	case exit.Code == nil && exit.Reason == "lost" && !kernelKeepsExits(s.t):
	case exit.Code == nil || *exit.Code != code || !strings.HasSuffix(exit.Signal, signal) || signal == "" &&
		exit.Signal != "":
		s.t.Errorf("the exit is %+v, want code %d signal %q", exit, code, signal)
	}
}

// kernelKeepsExits reports whether a pidfd tells how a process ended that somebody
// else reaped (PIDFD_GET_INFO with PIDFD_INFO_EXIT, Linux 6.15).
func kernelKeepsExits(t testing.TB) bool {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	var major, minor int
	_, _ = fmt.Sscanf(string(b), "%d.%d", &major, &minor)
	return major > 6 || major == 6 && minor >= 15
}

// TestBothDie: kill -9 of server and keeper. The programs lose their terminal and
// end; the terminals come back lost, with everything that had reached the server.
func TestBothDie(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"server", "keeper"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t), flags: longJournal, errors: true})
			f := s.numbered("styled")
			full := s.create("bash", "-c", `printf '\e[?1049h\e[?1002;1006h\e[?25l\e[?2004hfull screen'; read -r`).ID
			s.await(full, "full screen")
			v := s.watch(wsBinary, f.id)
			v.blind = true
			v.until("output", func() bool { return v.seq > 4<<20 })
			keeper := s.keeperPID()
			if first == "server" {
				s.kill()
				s.must(syscall.Kill(keeper, syscall.SIGKILL))
			} else { // the server has no time to start another
				s.must(errors.Join(syscall.Kill(keeper, syscall.SIGKILL), s.cmd.Process.Kill()))
				<-s.exited
			}
			eventually(t, "the programs are gone", func() bool { return !alive(f.pid) })
			eventually(t, "nothing is left", func() bool { return len(marked(s.mark)) == 0 })
			s.again()
			i := s.info(f.id)
			if i.State != "lost" || i.Exit == nil || i.Exit.Code != nil || i.Exit.Signal != "" ||
				i.Exit.Reason != "lost" || i.PID != 0 || i.Seq < v.seq {
				t.Errorf("seen was %d: %+v %+v", v.seq, i, i.Exit)
			}
			f.checkScreen(v.seq)
			if end := f.checkRecording(); end != i.Seq {
				t.Errorf("the recording ends at %d, the terminal at %d", end, i.Seq)
			}
			s.lostIsHarmless(full)
			for _, id := range []string{f.id, full} {
				if damage := s.damage(id); damage != "" {
					t.Errorf("damage: %s", damage)
				}
			}
			s.lossless()
			if exit := s.exit(s.create("bash", "-c", "exit 6").ID); exit.Code == nil || *exit.Code != 6 {
				t.Errorf("a new program: %+v", exit)
			}
		})
	}
}

// buildRelease builds the binary under another version, beside the one under test.
func buildRelease(t *testing.T, version string) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(binary), "evertty-"+version)
	building.Lock()
	defer building.Unlock()
	if _, err := os.Stat(file); err == nil {
		return file
	}
	c := exec.Command("go", "build", "-ldflags", "-X main.release="+version, "-o", file, "./cmd/evertty")
	c.Dir = ".."
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return file
}

// building is held while a binary is built: several tests want the same.
var building sync.Mutex

// TestTortureUpgrades: a newer binary is started on the same data directory. The
// keeper becomes it by execve; nothing dies, nothing is lost.
func TestTortureUpgrades(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: longJournal})
	releases := []string{buildRelease(t, "v9.0.1"), buildRelease(t, "v9.0.2")}
	f := s.numbered("plain")
	quiet := s.still()
	upgrades, terminals := times(3, 20), times(10, 200)
	pids := map[string]int{}
	for len(pids) < terminals {
		i := s.create("cat")
		pids[i.ID] = i.PID
	}
	keeper := s.keeperPID()
	var slowest time.Duration
	for round := range upgrades {
		begin := time.Now()
		if round%2 == 0 {
			s.stop()
		} else {
			s.kill()
		}
		s.how.binary = releases[round%2]
		s.again()
		slowest = max(slowest, time.Since(begin))
		if pid := s.keeperPID(); pid != keeper {
			t.Fatalf("round %d: the keeper was %d and is %d\n%s", round, keeper, pid, s.keeperLog())
		}
		eventually(t, "the keeper runs the new binary", func() bool {
			exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", keeper))
			return err == nil && exe == s.how.binary
		})
		s.checkStill(quiet)
		f.checkScreen(f.checked)
		f.checkRecording()
		list, err := s.List(s.ctx(), "")
		s.must(err)
		if len(list) != terminals+2 {
			t.Errorf("round %d: %d terminals", round, len(list))
		}
		for _, i := range list {
			if pid, ok := pids[i.ID]; ok && (i.State != "running" || i.PID != pid || !alive(pid)) {
				t.Errorf("round %d: %d: %+v", round, pid, i)
			}
		}
		for id := range pids { // one of them, by chance
			s.input(id, fmt.Sprintf("round %d\n", round))
			s.await(id, fmt.Sprintf("^round %d$", round))
			break
		}
		if t.Failed() {
			return
		}
	}
	fds, rss := len(openFiles(keeper)), status(t, keeper, "VmRSS")
	s.input(quiet.id, "\n")
	s.honest(s.exit(quiet.id), 3, "")
	s.checkEndOfFlood(f)
	figure(t, "%d upgrades with %d terminals and a flood: keeper %d kept its number, "+
		"0 programs dead, 0 bytes lost; slowest %v from SIGTERM to ready; keeper: %d kB, %d descriptors",
		upgrades, terminals+2, keeper, slowest.Round(time.Millisecond), rss, fds)
}

// TestExitsWhileNoServerRuns: the keeper remembers how programs ended.
func TestExitsWhileNoServerRuns(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"SIGTERM", "SIGKILL"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t)})
			dir := t.TempDir()
			waiting := func(name, then string) client.Terminal {
				s.must(syscall.Mkfifo(filepath.Join(dir, name), 0o600))
				return s.createWith(wire.CreateTerminal{Cwd: dir, Cols: new(80), Rows: new(24),
					Cmd: []string{"bash", "-c", "echo waiting; read < " + name + "; echo last words; " + then}})
			}
			failing, hit, good := waiting("failing", "exit 7"), waiting("hit", "kill -KILL $$"),
				waiting("good", "seq 1000")
			all := []client.Terminal{failing, hit, good}
			for _, i := range all {
				s.await(i.ID, "^waiting$")
			}
			if by == "SIGTERM" {
				s.stop()
			} else {
				s.kill()
			}
			for _, i := range all {
				if !alive(i.PID) {
					t.Fatalf("%v died with the server", i.Cmd)
				}
			}
			for _, name := range []string{"failing", "hit", "good"} {
				s.must(os.WriteFile(filepath.Join(dir, name), []byte("go\n"), 0)) // waits for its reader
			}
			for _, i := range all {
				eventually(t, "the program has ended", func() bool { return !alive(i.PID) })
			}
			for range 2 { // still so for the next server
				s.again()
				for id, want := range map[string]string{failing.ID: "7  exit", hit.ID: "137 KILL signal",
					good.ID: "0  exit"} {
					exit := s.exit(id)
					if exit.Code == nil {
						t.Errorf("%+v, want %s", exit, want)
					} else if got := fmt.Sprintf("%d %s %s", *exit.Code, strings.TrimPrefix(exit.Signal, "SIG"),
						exit.Reason); got != want {
						t.Errorf("the exit is %q, want %q", got, want)
					}
					if i := s.info(id); i.State != "exited" {
						t.Errorf("%+v", i)
					}
				}
				for _, i := range all {
					if text := s.text(i.ID); !strings.HasPrefix(text, "waiting\nlast words\n") {
						t.Errorf("%v shows\n%s", i.Cmd, text)
					}
				}
				if raw := string(s.raw(good.ID)); !strings.HasSuffix(raw, "\r\n999\r\n1000\r\n") ||
					strings.Count(raw, "\n") != 1002 {
					t.Errorf("the recording: %q", raw)
				}
				s.stop()
			}
		})
	}
}

// TestFloodWhileNoServerRuns: a program that nobody reads waits in write, and goes
// on when a server is back; nothing is lost.
func TestFloodWhileNoServerRuns(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: longJournal})
	f := s.numbered("styled")
	eventually(t, "the flood runs", func() bool { return s.info(f.id).Seq > 1<<20 })
	s.stop()
	var stands uint64
	same := 0
	eventually(t, "the program waits", func() bool {
		n := written(t, f.pid)
		if n == stands {
			same++
		} else {
			stands, same = n, 0
		}
		return same == 20
	})
	s.again()
	f.checkScreen(0)
	eventually(t, "the program goes on", func() bool { return written(t, f.pid) > stands+1<<20 })
	f.checkRecording()
	s.checkEndOfFlood(f)
}

// TestAKeeperWithoutWorkEnds: it holds nothing and nobody asks for it.
func TestAKeeperWithoutWorkEnds(t *testing.T) {
	t.Parallel()
	const idle = time.Second
	s := start(t, launch{listen: freePort(t), env: []string{"EVERTTY_KEEPER_IDLE=" + idle.String()}})
	eventually(t, "there is a keeper", func() bool { return s.keeperPID() != 0 })
	keeper := s.keeperPID()
	s.exit(s.create("true").ID)
	s.stop()
	eventually(t, "it has ended", func() bool { return !alive(keeper) })
	s.again()
	id := s.shell().ID
	second := s.keeperPID()
	s.stop()
	instant(2 * idle) // that nothing happens can only be seen after the time
	if !alive(second) {
		t.Error("the keeper ended although it holds a program")
	}
	s.again()
	s.input(id, "echo 'still' here\n")
	s.await(id, "^still here$")
}

// TestTheKeepersFiles: nobody else can talk to it or read what it says.
func TestTheKeepersFiles(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.shell()
	for _, name := range []string{"keeper.sock", "keeper.lock", "keeper.log"} {
		i, err := os.Stat(s.file(name))
		s.must(err)
		if i.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", name, i.Mode().Perm())
		}
	}
	if got, want := strings.TrimSpace(string(s.readFile("keeper.lock"))), fmt.Sprint(s.keeperPID()); got != want {
		t.Errorf("keeper.lock says %q, the keeper is process %s", got, want)
	}
}
