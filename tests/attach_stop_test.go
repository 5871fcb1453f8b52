package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/wire"
)

// jobs is an interactive bash in a terminal of its own: a user's terminal whose shell has
// jobs.
type jobs struct {
	t      *testing.T
	people *server
	id     string
	tty    string // its device
	shell  int    // process
}

func newJobs(t *testing.T, people *server) *jobs {
	t.Helper()
	info := people.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc", "--noprofile", "-i"},
		Cols: new(80), Rows: new(24), Env: map[string]string{"PS1": "outer$ "}})
	j := &jobs{t: t, people: people, id: info.ID, shell: info.PID}
	people.await(j.id, `outer\$ $`)
	var err error
	if j.tty, err = os.Readlink(fmt.Sprintf("/proc/%d/fd/0", j.shell)); err != nil {
		t.Fatal(err)
	}
	return j
}

// raw reports whether the terminal is in raw mode.
func (j *jobs) raw() bool {
	out, err := exec.CommandContext(j.people.ctx(), "stty", "-F", j.tty, "-a").Output()
	if err != nil {
		j.t.Fatal(err)
	}
	return strings.Contains(string(out), "-icanon") && strings.Contains(string(out), "-isig")
}

// job is the process of the shell's job.
func (j *jobs) job() int {
	j.t.Helper()
	var pid int
	eventually(j.t, "a job", func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", j.shell, j.shell))
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

func (j *jobs) enter(line string) { j.people.input(j.id, line+"\n") }

// state is the letter of a process's state, as in ps.
func state(pid int) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:min(1, len(rest))]
}

// stop sends a stop and waits for the shell's prompt.
func (j *jobs) stop(pid int, signal syscall.Signal) {
	j.t.Helper()
	j.people.must(syscall.Kill(pid, signal))
	eventually(j.t, "stopped", func() bool { return state(pid) == "T" })
	eventually(j.t, "the shell's prompt", func() bool { return !j.raw() })
}

// screen is the text that the terminal shows.
func (j *jobs) screen() string {
	shot, err := j.people.Snapshot(j.people.ctx(), j.id, client.Text, 0)
	j.people.must(err)
	return shot.Text
}

// modes are those of the terminal, besides the bracketed paste of the shell's line editor.
func (j *jobs) modes() string {
	shot, err := j.people.Snapshot(j.people.ctx(), j.id, client.JSON, 0)
	j.people.must(err)
	var screen wire.ScreenJSON
	j.people.must(json.Unmarshal(shot.Raw, &screen))
	screen.Modes.BracketedPaste = false
	return fmt.Sprintf("%+v %v", screen.Modes, screen.Alt)
}

// TestAttachStopsAndGoesOn: under a shell's job control the user's terminal is the shell's
// while attach is stopped, and attach's own again after fg, however it was stopped.
func TestAttachStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	for _, signal := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGSTOP} {
		t.Run(signal.String(), func(t *testing.T) {
			id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "-c",
				`stty -echo; printf '\e[?1002h\e[?1006h\e[?2004hinner screen\n'; while read -r l; do case $l in
				flood) seq -f "flood %.0f" 300000;; *) echo "got <$l>";; esac; done`}}).ID
			j := newJobs(t, people)
			before := j.modes()
			j.enter(binary + " attach " + id + " --nested --data-dir " + s.how.dir)
			people.await(j.id, "inner screen")
			eventually(t, "raw mode", j.raw)
			pid := j.job()
			says := func(word string) { // and the terminal has answered all questions
				t.Helper()
				j.enter(word)
				people.await(j.id, "got <"+word+">")
			}
			says("first")
			for round := range 2 {
				j.stop(pid, signal)
				if signal == syscall.SIGTSTP {
					eventually(t, "the modes of before", func() bool { return j.modes() == before })
				}
				j.enter("echo $((40+2)) in the shell")
				people.await(j.id, "42 in the shell")
				j.enter("fg")
				eventually(t, "raw mode again", j.raw)
				word := fmt.Sprint("word", round)
				j.enter(word)
				people.await(j.id, "(?s)inner screen.*got <"+word+">")
				if text := j.screen(); strings.Contains(text, "42 in") || strings.Count(text, word) != 1 {
					t.Errorf("after fg the screen is\n%s", text)
				}
			}
			j.stop(pid, signal)
			j.enter(stopsAgain + "; echo $((40+1)) in the background")
			people.await(j.id, "41 in the background")
			people.must(people.Resize(people.ctx(), j.id, 100, 30))
			j.enter("fg")
			eventually(t, "raw mode after bg", j.raw)
			eventually(t, "the new size", func() bool { i := s.info(id); return i.Cols == 100 && i.Rows == 30 })
			says("larger")
			j.enter("flood")
			people.await(j.id, "(?s)flood.*flood")
			j.stop(pid, signal)
			j.enter("echo $((40+3)) beside a flood")
			people.await(j.id, "43 beside a flood")
			j.enter("fg")
			eventually(t, "raw mode in a flood", j.raw)
			says("behind")
			j.stop(pid, signal)
			s.must(s.Delete(s.ctx(), id, false))
			j.enter("fg")
			people.await(j.id, `\[exited`)
			j.enter("echo again $((40+4))")
			people.await(j.id, "again 44")
			if j.raw() {
				t.Error("the terminal is left in raw mode")
			}
			if now := j.modes(); now != before {
				t.Errorf("left are the modes %v, before %v", now, before)
			}
		})
	}
}

// TestAttachStopsWhileTheServerIsAway: nobody answers meanwhile, and the screen is painted
// from what attach knows.
func TestAttachStopsWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	id := s.create("bash", "-c", `printf '\e[?1003hinner screen\n'; cat`).ID
	j := newJobs(t, people)
	j.enter(binary + " attach " + id + " --nested --data-dir " + s.how.dir)
	people.await(j.id, "inner screen")
	pid := j.job()
	s.kill()
	people.await(j.id, "connection to .* lost")
	j.stop(pid, syscall.SIGTSTP)
	j.enter("clear; echo $((40+2)) in the shell")
	people.await(j.id, "42 in the shell")
	j.enter("fg")
	people.await(j.id, "(?s)inner screen.*connection to .* lost")
	if !j.raw() {
		t.Error("the terminal is not in raw mode")
	}
	s.again()
	j.enter("typed later")
	s.await(id, "")
	eventually(t, "typing again", func() bool {
		if strings.Contains(people.text(j.id), "typed later") {
			return true
		}
		j.enter("typed later")
		return false
	})
	if text := j.screen(); strings.Contains(text, "lost, trying again") {
		t.Errorf("connected again, the screen is\n%s", text)
	}
	people.input(j.id, "\x1c\x1c")
	people.await(j.id, `\[detached from`)
}

// TestOutputStopsAndGoesOn: as attach. A recording waits, and C-z is no signal where keys are
// read.
func TestOutputStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	path := filepath.Join(t.TempDir(), "x.cast")
	people.must(os.WriteFile(path, []byte(`{"version":2,"width":80,"height":24}`+"\n"+
		`[0, "o", "\u001b[?1002hon the screen"]`+"\n"+`[3600, "o", "later"]`+"\n"), 0o600))
	id := s.create("bash", "-c", `printf '\e[?1002h\e[?1hon the screen'; exec cat`).ID
	for verb, end := range map[string]string{"play " + path: "q", "play - < " + path: "\x03",
		"logs -f --raw " + id + " --data-dir " + s.how.dir: "\x03"} {
		t.Run(verb[:8], func(t *testing.T) {
			j := newJobs(t, people)
			before := j.modes()
			j.enter(binary + " " + verb)
			people.await(j.id, "on the screen")
			eventually(t, "the mouse", func() bool { return j.modes() != before })
			pid := j.job()
			for i, signal := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGSTOP, 0} {
				if signal == 0 {
					people.input(j.id, "\x1a")
				}
				j.stop(pid, signal)
				if signal != syscall.SIGSTOP {
					eventually(t, "the modes of before", func() bool { return j.modes() == before })
				}
				j.enter(fmt.Sprintf("clear; echo $((40+%d)) in the shell", i))
				people.await(j.id, fmt.Sprint(40+i, " in the shell"))
				j.enter("fg")
				eventually(t, "going on", func() bool { return state(pid) != "T" })
				people.await(j.id, "on the screen")
				eventually(t, "the mouse again", func() bool { return j.modes() != before })
			}
			people.input(j.id, end)
			eventually(t, "the end", func() bool { return !j.raw() && j.modes() == before })
		})
	}
}

// stopsAgain continues a stopped job in the background and waits until the shell has seen that it
// stopped there: before that `fg` does not continue it.
const stopsAgain = "bg; until jobs -s | grep -q evertty; do sleep 0.05; done"

// TestAStoppedViewerEnds when it is told to, and leaves the shell's terminal alone.
func TestAStoppedViewerEnds(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	id := s.create("bash", "-c", `printf '\e[?1002hinner screen'; exec cat`).ID
	for _, verb := range []string{"attach --nested ", "logs -f --raw "} {
		for _, how := range []string{":", stopsAgain} {
			j := newJobs(t, people)
			before := j.modes()
			j.enter(binary + " " + verb + id + " --data-dir " + s.how.dir)
			people.await(j.id, "inner screen")
			pid := j.job()
			j.stop(pid, syscall.SIGTSTP)
			j.enter("clear; " + how + "; echo $((40+2)) in the shell; kill %1")
			eventually(t, verb+"ends", func() bool { return !alive(pid) })
			j.enter("echo $((40+3)) in the shell")
			people.await(j.id, "(?s)42 in the shell.*43 in the shell")
			if now := j.modes(); now != before {
				t.Errorf("%s%s: left are the modes %v, before %v", verb, how, now, before)
			}
		}
	}
}

// TestStopWithoutAShell: where nobody could continue it, a viewer goes on.
func TestStopWithoutAShell(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	id := s.create("bash", "-c", `stty -echo; printf 'inner screen\n'; while read -r l; do echo "got <$l>"; done`).ID
	info := people.create("sh", "-c", binary+" attach "+id+" --nested --data-dir "+s.how.dir+"; :")
	people.await(info.ID, "inner screen")
	j := &jobs{t: t, people: people, id: info.ID, shell: info.PID}
	people.must(syscall.Kill(j.job(), syscall.SIGTSTP))
	j.enter("typed")
	people.await(j.id, "got <typed>")
}

// TestASignalEndsWhoWritesToADeadTerminal: a terminal that takes no output keeps no viewer from
// ending.
func TestASignalEndsWhoWritesToADeadTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("yes").ID
	for _, argv := range [][]string{{"attach", id}, {"logs", "--follow", "--raw", id}} {
		t.Run(argv[0], func(t *testing.T) { // at once: the flood is not for others to wait beside
			viewer, err := pty.Start(pty.Spec{Argv: append([]string{binary, "--data-dir", s.how.dir}, argv...),
				Cols: 80, Rows: 24}) // nobody reads its output
			s.must(err)
			t.Cleanup(func() { _ = viewer.Close() })
			t.Cleanup(func() { _ = viewer.Kill(s.ctx()) })
			eventually(t, "a connection", func() bool { return written(t, viewer.PID()) > 0 })
			rests(t, "a write that blocks", func() uint64 { return written(t, viewer.PID()) })
			s.must(viewer.Signal(syscall.SIGTERM))
			eventually(t, "the end", func() bool { return state(viewer.PID()) == "" })
			for buf := make([]byte, 4096); err == nil; { // what it wrote comes before its end
				_, err = viewer.Read(buf)
			}
			if exit, err := viewer.Wait(s.ctx()); err != nil || exit.Code != 128+int(syscall.SIGTERM) {
				t.Errorf("it ended with %+v, %v", exit, err)
			}
		})
	}
}
