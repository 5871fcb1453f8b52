package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// picking is a user's terminal with a shell that runs evertty without a verb on s's data directory.
type picking struct {
	*jobs
	inner *server
}

func newPicking(t *testing.T, s *server) picking {
	t.Helper()
	outer := start(t, launch{})
	c := s.verb()
	info := outer.createWith(wire.CreateTerminal{Cols: new(80), Rows: new(12),
		Cmd: slices.Concat([]string{"env"}, c.Env, []string{"PS1=outer$ ", "E=" + c.Path, "bash", "--norc", "--noprofile", "-i"})})
	outer.await(info.ID, `outer\$ $`)
	// Its terminals are not those of the server that the picker is for: none is shown inside itself.
	p := picking{jobs: &jobs{t: t, people: outer, id: info.ID, shell: info.PID,
		tty: fmt.Sprintf("/proc/%d/fd/0", info.PID)}, inner: s}
	return p
}

// sees waits until the screen shows the text.
func (p picking) sees(words ...string) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("%q on the screen", words), func() bool {
		shot, err := p.people.Snapshot(p.people.ctx(), p.id, client.Text, 0)
		return err == nil && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(shot.Text, w) })
	})
}

func (p picking) press(keys string) { p.people.input(p.id, keys) }

// open starts the picker.
func (p picking) open() {
	p.t.Helper()
	p.enter(`env -u EVERTTY_PTY -u EVERTTY_SESSION -u EVERTTY_URL "$E"`)
	p.sees("Terminal:", "Esc leave")
}

// left checks that the picker was left with a code, and that terminals are as before.
func (p picking) left(code int, list string) {
	p.t.Helper()
	p.isBack()
	p.enter("echo code $?")
	p.sees(fmt.Sprint("code ", code))
	if now := p.inner.names(); now != list {
		p.t.Errorf("there are %q, were %q", now, list)
	}
	p.enter("clear")
}

// names are the names of all terminals.
func (s *server) names() string {
	s.t.Helper()
	list, err := client.Discover(s.how.dir)
	s.must(err)
	defer list.Close()
	all, err := list.List(s.ctx(), "")
	s.must(err)
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
	}
	return strings.Join(names, " ")
}

// isBack waits until the shell has its terminal as it was.
func (p picking) isBack() {
	p.t.Helper()
	p.sees("outer$")
	eventually(p.t, "the terminal's modes", func() bool { return !p.raw() })
	if i := p.people.info(p.id); i.AltScreen {
		p.t.Error("the alternate screen is still shown")
	}
}

// TestPickerAndSignals: stopped and continued, resized, ended: the terminal is the shell's each time.
func TestPickerAndSignals(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	for i := range 30 {
		s.gives("new", "-d", "--name", fmt.Sprintf("number%02d", i), "--", "cat")
	}
	p := newPicking(t, s)
	p.open()
	p.press("\x1b[F")
	p.sees("> number29", "  number20")
	pid := p.job()
	p.stop(pid, syscall.SIGTSTP)
	p.isBack()
	p.enter("fg")
	p.sees("> number29")
	p.people.must(p.people.Resize(p.people.ctx(), p.id, 40, 6))
	p.sees("> number29", "  number26")
	p.people.must(unix.Kill(pid, unix.SIGTERM))
	p.isBack()
	p.enter("echo code $?")
	p.sees("code 143")
}

// TestPickerKeys: typing filters, also an n; Esc and C-c leave and change nothing; n makes one while nothing is typed.
// Pasted text is a filter, whatever is in it.
func TestPickerKeys(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	s.gives("new", "-d", "--name", "alpha", "--", "sh", "-c", `printf 'in alpha\n\033]0;t\342\200\256y\007'; exec cat`)
	s.gives("new", "-d", "--name", "banana", "--", "sh", "-c", "echo in $((40+2)); exec cat")
	p := newPicking(t, s)
	p.open()
	p.sees("> alpha", "t?y", "  banana", "2 of 2")
	p.press("\x1b")
	p.left(0, "alpha banana")
	p.open()
	p.press("an")
	p.sees("Terminal: an", "> banana", "1 of 2")
	p.press("n") // is text while there is some
	p.sees("Terminal: ann", "0 of 2")
	p.press("\r") // nothing to attach to
	p.press("\x7f")
	p.sees("> banana", "1 of 2")
	p.press("\x03")
	p.left(0, "alpha banana")
	p.open()
	p.press("\x1b[200~nan\r\tx\x03\x1b[31m \xc3")
	p.press("\xa4")
	p.sees("Terminal: nan  x ä")
	p.press("\x1b[201~\x15\x1b[200~alp")
	p.sees("> alpha", "1 of 2")
	p.press("ha\n\x1b[201~\x1b")
	p.left(0, "alpha banana")
	p.open()
	p.press("n")
	eventually(t, "a third one is attached to", func() bool { return s.names() == "alpha banana " && p.raw() })
	p.press("\x1c\x1c")
	p.sees("[detached from")
	p.left(0, "alpha banana ")
}

// TestPickerAttaches: Enter shows the marked terminal, also when the server has ended, and detaching ends it with 0.
func TestPickerAttaches(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux as the user's terminal")
	}
	s := unstarted(t)
	s.gives("new", "-d", "--name", "alpha", "--", "cat")
	s.gives("new", "-d", "--name", "banana", "--", "sh", "-c", "echo in $((40+2)); exec cat")
	socket := filepath.Join(t.TempDir(), "t")
	tmux := func(args ...string) string {
		t.Helper()
		c := s.verb()
		c.Path, c.Args = "/usr/bin/env", append([]string{"env", "tmux", "-S", socket, "-f", "/dev/null"}, args...)
		out, err := c.Output()
		s.must(err)
		return string(out)
	}
	shows := func(text string) {
		t.Helper()
		eventually(t, text, func() bool { return strings.Contains(tmux("capture-pane", "-p"), text) })
	}
	tmux("new-session", "-d", "-x", "80", "-y", "12", "env -u TMUX "+quick+"; echo code $?; cat")
	t.Cleanup(func() { tmux("kill-server") })
	shows("2 of 2")
	s.gives("stop")
	tmux("send-keys", "-l", "ban")
	shows("1 of 2")
	tmux("send-keys", "Enter")
	shows("in 42")
	tmux("send-keys", "C-\\", "C-\\")
	shows("[detached from banana]")
	shows("code 0")
	if now := s.names(); now != "alpha banana" {
		t.Errorf("there are %q", now)
	}
}

// TestPickerOfThousands: a window shows what it has room for, and no colour with NO_COLOR; each draw is small. A window
// of one row has the list alone.
func TestPickerOfThousands(t *testing.T) {
	t.Parallel()
	const many = 3000
	list := wire.TerminalList{}
	for i := range many {
		list.Items = append(list.Items, wire.Terminal{ID: fmt.Sprintf("%020d", i), Name: fmt.Sprintf("n%04d", i),
			Session: "many", State: "running", Cmd: []string{"cat"}, Cols: 80, Rows: 24})
	}
	thousands := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(list)
	}))
	t.Cleanup(thousands.Close)
	p := newPicking(t, &server{t: t, how: launch{dir: t.TempDir()}})
	p.enter("export NO_COLOR=1 EVERTTY_SERVER=" + thousands.URL)
	p.open()
	p.sees(fmt.Sprintf("%d of %d", many, many))
	before := p.people.info(p.id).Seq
	p.press("1999")
	p.sees("Terminal: 1999", "1 of 3000", "> n1999")
	if n := p.people.info(p.id).Seq - before; n > 64<<10 {
		t.Errorf("%d bytes were drawn for four keys", n)
	}
	shot, err := p.people.Snapshot(p.people.ctx(), p.id, client.ANSI, 0)
	p.people.must(err)
	if colors := regexp.MustCompile(`\x1b\[(3|4|9|10)[0-9][0-9;]*m`).FindString(shot.Data); colors != "" {
		t.Errorf("there is the colour %q", colors)
	}
	p.people.must(p.people.Resize(p.people.ctx(), p.id, 10, 1))
	p.sees("> n1999")
	p.people.must(p.people.Resize(p.people.ctx(), p.id, 80, 12))
	p.press("\x1b")
	p.isBack()
}
