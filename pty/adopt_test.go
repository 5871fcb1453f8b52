package pty_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// reaperMode starts what it is told on descriptor 3, a socket, hands over terminal and pidfd, reaps, and tells of exits
// on descriptor 4. Orphans it does not reap.
func reaperMode() error {
	if err := proc.CloseInherited(); err != nil {
		return err
	}
	// As the keeper is: orphans of what it starts become its children.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	buf := make([]byte, 4<<10)
	for {
		n, err := unix.Read(3, buf)
		if n <= 0 {
			return err
		}
		if err := handOver(string(buf[:n])); err != nil {
			return err
		}
	}
}

// bare before a script runs it without a terminal.
const bare = "bare "

func handOver(script string) error {
	script, isBare := strings.CutPrefix(script, bare)
	plan, err := pty.Spec{Argv: []string{"bash", "-c", script}}.Plan()
	if err != nil {
		return err
	}
	m, tty, err := pty.OpenPair(80, 24)
	if err != nil {
		return err
	}
	defer m.Close()
	defer tty.Close()
	fd := int(tty.Fd())
	if isBare {
		if fd, err = unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		defer unix.Close(fd)
	}
	pid, pidfd, err := plan.Exec([3]int{fd, fd, fd}, !isBare)
	if err != nil {
		return err
	}
	defer unix.Close(pidfd)
	go func() {
		var status unix.WaitStatus
		if _, err := unix.Wait4(pid, &status, 0, nil); err == nil {
			_, _ = unix.Write(4, fmt.Appendf(nil, "%d %d\n", pid, uint32(status)))
		}
	}()
	var sent error
	if err := m.SyscallConn().Control(func(fd uintptr) {
		sent = unix.Sendmsg(3, []byte(strconv.Itoa(pid)), unix.UnixRights(int(fd), pidfd), nil, 0)
	}); err != nil {
		return err
	}
	return sent
}

// reaper is a process in reaperMode.
type reaper struct {
	t       *testing.T
	cmd     *exec.Cmd
	socket  int
	exits   *os.File
	mu      sync.Mutex
	adopted map[int]*pty.Child // those to be told of their exits
	dead    chan struct{}      // closed when exits has ended
}

func startReaper(t *testing.T) *reaper {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	exits, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	far := os.NewFile(uintptr(ends[1]), "socket")
	k := &reaper{t: t, socket: ends[0], exits: exits, adopted: map[int]*pty.Child{}, dead: make(chan struct{})}
	k.cmd = exec.Command(os.Args[0])
	k.cmd.Env = append(os.Environ(), modeVar+"=reaper", "GORACE=atexit_sleep_ms=0")
	k.cmd.ExtraFiles = []*os.File{far, write}
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	k.cmd.Stderr = os.Stderr
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	far.Close()
	write.Close()
	go k.listen()
	t.Cleanup(k.kill)
	t.Cleanup(func() { unix.Close(k.socket) })
	return k
}

// listen passes on what the reaper tells.
func (k *reaper) listen() {
	defer close(k.dead)
	for {
		var pid int
		var status uint32
		if _, err := fmt.Fscan(k.exits, &pid, &status); err != nil {
			return
		}
		k.mu.Lock()
		child := k.adopted[pid]
		k.mu.Unlock()
		if child != nil {
			child.Exited(exitWord(unix.WaitStatus(status)))
		}
	}
}

func exitWord(status unix.WaitStatus) pty.Exit {
	if status.Signaled() {
		return pty.Exit{Code: 128 + int(status.Signal()), Signal: proc.SignalName(status.Signal())}
	}
	return pty.Exit{Code: status.ExitStatus()}
}

// kill ends the reaper at once. What it started goes on.
func (k *reaper) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
	<-k.dead
	k.exits.Close()
}

// start makes the reaper run a script, and returns what it handed over.
func (k *reaper) start(script string) (m *pty.Master, pid, pidfd int) {
	k.t.Helper()
	if _, err := unix.Write(k.socket, []byte(script)); err != nil {
		k.t.Fatal(err)
	}
	buf, control := make([]byte, 20), make([]byte, unix.CmsgSpace(8))
	n, cn, _, _, err := unix.Recvmsg(k.socket, buf, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		k.t.Fatal(n, err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:cn])
	if err != nil {
		k.t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		k.t.Fatal(err)
	}
	if m, err = pty.NewMaster(fds[0]); err != nil {
		k.t.Fatal(err)
	}
	if pid, err = strconv.Atoi(string(buf[:n])); err != nil {
		k.t.Fatal(err)
	}
	return m, pid, fds[1]
}

// adopt is start and Adopt; told says whether the child hears from the reaper.
func (k *reaper) adopt(script string, told bool) *screen {
	k.t.Helper()
	m, pid, pidfd := k.start(script)
	child, err := pty.Adopt(pid, pidfd)
	if err != nil {
		k.t.Fatal(err)
	}
	if told {
		k.mu.Lock()
		k.adopted[pid] = child
		k.mu.Unlock()
	}
	p := pty.Join(m, child)
	if p.Child() != child || p.Master() != m {
		k.t.Error("others than those joined")
	}
	return watched(k.t, p, nil)
}

func TestAdoptedExit(t *testing.T) {
	k := startReaper(t)
	quickest := time.Hour
	for _, c := range []struct {
		script string
		want   pty.Exit
	}{
		{"read x; exit 0", pty.Exit{Code: 0}},
		{"read x; exit 3", pty.Exit{Code: 3}},
		{"read x; kill -TERM $$", pty.Exit{Code: 143, Signal: "TERM"}},
		{"read x; kill -KILL $$", pty.Exit{Code: 137, Signal: "KILL"}},
	} {
		s := k.adopt(c.script+" # "+token(), true)
		if err := s.Resize(100, 30); err != nil {
			t.Error(err)
		}
		if _, err := s.Cwd(); err != nil {
			t.Error(err)
		}
		s.send("go\n")
		began := time.Now()
		if got := s.exit(); got != c.want {
			t.Errorf("%s: got %+v", c.script, got)
		}
		quickest = min(quickest, time.Since(began))
		s.Child().Exited(pty.Exit{Code: 99})
		s.Child().Orphaned()
		_, cwdErr := s.Cwd()
		for what, err := range map[string]error{"Signal": s.Signal(syscall.SIGTERM), "Cwd": cwdErr} {
			if !errors.Is(err, pty.ErrExited) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	// The end is told, not found by looking now and then; a busy machine may take long once.
	if quickest > 4*time.Second {
		t.Errorf("an exit takes %v at best", quickest)
	}
}

// The first word counts, also one of a process that has ended before it was adopted, and the word wakes a Wait that
// waits.
func TestAdoptedWord(t *testing.T) {
	k := startReaper(t)
	m, pid, pidfd := k.start("exit 7")
	defer m.Close()
	if !polling.Until(patience, func() bool { return unix.Kill(pid, 0) == unix.ESRCH }) {
		t.Fatal("it is not reaped")
	}
	child, err := pty.Adopt(pid, pidfd)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(limited(t, patience), m); err != nil {
		t.Error(err)
	}
	exit := make(chan pty.Exit, 1)
	go func() { exit <- child.Wait() }()
	child.Exited(pty.Exit{Code: 7})
	child.Exited(pty.Exit{Code: 8})
	if got := <-exit; got.Code != 7 {
		t.Errorf("got %+v", got)
	}
}

// A reaper that says nothing is not waited for for ever: the kernel knows too.
func TestAdoptedSilence(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for programs that do not end when they are told")
	}
	t.Parallel()
	s := startReaper(t).adopt("kill -USR1 $$", false)
	if got, want := s.exit(), (pty.Exit{Code: 138, Signal: "USR1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAdoptRefuses(t *testing.T) {
	fds := openFDs()
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for pid, fd := range map[int]int{os.Getpid(): null, os.Getppid(): self, 0: -1} {
		if c, err := pty.Adopt(pid, fd); c != nil || !errors.Is(err, pty.ErrNotProcess) {
			t.Errorf("%d: %v", pid, err)
		}
	}
	if n := openFDs(); n > fds {
		t.Errorf("%d descriptors instead of %d: %v", n, fds, fdList())
	}
}

// subreaper makes this process the parent of orphans, during the test: in the place of an init that reaps when the test
// says so.
func subreaper(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// The kernel tells of an orphan's end, whether somebody reaps it or not.
func TestOrphanedExit(t *testing.T) {
	subreaper(t)
	for _, reaped := range []bool{false, true} {
		for script, want := range map[string]pty.Exit{
			"read x; exit 5":         {Code: 5},
			"read x; kill -KILL $$":  {Code: 137, Signal: "KILL"},
			"read x; exit 0":         {Code: 0},
			"read x; exec sleep 0.1": {Code: 0},
		} {
			k := startReaper(t)
			s := k.adopt(script, true)
			k.kill()
			if reaped && !kernelKeepsExits(t) {
				t.Skip("the kernel keeps no exit status, which takes Linux 6.15")
			}
			s.send("go\n")
			var info unix.Siginfo
			if err := unix.Waitid(unix.P_PID, s.PID(), &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
				t.Fatal(err)
			}
			reap := func() {
				if _, err := unix.Wait4(s.PID(), nil, 0, nil); err != nil {
					t.Error(err)
				}
			}
			if reaped {
				reap()
			}
			s.Child().Orphaned()
			s.Child().Orphaned()
			if got := s.exit(); got != want {
				t.Errorf("%s, reaped=%v: got %+v, want %+v", script, reaped, got, want)
			}
			if !reaped {
				reap()
			}
		}
	}
}

// kernelKeepsExits reports whether a pidfd still knows the exit status of a process that was reaped.
func kernelKeepsExits(t *testing.T) bool {
	t.Helper()
	cmd := exec.Command("true")
	pidfd := -1
	cmd.SysProcAttr = &syscall.SysProcAttr{PidFD: &pidfd}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	return unix.IoctlPidfdInfo(pidfd, &info) == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
}

// Signals reach the foreground job and the whole tree; the reaper and its other children live on.
func TestAdoptedKillSparesReaper(t *testing.T) {
	k := startReaper(t)
	word := token()
	sibling := k.adopt("echo ready; exec sleep "+token(), true)
	sibling.expect("ready")
	s := k.adopt("trap 'echo caught' USR1; setsid sleep "+word+" & echo ready; while :; do sleep "+word+"; done", true)
	s.expect("ready")
	expectProcesses(t, word+"\x00", 2)
	for _, what := range []struct {
		name  string
		child *screen
	}{{"first", s}, {"last", sibling}} {
		if err := what.child.Kill(now()); err != nil {
			t.Errorf("%s: %v", what.name, err)
		}
		if got := what.child.exit(); got.Code < 128 {
			t.Errorf("%s: got %+v", what.name, got)
		}
		if what.child == s {
			expectProcesses(t, word, 0)
			if unix.Kill(sibling.PID(), 0) != nil || !running(sibling.PID()) {
				t.Fatal("the sibling died too")
			}
		}
		if !running(k.cmd.Process.Pid) {
			t.Fatal("the reaper died too")
		}
	}
	if again := k.adopt("exit 4", true).exit(); again.Code != 4 {
		t.Errorf("got %+v", again)
	}
}

// A sibling without a controlling terminal, as a shell without a terminal is, that has this one as its input and output
// is no member, nor is a child of this process that has; a program that got there by itself is.
func TestAdoptedKillSparesIntruders(t *testing.T) {
	k := startReaper(t)
	s := k.adopt("tty; exec sleep 1000", true)
	s.expect("/dev/pts/")
	path := strings.TrimSpace(s.text())
	sibling := k.adopt(bare+"exec <"+path+" >"+path+" 2>&1; echo intruder; exec sleep 1000", true)
	s.expect("intruder")
	stray := token() // of nobody's: its parent is gone
	k.adopt("trap '' HUP; (setsid sleep "+stray+" <"+path+" >"+path+" 2>&1 &)", true).exit()
	expectProcesses(t, stray, 1)
	far, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	own := exec.Command("sleep", "1000") // of this process's session, on that terminal
	own.Stdout = far
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Process.Kill(); _ = own.Wait() }()
	far.Close()
	if err := s.Kill(now()); err != nil {
		t.Error(err)
	}
	expectProcesses(t, stray, 0)
	for name, pid := range map[string]int{"sibling": sibling.PID(), "reaper": k.cmd.Process.Pid,
		"own": own.Process.Pid} {
		if !running(pid) {
			t.Errorf("%s died too", name)
		}
	}
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// An adopted child is signalled like any other.
func TestAdoptedSignal(t *testing.T) {
	k := startReaper(t)
	s := k.adopt("trap 'echo caught' USR1; "+
		"(trap 'echo inside; exit' USR1; echo ready; while :; do sleep 0.05; done) & wait; wait; exit 9", true)
	s.expect("ready")
	if err := s.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	s.expect("caught")
	s.expect("inside")
	if got := s.exit(); got.Code != 9 {
		t.Errorf("got %+v", got)
	}
}

// The pidfd can be handed on.
func TestChildSyscallConn(t *testing.T) {
	s := run(t, "sleep", "1000")
	other := -1
	if err := s.Child().SyscallConn().Control(func(fd uintptr) { other = dup(t, int(fd)) }); err != nil {
		t.Fatal(err)
	}
	twin, err := pty.Adopt(s.PID(), other)
	if err != nil {
		t.Fatal(err)
	}
	exit := make(chan pty.Exit, 1)
	go func() { exit <- twin.Wait() }()
	if err := twin.Kill(now(), s.Master()); err != nil {
		t.Error(err)
	}
	got := s.exit()
	twin.Exited(got)
	if got.Code < 129 || <-exit != got {
		t.Errorf("got %+v", got)
	}
}

// The reaper's word ends Wait at once, whatever the pidfd says.
func TestExitedWakesWait(t *testing.T) {
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	child, err := pty.Adopt(os.Getpid(), self)
	if err != nil {
		t.Fatal(err)
	}
	exit := make(chan pty.Exit, 1)
	go func() { exit <- child.Wait() }()
	child.Exited(pty.Exit{Code: 7})
	select {
	case got := <-exit:
		if got.Code != 7 {
			t.Errorf("got %+v", got)
		}
	case <-time.After(patience):
		t.Fatal("Wait goes on")
	}
}
