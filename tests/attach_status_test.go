package tests

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// statusUser is a user who looks at a terminal of s through attach --status, in a window that is a terminal itself.
type statusUser struct {
	*jobs
	s     *server
	inner string // the terminal
}

// looks are how lines look, which is what a painting carries: not whether they continue the line above, nor the text
// style of a blank.
func looks(lines []wire.Line) (all []string) {
	for _, l := range lines {
		var b strings.Builder
		for _, r := range l.Runs {
			bare := r.Bg == nil && r.Underline == "" && r.Link == "" &&
				!slices.ContainsFunc(r.Attrs, func(a string) bool {
					return a == "inverse" || a == "strikethrough" || a == "overline"
				})
			style := fmt.Sprint(r.Fg, r.Bg, r.Attrs, r.Underline, r.UnderlineColor, r.Link)
			for _, c := range r.Text {
				if bare && c == ' ' {
					b.WriteRune(c)
				} else {
					fmt.Fprint(&b, style, string(c))
				}
			}
		}
		all = append(all, strings.TrimRight(b.String(), " "))
	}
	return all
}

// screenOf is the screen of a terminal, without what a painting does not carry.
func screenOf(s *server, id string) wire.ScreenJSON {
	s.t.Helper()
	shot, err := s.Snapshot(s.ctx(), id, client.JSON, 0)
	s.must(err)
	var screen wire.ScreenJSON
	s.must(json.Unmarshal(shot.Raw, &screen))
	screen.Cursor.PendingWrap = false
	if !screen.Cursor.Visible {
		screen.Cursor = wire.Cursor{}
	}
	return screen
}

// attachStatus has a user attach to a new terminal of cmd.
func attachStatus(t *testing.T, s, people *server, cmd ...string) statusUser {
	t.Helper()
	id := s.createWith(wire.CreateTerminal{Cmd: cmd, Name: fmt.Sprintf("n%08x", rand.Uint32()), Cols: new(80),
		Rows: new(24), Env: map[string]string{"PS1": "inner$ ", "TERM": "xterm-256color"}}).ID
	u := statusUser{newJobs(t, people), s, id}
	u.attach()
	return u
}

func (u statusUser) attach() {
	u.t.Helper()
	u.enter("TERM=xterm-256color " + binary + " attach " + u.inner + " --status --nested --data-dir " + u.s.how.dir)
	u.t.Helper()
	eventually(u.t, "the status line", func() bool { return strings.Contains(u.last(), "running  1 viewer ") })
}

// last is the text of the last row of the window.
func (u statusUser) last() string {
	lines := screenOf(u.people, u.id).Lines
	return lines[len(lines)-1].Text
}

// same waits until the window shows the terminal, which has one row less, and the status line below it.
func (u statusUser) same(what string) {
	u.t.Helper()
	name := " test/" + u.s.info(u.inner).Name
	eventually(u.t, what, func() bool {
		want, got := screenOf(u.s, u.inner), screenOf(u.people, u.id)
		return got.Rows == want.Rows+1 && got.Cols == want.Cols && got.Alt == want.Alt && got.Cursor == want.Cursor &&
			slices.Equal(looks(got.Lines[:want.Rows]), looks(want.Lines)) &&
			strings.HasPrefix(got.Lines[want.Rows].Text, name)
	})
}

// shower is a program that prints the files whose names are typed, and says so in the title.
const shower = `stty -echo -onlcr; while read -r f; do cat "$f"; printf '\30\33]2;%s\7' "$f"; done`

// prints has the shower print text, and waits until it is on the terminal.
func (u statusUser) prints(path, text string) {
	u.t.Helper()
	u.people.must(os.WriteFile(path, []byte(text), 0o600))
	u.s.input(u.inner, path+"\n")
	eventually(u.t, "it is printed", func() bool { return u.s.info(u.inner).Title == path })
}

// reachingOut are programs that would get to the last row of the window if their output went through.
var reachingOut = map[string]string{
	"clear":            "text\x1b[H\x1b[2J\x1b[3Jafter\x1b[999Hlast row",
	"RIS":              "\x1b[?1049h\x1b[31;44mx\x1b[5;9r\x1bcafter",
	"DECSTR":           "\x1b[5;9r\x1b[?6h\x1b[!p\x1b[999;999Hcorner",
	"DECALN":           "\x1b[3;4r\x1b#8",
	"margins":          "\x1b[2;10r\x1b[999Hbelow\n\n\nbelow\x1b[r\x1b[999Hlast\n\nnext\x1b[20;999r\x1b[999Hin\n\n\n",
	"wrap below":       "\x1b[1;20r\x1b[23;70Hthis wraps in the last row below the margins",
	"origin":           "\x1b[4;30r\x1b[?6h\x1b[999;999Hx\x1b[1;1Hy\x1b[?6l",
	"lines":            "\x1b[H\x1b[99L\x1b[41mred\x1b[K\x1b[99M\x1b[99Sup\x1b[99Tdown\x1b[999B\x1b[99Lx",
	"erased in colour": "\x1b[H\x1b[44m\x1b[J\x1b[23Hlast\x1b[0J\x1b[m",
	"alternate":        "main\x1b[?1049h\x1b[99Halt\n\n\n\x1b[2J\x1b[99;1Hbottom",
	"back":             "\x1b[?1049h\x1b[2Jalt\x1b[?1049l",
	"47 and 1047":      "\x1b[?47hone\x1b[?47l\x1b[?1047htwo\x1b[J\x1b[?1047l",
	"saved":            "\x1b[99H\x1b7\x1b[H\x1b[5S\n\n\x1b8here\n\n\x1b8there",
	"reverse":          "\x1b[?5h\x1b[Htext\x1b[?5l",
	"rectangle":        "\x1b[65;1;1;99;99$x\x1b[20;70;99;99$z",
	"cursor":           "\x1b[99d\x1b[4 q\x1b[99Gx\x1b[99e\x1b[9999b",
	"no wrap":          "\x1b[?7l\x1b[99;75Hlonger than the row\x1b[?7h",
	"flood":            strings.Repeat("\x1b[32mflood \x1b[1mof lines\x1b[m\r\n", 5000),
	"links":            "\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\ 日本語 e\u0301 \x1b[4:3mcurly\x1b[m",
}

// TestStatusLineOfAttach: whatever a program prints, the window shows it exactly, above the status line.
func TestStatusLineOfAttach(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	u := attachStatus(t, s, people, "bash", "-c", shower)
	dir := t.TempDir()
	u.same("at first")
	for name, text := range reachingOut {
		u.prints(filepath.Join(dir, name), text)
		u.same(name)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 30 {
		text := ""
		for range 80 {
			text += randomSequence(r)
		}
		u.prints(filepath.Join(dir, fmt.Sprint("random", n)), text)
		u.same(fmt.Sprintf("after %q", text))
	}
}

// randomSequence is text or a sequence that moves, erases, scrolls or sets.
func randomSequence(r *rand.Rand) string {
	one := func(from ...string) string { return from[r.IntN(len(from))] }
	number := func() string { return one("", "1", "2", "3", "5", "22", "23", "24", "25", "80", "999") }
	switch r.IntN(6) {
	case 0:
		return one("text ", "日本", strings.Repeat("long ", 30), "e\u0301", "x")
	case 1:
		return one("\r\n", "\n", "\n\n\n", "\t", "\b", "\x1bD", "\x1bE", "\x1bM", "\x1b7", "\x1b8", "\x1b#8", "\x1b[r",
			"\x1b(0", "\x1b(B", "\x1bc", "\x1b[!p", "\x1b[999H")
	case 2:
		return "\x1b[" + one("?1", "?3", "?5", "?6", "?7", "?25", "?45", "?47", "?1047", "?1049", "?1048", "?1000",
			"4", "20") +
			one("h", "l")
	case 3:
		return fmt.Sprintf("\x1b[%d;%dm", r.IntN(10), 30+r.IntN(20))
	case 4:
		return "\x1b[" + number() + ";" + number() + one("H", "r", "f")
	}
	return "\x1b[" + number() + one("A", "B", "C", "D", "E", "F", "G", "J", "K", "L", "M", "P", "S", "T",
		"X", "@", "d", "e", "b")
}

// TestStatusLineOfPrograms: of a shell, an editor and a pager, in a window that changes, over the end of a server.
func TestStatusLineOfPrograms(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	u := attachStatus(t, s, people, "bash", "--norc", "--noprofile", "-i")
	u.enter("seq 4500; ls --color=always -la /; echo $((40+2)) rows: $(tput lines)")
	s.await(u.inner, "42 rows: 23")
	u.same("a shell")
	if text := people.text(u.id); !strings.Contains(text, "\n"+strings.Join(numbers(4500), "\n")+"\n") {
		t.Error("not all lines are in the window's scrollback")
	}
	for program, keys := range map[string]string{"vim -u NONE +'set nu' /etc/services": ":q\r",
		"less /etc/services": "q"} {
		name, _, _ := strings.Cut(program, " ")
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		u.enter(program)
		s.await(u.inner, "tcpmux")
		u.same(program)
		for _, key := range []string{"\x06", "\x06", "G", "\x02", "\x0c"} {
			people.input(u.id, key)
		}
		u.same(program + " scrolled")
		for _, size := range [][2]int{{100, 30}, {60, 12}, {80, 24}} {
			people.must(people.Resize(people.ctx(), u.id, size[0], size[1]))
			eventually(t, "the size", func() bool { return s.info(u.inner).Rows == size[1]-1 })
			u.same(fmt.Sprint(program, " in ", size))
		}
		people.input(u.id, keys)
		s.await(u.inner, `inner\$ $`)
		u.same(program + " left")
	}
	s.kill()
	eventually(t, "reconnecting", func() bool { return strings.Contains(u.last(), "  reconnecting  ") })
	people.must(people.Resize(people.ctx(), u.id, 90, 20))
	eventually(t, "the line in its new row", func() bool { return strings.Contains(u.last(), "  reconnecting  ") })
	s.again()
	u.same("after the end of the server")
	eventually(t, "connected", func() bool { return strings.Contains(u.last(), "  running  1 viewer  ") })
	u.enter(`printf '\e]2;a title\a'`)
	other := people.create(binary, "attach", u.inner, "--read-only", "--nested", "--data-dir", s.how.dir).ID
	eventually(t, "facts", func() bool {
		return strings.Contains(u.last(), "  a title ") && strings.Contains(u.last(), "  2 viewers  ")
	})
	people.must(people.Delete(people.ctx(), other, true))
	eventually(t, "facts", func() bool { return strings.Contains(u.last(), "  1 viewer  ") })
}

func numbers(n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprint(i+1))
	}
	return words
}

// TestStatusLineIsTakenBack: however attach ends or stops, nothing of the line is left.
func TestStatusLineIsTakenBack(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	u := attachStatus(t, s, people, "bash", "-c", `stty -echo; printf '\e[2;5rinner screen\n'; read -r; `+
		`printf '\e[?1049h'; exec cat`)
	gone := func(how string) {
		t.Helper()
		eventually(t, how, func() bool { return !u.raw() && strings.Contains(people.text(u.id), "in the shell") })
		screen := screenOf(people, u.id)
		if text := people.text(u.id); strings.Contains(text, "detaches") || !strings.Contains(text, "inner screen") ||
			screen.ScrollRegion != (wire.ScrollRegion{Bottom: 23}) || screen.Alt {
			t.Errorf("%s leaves margins %v and\n%s", how, screen.ScrollRegion, text)
		}
		u.enter("clear")
		people.await(u.id, `\Aouter\$ \z`)
	}
	for _, alternate := range []bool{false, true} {
		if alternate {
			s.input(u.inner, "\n")
		}
		pid := u.job()
		u.stop(pid, syscall.SIGTSTP)
		u.enter("echo $((40+1)) in the shell")
		gone("SIGTSTP")
		u.enter("fg")
		u.same("fg")
		people.input(u.id, "\x1c\x1c")
		people.await(u.id, `\[detached from`)
		u.enter("echo $((40+2)) in the shell")
		gone("detaching")
		u.attach()
		people.must(syscall.Kill(u.job(), syscall.SIGTERM))
		eventually(t, "its end", func() bool { return !u.raw() })
		u.enter("echo $((40+3)) in the shell")
		gone("SIGTERM")
		u.attach()
		u.same("again")
	}
	s.must(s.Delete(s.ctx(), u.inner, false))
	people.await(u.id, `\[exited`)
	u.enter("echo $((40+4)) in the shell")
	gone("the program's end")
}

// TestStatusLineTakesNoMouse: a report of the row of the line is not the program's.
func TestStatusLineTakesNoMouse(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	u := attachStatus(t, s, people, "bash", "-c", `stty -echo -icanon; printf '\e[?1000;1006h'; exec cat -v`)
	eventually(t, "the mouse", func() bool { return screenOf(people, u.id).Modes.Mouse == "normal" })
	people.input(u.id, "\x1b[<0;5;24M\x1b[<0;5;24m\x1b[<0;6;23M\x1b[<0;6;23m.")
	s.await(u.inner, `^\^\[\[<0;6;23M\^\[\[<0;6;23m\.$`)
}

// TestStatusLineOfSmallWindows: less than three rows have none, and then it comes.
func TestStatusLineOfSmallWindows(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	id := s.create("bash", "-c", "echo inner screen; exec cat").ID
	u := statusUser{&jobs{t: t, people: people, id: people.createWith(wire.CreateTerminal{Cols: new(60), Rows: new(2),
		Cmd: []string{binary, "attach", id, "--status", "--nested", "--data-dir", s.how.dir}}).ID}, s, id}
	eventually(t, "the terminal", func() bool { return strings.Contains(people.text(u.id), "inner screen") })
	if text := people.text(u.id); strings.Contains(text, "detaches") {
		t.Errorf("a window of two rows has a line:\n%s", text)
	}
	for _, rows := range []int{3, 10, 2, 8} {
		people.must(people.Resize(people.ctx(), u.id, 60, rows))
		eventually(t, "the line", func() bool { return strings.Contains(u.last(), "running") == (rows > 2) })
	}
	u.same("in the end")
}

// TestStatusLineOfNew: the program has one row less from its start.
func TestStatusLineOfNew(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	id := people.create("env", "NO_COLOR=1", binary, "new", "--status", "--detach-keys", "C-b d", "--name", "build",
		"--data-dir", s.how.dir, "--", "sh", "-c", "stty size; exec cat").ID
	u := statusUser{jobs: &jobs{t: t, people: people, id: id}}
	eventually(t, "the line", func() bool {
		return strings.HasPrefix(u.last(), " main/build  sh -c stty size; exec cat  ") &&
			strings.HasSuffix(u.last(), "  running  1 viewer  C-b d detaches")
	})
	people.await(id, "^23 80$")
	screen := screenOf(people, id)
	if runs := screen.Lines[23].Runs; len(runs) != 1 || len(runs[0].Attrs) != 0 {
		t.Errorf("with NO_COLOR the line is %+v", runs)
	}
}
