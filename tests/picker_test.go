package tests

import (
	"fmt"
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
