package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// TestAttachNeverShowsItself: in every way to run attach inside the terminal that it
// shows it ends with 2 and one sentence, and the terminal prints no more than that.
func TestAttachNeverShowsItself(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Name: "self", Cols: new(120), Rows: new(30),
		Env: map[string]string{"PS1": "me> ", "EVERTTY_DATA_DIR": s.how.dir, "EVERTTY": binary}}).ID
	s.await(id, "^me>$")
	bare := "env -i TERM=xterm EVERTTY_DATA_DIR=" + s.how.dir + " "
	for n, how := range []string{
		"$EVERTTY attach self",
		"$EVERTTY attach --nested " + id,
		"$EVERTTY attach --nested --read-only self",
		bare + "$EVERTTY attach self",
		bare + "$EVERTTY attach --nested self",
		"script -qec '" + bare + binary + " attach --nested self' /dev/null",
		"$EVERTTY logs --follow self",
		bare + "$EVERTTY logs --follow self",
		"$EVERTTY record --follow self",
		"tmux -L " + id + " -f /dev/null new '" + bare + binary + " attach --nested self; echo $? >" + s.how.dir +
			"/code; sleep 0.3'; (exit $(cat " + s.how.dir + "/code))",
	} {
		before := s.info(id).Seq
		s.input(id, fmt.Sprintf("clear; %s; echo \"code $? of %d\"\r", how, n))
		s.await(id, fmt.Sprintf("^code 2 of %d$", n))
		if i := s.info(id); i.Seq-before > 64<<10 || i.Viewers != 0 {
			t.Errorf("%s: %d bytes of output, %d viewers", how, i.Seq-before, i.Viewers)
		}
	}
}

// TestAttachInsideATerminal needs --nested, and refuses a circle through others too.
func TestAttachInsideATerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	make := func(name string) string {
		id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Name: name,
			Cols: new(120), Rows: new(30),
			Env: map[string]string{"PS1": name + "> ", "EVERTTY_DATA_DIR": s.how.dir, "EVERTTY": binary}}).ID
		s.await(id, "^"+name+">$")
		return id
	}
	a, b, c := make("a"), make("b"), make("c")
	s.input(a, "$EVERTTY attach b; echo \"code $?\"\r")
	s.await(a, "^code 2$")
	s.await(a, `--nested shows another`)
	s.input(a, "env -i TERM=xterm EVERTTY_DATA_DIR=$EVERTTY_DATA_DIR $EVERTTY attach b; echo \"bare $?\"\r")
	s.await(a, "^bare 2$")
	s.input(a, "$EVERTTY attach --nested b\r")
	eventually(t, "a shows b", func() bool { return s.info(b).Viewers == 1 })
	s.input(b, "$EVERTTY attach --nested c\r")
	eventually(t, "b shows c", func() bool { return s.info(c).Viewers == 1 })
	for n, other := range []string{"a", "b"} {
		s.input(c, fmt.Sprintf("clear; env -i TERM=xterm EVERTTY_DATA_DIR=$EVERTTY_DATA_DIR $EVERTTY attach "+
			"--nested %s; echo \"code $? of %d\"\r", other, n))
		s.await(c, fmt.Sprintf("^code 2 of %d$", n))
	}
	if s.info(a).Viewers != 0 || s.info(b).Viewers != 1 {
		t.Errorf("viewers of a %d, of b %d", s.info(a).Viewers, s.info(b).Viewers)
	}
	// Once a shows b no more there is no circle.
	s.input(a, "\x1c\x1c")
	eventually(t, "a shows nothing", func() bool { return s.info(b).Viewers == 0 })
	s.await(a, `^\[detached from b\]$`)
	s.input(b, "\x1c\x1c")
	s.await(b, `^\[detached from c\]$`)
	s.input(c, "clear; $EVERTTY attach --nested a\r")
	eventually(t, "c shows a", func() bool { return s.info(a).Viewers == 1 })
	s.input(c, "\x1c\x1c")
}

// TestProgramsFindTheirServer: what programs are told, whatever the server itself was
// told or a user gives, and that it counts as nobody's export.
func TestProgramsFindTheirServer(t *testing.T) {
	t.Parallel()
	leak := []string{"EVERTTY_PTY=leak", "EVERTTY_SESSION=leak", "EVERTTY_SOCKET=leak", "EVERTTY_URL=leak"}
	s := start(t, launch{auth: "token", env: leak})
	i, err := s.Create(s.ctx(), "work", wire.CreateTerminal{Cmd: []string{"bash", "--norc"},
		Cols: new(120), Rows: new(30),
		Env: map[string]string{"EVERTTY_PTY": "mine"}})
	s.must(err)
	s.input(i.ID, "env | grep ^EVERTTY_ | sort; echo end\r")
	socket := "EVERTTY_SOCKET=" + s.how.dir + "/server.sock\n"
	want := "EVERTTY_PTY=" + i.ID + "\nEVERTTY_SESSION=work\n" + socket + "EVERTTY_URL=" + s.url
	if got := s.await(i.ID, "(?m)^end$"); !strings.Contains(got, want+"\nend") {
		t.Errorf("a terminal's programs have\n%s\nwant\n%s", got, want)
	}
	s.input(i.ID, "export FOO=1; sleep 1.5\r")
	var shell struct {
		Stdout string `json:"stdout"`
	}
	body := func(command string) string {
		b, err := json.Marshal(map[string]string{"command": command})
		s.must(err)
		return string(b)
	}
	// The second ends the shell, the next one is another process.
	for _, command := range []string{"true", "exit 0", "true"} {
		s.post("/session/work/exec",
			body("env | grep -E '^EVERTTY_(PTY|SESSION|URL|SOCKET)=' | sort; "+command)).into(&shell)
		if shell.Stdout != "EVERTTY_SESSION=work\n"+socket+"EVERTTY_URL="+s.url+"\n" {
			t.Errorf("%s: programs of an exec shell have %q", command, shell.Stdout)
		}
	}
	s.post("/session/work/exec", body("export BAR=2; exit 0"))
	var list struct {
		Terminals []struct {
			Env   map[string]string `json:"env_delta"`
			Unset []string          `json:"env_unset"`
			Kind  string            `json:"kind"`
		} `json:"terminals"`
	}
	eventually(t, "both exports are known", func() bool {
		s.get("/api/threads/work/terminals").into(&list)
		n := 0
		for _, one := range list.Terminals {
			n += len(one.Env)
		}
		return n >= 2
	})
	b, err := json.Marshal(list)
	s.must(err)
	if strings.Contains(string(b), "EVERTTY_URL") || strings.Contains(string(b), "EVERTTY_SESSION") ||
		strings.Contains(string(b), "leak") {
		t.Errorf("they count as exports: %s", b)
	}
}
