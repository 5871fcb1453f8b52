package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// topLine is what top --json prints of a terminal.
type topLine struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	CPU       float64 `json:"cpu_percent"`
	RSS       int64   `json:"rss_bytes"`
	Processes int     `json:"processes"`
	WaitsFor  string  `json:"waits_for"`
	Waits     int     `json:"waits"`
}

// controls are what must not reach a user's terminal from a title: C0 and C1 but for the line feed, and characters that
// turn the direction of text.
var controls = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202a}-\x{202e}]`)

func (s *server) topLines(args ...string) (list []topLine) {
	s.t.Helper()
	for line := range strings.Lines(s.gives(append([]string{"top", "--json"}, args...)...)) {
		var one topLine
		s.must(json.Unmarshal([]byte(line), &one))
		list = append(list, one)
	}
	return list
}

// TestTop: where no terminal is the table is printed once, the busiest first; --json has an object in each line.
func TestTop(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	s.gives("new", "-d", "--name", "prompt", "--", "bash", "--norc", "-i")
	s.gives("new", "-d", "--name", "tree", "--label", "a=b", "--", "sh", "-c",
		`printf '\033]0;one\342\200\256two\033\\'; sleep 1000 & exec sleep 1000`)
	s.gives("new", "-d", "--name", "done", "--", "true")
	s.gives("wait", "done")
	s.gives("new", "-d", "--name", "busy", "--", "bash", "-c", "while :; do :; done")
	var list []topLine
	eventually(t, "busy is above all, bash is at its prompt", func() bool {
		list = s.topLines()
		return len(list) == 4 && list[0].Name == "busy" && list[0].CPU > 1 && list[1].WaitsFor == "command"
	})
	if b := list[0]; b.Processes != 1 || b.RSS < 1<<20 || b.WaitsFor != "none" {
		t.Errorf("the busy one: %+v", b)
	}
	if list := s.topLines("--label", "a=b"); len(list) != 1 || list[0].Name != "tree" || list[0].Processes != 2 {
		t.Errorf("of a label there is %+v", list)
	}
	for _, args := range [][]string{{"top"}, {"top", "--once"}} {
		text := s.gives(args...)
		lines := strings.Split(text, "\n")
		if controls.MatchString(text) || len(lines) != 6 || !strings.HasPrefix(lines[1], "busy ") {
			t.Errorf("the table:\n%q", text)
		}
		if !strings.Contains(text, "exited(0)") || !strings.Contains(text, "one?two") {
			t.Errorf("the table:\n%s", text)
		}
	}
	s.gives("kill", "busy")
	s.gives("park", "tree")
	s.topLines()
	if list := s.gives("ls", "--json"); !strings.Contains(list, `"parked": true`) || strings.Contains(list, `"usage"`) {
		t.Errorf("top has woken a parked terminal, or a list has what nobody asked for: %s", list)
	}
	run(t, call(t, []string{"EVERTTY_DATA_DIR=" + t.TempDir()}, "top", "--no-start")).refuses(t, 3, "no server")
}

// TestTopTellsWhoIsWaitedFor: a terminal waits for an approval while somebody is asked about a call on it or of its
// thread, not about another terminal's, and calls of wait are counted while they go on.
func TestTopTellsWhoIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"rules": object{"ask": []object{rule("contains", "danger")}}})
	var a, b wire.Terminal
	for _, made := range []*wire.Terminal{&a, &b} {
		o.post("/session/one/pty", `{"cmd":["bash","--norc","-i"]}`).wants(201).into(made)
	}
	other := s.shell().ID
	told := func() (waits map[string]string) {
		var list wire.TerminalList
		s.get("/pty?usage=1").wants(200).into(&list)
		waits = map[string]string{}
		for _, one := range list.Items {
			waits[one.ID] = fmt.Sprintf("%s %d", one.Usage.WaitsFor, one.Usage.Waits)
		}
		return waits
	}
	tells := func(first, second string) {
		t.Helper()
		want := map[string]string{a.ID: first, b.ID: second, other: "command 0"}
		eventually(t, fmt.Sprintf("the list has %v", want), func() bool { return maps.Equal(told(), want) })
	}
	tells("command 0", "command 0")
	id := o.post("/session/one/pty/"+a.ID+"/input", `{"data":"danger"}`).asks()
	tells("approval 0", "command 0")
	o.answer(id, "deny").wants(200)
	tells("command 0", "command 0")
	id = o.send(body{"command": "danger"}).asks()
	tells("approval 0", "approval 0")
	s.kill()
	s.again()
	tells("approval 0", "approval 0")
	if out := s.says("top", "--once"); strings.Count(out, " approval ") != 2 {
		t.Errorf("top says\n%s", out)
	}
	o.answer(id, "approve").wants(200)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.post("/pty/"+b.ID+"/wait", `{"for":"text","pattern":"reached","timeout_ms":600000}`)
	}()
	tells("command 0", "command 1")
	s.post("/pty/"+b.ID+"/input", `{"data":"echo rea''ched\r"}`).wants(200)
	<-done
	tells("command 0", "command 0")
}

// TestTopLive: it follows terminals, the server and the window, and gives the user's terminal back however it ends.
func TestTopLive(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	s.gives("new", "-d", "--name", "first", "--", "sh", "-c", `printf '\033]0;one\342\200\256two\033\\'; exec cat`)
	p := newPicking(t, s)
	begin := func() {
		t.Helper()
		p.enter(`env -u EVERTTY_PTY -u EVERTTY_SESSION -u EVERTTY_URL "$E" top`)
		p.sees("q leaves", "first", "one?two")
	}
	begin()
	s.gives("new", "-d", "--name", "second", "--", "cat")
	p.sees("2 terminals, 2 running", "second")
	p.people.must(p.people.Resize(p.people.ctx(), p.id, 30, 4))
	p.sees("2 terminals", "first")
	eventually(t, "it fits a small window", func() bool {
		shot, err := p.people.Snapshot(p.people.ctx(), p.id, client.Text, client.AllHistory)
		return err == nil && strings.Count(shot.Text, "first") == 1 && strings.Count(shot.Text, "terminals") == 1
	})
	p.people.must(p.people.Resize(p.people.ctx(), p.id, 90, 12))
	s.gives("stop")
	p.sees("the server is lost")
	s.gives("ls")
	p.sees("2 terminals, 2 running")
	p.press("q")
	p.isBack()
	begin()
	p.press("\x03")
	p.isBack()
	begin()
	pid := p.job()
	p.stop(pid, syscall.SIGTSTP)
	p.isBack()
	p.enter("fg")
	p.sees("q leaves")
	p.people.must(unix.Kill(pid, unix.SIGTERM))
	p.isBack()
	p.enter("echo code $?")
	p.sees("code 143")
	p.enter(`TERM=dumb "$E" top; echo code $?`)
	p.sees("code 0", "TERMINAL")
}

// TestTablesFitTheWindow: a table on a terminal has no line beyond its edge, and elsewhere nothing is cut; wide
// characters take two columns.
func TestTablesFitTheWindow(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	long := strings.Repeat("漢字", 40)
	s.gives("new", "-d", "--name", "wide", "--", "sh", "-c", `printf '\033]0;`+long+`\033\\'; exec cat`)
	s.gives("new", "-d", "--name", "narrow", "--label", "team=web", "--", "cat")
	eventually(t, "the title, as a whole", func() bool { return strings.Contains(s.gives("ls"), long) })
	p := newPicking(t, s)
	for _, verb := range []string{"ls", "top --once", "status", "context ls", "shells", "thread ls"} {
		p.enter(`clear; "$E" ` + verb + `; echo "code $?"`)
		p.sees("code 0\nouter$")
		shot, err := p.people.Snapshot(p.people.ctx(), p.id, client.Text, 0)
		p.people.must(err)
		text := strings.TrimSpace(shot.Text)
		cut := strings.Contains(text, "漢…") || strings.Contains(text, "字…")
		if verb == "ls" && (strings.Count(text, "\n") != 4 || !cut) {
			t.Errorf("evertty %s:\n%s", verb, text)
		}
	}
}
