package keeper_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// parent is the parent of a process, 0 when there is no such process or only its zombie.
func parent(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(text), ") ")
	var state string
	var ppid int
	if _, err := fmt.Sscan(rest, &state, &ppid); err != nil || state == "Z" {
		return 0
	}
	return ppid
}

// TestOrphans: what a program leaves behind becomes the keeper's child, who reaps it. To end one program ends its
// orphans and nobody else's.
func TestOrphans(t *testing.T) {
	p := newPlace(t)
	first := p.connect("a")
	keeperID := first.PID()
	for _, release := range []string{"a", "b"} { // it stays so over an upgrade
		c := first
		if release != "a" {
			_ = first.Close()
			c = p.connect(release)
			taken(t, c)
		}
		// In the session, in a session of its own with the terminal open, and with neither: nobody's any more.
		orphans := `(sleep 1000 & echo =$!); (setsid sleep 1001 & echo =$!); ` +
			`(setsid sleep 1002 </dev/null >/dev/null 2>&1 & echo =$!); `
		one := start(t, c, release+"1", shell(p.dir, orphans+"cat"))
		two := start(t, c, release+"2", shell(p.dir, orphans+"cat"))
		own, others := orphansOf(t, one), orphansOf(t, two)
		third := run(t, c, release+"3", strings.ReplaceAll(orphans, "=", "")+"read line")
		var programs []int
		for range 3 {
			pid, err := strconv.Atoi(third.line())
			if err != nil {
				t.Fatal(err)
			}
			programs = append(programs, pid)
		}
		all := append(append(own[:3:3], others...), programs...)
		for i, pid := range all {
			if !poll(func() bool { return parent(pid) == keeperID }) {
				t.Errorf("%d is a child of %d, not of the keeper %d", pid, parent(pid), keeperID)
			}
			// setsid(1) is forked first and leaves the session a moment later.
			if i%3 > 0 && !poll(func() bool { sid, _ := unix.Getsid(pid); return sid == pid }) {
				t.Errorf("%d has no session of its own", pid)
			}
		}
		if err := one.Process.Kill(limited(t)); err != nil {
			t.Error(err)
		}
		alive(t, own, false, false, true)
		alive(t, others, true, true, true)
		alive(t, programs, true, true, true)
		now, cancel := context.WithCancel(context.Background())
		cancel()
		if err := third.Child.Kill(now, nil); err != nil {
			t.Error(err)
		}
		third.Child.Wait()
		alive(t, programs, false, true, true) // the second one's output is no terminal
		alive(t, others, true, true, true)
		c.Release(release + "3")
		for _, pid := range all {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range all {
			gone(t, pid) // reaped
		}
	}
}

// orphansOf are the processes that a script names, each as =PID.
func orphansOf(t *testing.T, s *screen) []int {
	t.Helper()
	if !poll(func() bool { return strings.Count(s.text(), "=") == 3 && strings.HasSuffix(s.text(), "\n") }) {
		t.Fatalf("%q", s.text())
	}
	var list []int
	for lines := bufio.NewScanner(strings.NewReader(s.text())); lines.Scan(); {
		pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "="))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

// alive checks which of a list run.
func alive(t *testing.T, list []int, want ...bool) {
	t.Helper()
	for i, pid := range list {
		if got := parent(pid) != 0; got != want[i] {
			t.Errorf("process %d of %d: alive %v, want %v", i, len(list), got, want[i])
		}
	}
}
