package keeper_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// TestUpgrades: the keeper becomes another program 20 times while 50 terminals print; no byte and no exit status is
// lost, and the process stays the same.
func TestUpgrades(t *testing.T) {
	const terminals, upgrades = 50, 20
	p := newPlace(t)
	c := p.connect("0")
	pid := c.PID()
	stop := filepath.Join(p.dir, "stop")
	var list []*slow
	for i := range terminals {
		k, err := c.Start(strconv.Itoa(i), shell(p.dir,
			`n=0; while [ ! -e "$1" ]; do n=$((n+1)); echo "line $n"; done; echo "end $n"; exit $2`,
			stop, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, readSlowly(k))
	}
	early := start(t, c, "early", shell(p.dir, "exit 77")) // whose status is kept over all upgrades
	early.exit()
	before := fds(t, pid)
	_ = c.Close()
	for i := range upgrades {
		c := p.connect(strconv.Itoa(i + 1))
		if c.PID() != pid {
			t.Fatalf("another keeper: %d", c.PID())
		}
		if i == upgrades/2 {
			if err := os.WriteFile(stop, nil, 0o600); err != nil { // most of the exits come during upgrades
				t.Fatal(err)
			}
		}
		_ = c.Close()
	}
	for _, s := range list {
		s.check(t)
	}
	c = p.connect(strconv.Itoa(upgrades))
	if after := fds(t, pid); after > before+1 {
		t.Errorf("the keeper has %d descriptors, had %d", after, before)
	}
	held := taken(t, c)
	if len(held) != terminals+1 {
		t.Errorf("%d terminals", len(held))
	}
	for id, k := range held {
		want := 77
		if id != "early" {
			want, _ = strconv.Atoi(id)
		}
		if e := watch(t, k).exit(); e.Code != want {
			t.Errorf("%s: %+v", id, e)
		}
		c.Release(id)
	}
}

// slow reads a terminal with pauses, so that its program does not take a core.
type slow struct {
	*keeper.Held
	out   strings.Builder
	ended chan struct{}
}

func readSlowly(k *keeper.Held) *slow {
	s := &slow{Held: k, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		pace := time.NewTicker(200 * time.Millisecond)
		defer pace.Stop()
		buf := make([]byte, 4<<10)
		for {
			n, err := k.Process.Read(buf)
			s.out.Write(buf[:n])
			if err != nil {
				return
			}
			<-pace.C
		}
	}()
	return s
}

// check looks whether all lines are there in their order, and closes the terminal.
func (s *slow) check(t *testing.T) {
	<-s.ended
	if err := errors.Join(s.Process.Close(), s.Pipe.Close()); err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\r\n")
	for i, line := range lines[:len(lines)-1] {
		if line != fmt.Sprintf("line %d", i+1) {
			t.Fatalf("%s: line %d is %q", s.ID, i+1, line)
		}
	}
	if last := lines[len(lines)-1]; last != fmt.Sprintf("end %d", len(lines)-1) {
		t.Errorf("%s: %q after %d lines", s.ID, last, len(lines)-1)
	}
}

// TestUpgradeFails: a keeper that cannot become the new program stays, with everything it holds, and gives nothing of
// it to programs it starts.
func TestUpgradeFails(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	s := start(t, c, "x", shell(p.dir, "cat"))
	pid := c.PID()
	_ = c.Close()
	config := p.config("b")
	config.Command = []string{"/does/not/exist"}
	c, err := keeper.Connect(limited(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.PID() != pid || len(taken(t, c)) != 1 {
		t.Error("it is not what it was")
	}
	s.send("hello\n")
	s.expect("hello")
	list := start(t, c, "fds", shell(p.dir, `ls /proc/self/fd | tr '\n' ' '`))
	if list.exit(); list.text() != "0 1 2 3 " {
		t.Errorf("a program has descriptors %q", list.text())
	}
}

// TestUpgradeBeyondLimit: a keeper that holds more descriptors than the limit it was started with survives a failed
// upgrade and an upgrade, and its programs have that limit.
func TestUpgradeBeyondLimit(t *testing.T) {
	p := newPlace(t)
	low := p.config("a")
	low.Command = append([]string{"/bin/sh", "-c", `ulimit -Sn 64; exec "$@"`, "sh"}, low.Command...)
	none := p.config("b")
	none.Command = []string{"/does/not/exist"}
	for i, config := range []keeper.Config{low, none, p.config("c")} {
		c, err := keeper.Connect(limited(t), config)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 20 {
			start(t, c, fmt.Sprintf("%d.%d", i, j), shell(p.dir, "read line"))
		}
		s := start(t, c, fmt.Sprint(i), shell(p.dir, "ulimit -Sn"))
		if s.exit(); strings.TrimSpace(s.text()) != "64" {
			t.Errorf("%d: limit %q", i, s.text())
		}
		if n := fds(t, c.PID()); n < (i+1)*80 {
			t.Errorf("%d: %d descriptors", i, n)
		}
		_ = c.Close()
	}
}

// reserved are the signals 32 and 33, which C libraries keep for their threads (nptl(7)): a program above this test may
// have left them ignored.
const reserved = 3 << 31

// TestAfterUpgrade: programs of the new keeper have no signal blocked or ignored, and no descriptor of its.
func TestAfterUpgrade(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	start(t, c, "x", shell(p.dir, "cat"))
	_ = c.Close()
	s := start(t, p.connect("b"), "y",
		shell(p.dir, `grep -E 'Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | tr '\n' ' '`))
	s.exit()
	var blocked, ignored uint64
	text := s.text()
	if _, err := fmt.Sscanf(text, "SigBlk: %x\nSigIgn: %x\n", &blocked, &ignored); err != nil || blocked != 0 ||
		ignored&^reserved != 0 || !strings.HasSuffix(text, "\n0 1 2 3 ") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestUpgradeDies: a keeper that becomes something else costs no terminal.
func TestUpgradeDies(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	old := c.PID()
	s := start(t, c, "x", shell(p.dir, "cat; exit 5"))
	_ = c.Close()
	config := p.config("b")
	config.Command = []string{"/bin/sh", "-c", `case $EVERTTY_KEEPER_STATE in "") exec "$@";; esac`, "sh"}
	config.Command = append(config.Command, p.config("b").Command...)
	c, err := keeper.Connect(limited(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.PID() == old || len(taken(t, c)) != 1 {
		t.Errorf("keeper %d holds something else", c.PID())
	}
	s.send("hello\n\x04")
	if e := s.exit(); e != (pty.Exit{Code: 5}) {
		t.Errorf("%+v", e)
	}
}
