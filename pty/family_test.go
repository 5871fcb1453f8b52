package pty

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The processes of these tests: 10 is this one, 100 the child started at 50.
func world(extra ...stat) *table {
	list := []stat{
		{pid: 1, ppid: 0, sid: 1, start: 1},
		{pid: 2, ppid: 0, sid: 0, start: 1},
		{pid: 10, ppid: 1, sid: 10, start: 20},
		{pid: 11, ppid: 10, sid: 10, start: 60}, // another child of this process
		{pid: 12, ppid: 1, sid: 12, start: 70},  // a daemon
	}
	t := newTable(append(list, extra...))
	t.holders = func() map[device][]stat {
		return map[device][]stat{{1, 2, 3}: {
			{pid: 301, ppid: 1, sid: 301, start: 90}, // after the child
			{pid: 302, ppid: 1, sid: 302, start: 40}, // before it
			{pid: 11, ppid: 10, sid: 10, start: 60},  // our own session
		}}
	}
	return t
}

func TestFamilyFind(t *testing.T) {
	child := stat{pid: 100, ppid: 10, sid: 100, start: 50}
	for _, c := range []struct {
		name  string
		ended uint64
		bond  bond
		procs []stat
		want  []int
	}{
		{"child alone", 0, bond{}, []stat{child}, []int{100}},
		{"session", 0, bond{}, []stat{child, {pid: 101, ppid: 1, sid: 100, start: 51}}, []int{100, 101}},
		{"descendants in their own sessions", 0, bond{}, []stat{child, {pid: 90, ppid: 100, sid: 90, start: 51}, {pid: 80, ppid: 90, sid: 90, start: 52},
			{pid: 81, ppid: 1, sid: 90, start: 53}, {pid: 82, ppid: 81, sid: 82, start: 54}}, []int{80, 81, 82, 90, 100}},
		{"zombies are not living members, their children are", 0, bond{}, []stat{child, {pid: 101, ppid: 100, sid: 100, start: 51, dead: true},
			{pid: 102, ppid: 101, sid: 102, start: 52}}, []int{100, 102}},
		{"another session on the terminal", 0, bond{session: 200}, []stat{child, {pid: 200, ppid: 1, sid: 200, start: 60}, {pid: 201, ppid: 1, sid: 200, start: 61}},
			[]int{100, 200, 201}},
		{"holders", 0, bond{dev: device{1, 2, 3}}, []stat{child}, []int{100, 301}},
		{"number of the child used again", 80, bond{}, []stat{{pid: 100, ppid: 1, sid: 100, start: 85}, {pid: 101, ppid: 100, sid: 100, start: 86}}, nil},
		{"number of the session used again, leader gone", 80, bond{}, []stat{{pid: 101, ppid: 1, sid: 100, start: 86}}, nil},
		{"left by the reaped child", 80, bond{}, []stat{{pid: 101, ppid: 1, sid: 100, start: 55}, {pid: 102, ppid: 101, sid: 100, start: 86}}, []int{101, 102}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, s := range newFamily(100, 50, c.ended, 10).find(world(c.procs...), c.bond) {
				got = append(got, s.pid)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Who has the brand is a member wherever it is, also when nothing else is known of the child; who has another one is not, nor what that has started.
func TestFamilyBrand(t *testing.T) {
	const mine, other = 1<<61 + 1, 1<<61 + 2
	brands := map[int]uint64{100: mine, 101: mine, 300: mine, 301: mine, 200: other, 201: other, 400: other, 10: mine, 20: mine}
	procs := []stat{
		{pid: 20, ppid: 1, sid: 20, start: 30},                                                // the keeper, which starts something with the brand just now
		{pid: 100, ppid: 20, sid: 100, start: 50}, {pid: 101, ppid: 100, sid: 101, start: 51}, // the tree
		{pid: 200, ppid: 101, sid: 200, start: 60}, {pid: 201, ppid: 200, sid: 201, start: 61}, // another keeper that was started in it, and its program
		{pid: 202, ppid: 201, sid: 202, start: 62},                                           // which cannot be told by a brand
		{pid: 300, ppid: 1, sid: 300, start: 70}, {pid: 302, ppid: 300, sid: 300, start: 71}, // left everything
		{pid: 301, ppid: 1, sid: 301, start: 72, dead: true}, {pid: 400, ppid: 1, sid: 400, start: 73}, // a zombie, a stranger
	}
	for _, c := range []struct {
		name   string
		family *family
		want   []int
	}{
		{"with the child", newFamily(100, 50, 0, 10), []int{100, 101, 300, 302}},
		{"without", &family{known: map[int]uint64{}, sessions: map[int]uint64{}, self: 10}, []int{100, 101, 300, 302}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := world(procs...)
			table.brands = func() map[int]uint64 { return brands }
			c.family.brand, c.family.reaper = mine, stat{pid: 20, start: 30}
			var got []int
			for _, s := range c.family.find(table, bond{}) {
				got = append(got, s.pid)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// What was seen once is still known when its parents are gone, and numbers used again are not.
func TestFamilyRemembers(t *testing.T) {
	f := newFamily(100, 50, 0, 10)
	f.find(world(stat{pid: 100, ppid: 10, sid: 100, start: 50}, stat{pid: 90, ppid: 100, sid: 90, start: 51}, stat{pid: 70, ppid: 100, sid: 70, start: 51}), bond{})
	got := f.find(world(
		stat{pid: 91, ppid: 1, sid: 90, start: 52},  // orphan in the session of 90
		stat{pid: 70, ppid: 1, sid: 70, start: 99},  // 70 used again
		stat{pid: 71, ppid: 70, sid: 70, start: 99}, // and its session
	), bond{})
	if len(got) != 1 || got[0].pid != 91 {
		t.Errorf("got %v", got)
	}
}

// The reaper of an adopted child, its parents and the children of other terminals are never members, whatever they have open, nor is anybody of their sessions.
func TestFamilyStrangers(t *testing.T) {
	dev := device{1, 2, 3}
	reaper := stat{pid: 20, ppid: 19, sid: 20, start: 40}
	procs := []stat{
		reaper, {pid: 19, ppid: 1, sid: 19, start: 30}, {pid: 21, ppid: 20, sid: 20, start: 70}, // the reaper, its parent, a helper of it
		{pid: 100, ppid: 20, sid: 100, start: 50}, {pid: 101, ppid: 100, sid: 100, start: 51}, // the tree
		{pid: 200, ppid: 20, sid: 200, start: 60}, {pid: 201, ppid: 200, sid: 200, start: 61}, // a sibling's
		{pid: 301, ppid: 1, sid: 301, start: 90}, {pid: 400, ppid: 20, sid: 400, start: 90},
	}
	for _, c := range []struct {
		name    string
		session int
		gone    bool // the child has ended
		want    []int
	}{
		{"all have the terminal open", 0, false, []int{100, 101, 301, 400}},
		{"after the end", 0, true, []int{101, 301, 400}},
		{"the sibling controls the terminal", 200, false, []int{100, 101, 301, 400}},
		{"the reaper controls the terminal", 20, false, []int{100, 101, 301, 400}},
		{"its parent controls the terminal", 19, false, []int{100, 101, 301, 400}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := procs
			if c.gone {
				list = slices.DeleteFunc(slices.Clone(procs), func(s stat) bool { return s.pid == 100 })
			}
			table := world(list...)
			table.holders = func() map[device][]stat { return map[device][]stat{dev: list} }
			f := newFamily(100, 50, 0, 10)
			f.reaper = reaper
			f.siblings = map[int]uint64{200: 60, 400: 80} // 400 is another's number by now
			var got []int
			for _, s := range f.find(table, bond{session: c.session, dev: dev}) {
				got = append(got, s.pid)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A child of which nobody knows when it ended has no tree but what is on its terminal: its number may be another's.
func TestFamilyReapedLongAgo(t *testing.T) {
	f := newFamily(100, 0, reapedLongAgo, 10)
	if got := f.find(world(stat{pid: 101, ppid: 1, sid: 100, start: 86}, stat{pid: 100, ppid: 1, sid: 100, start: 85}), bond{}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := f.find(world(stat{pid: 101, ppid: 1, sid: 100, start: 86}), bond{}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func TestParseStat(t *testing.T) {
	const rest = " S 1 2 3 34816 5 6 7 8 9 10 11 12 13 14 15 16 1 18 4711 20 21\n"
	for _, name := range []string{"sh", "a b", "x) S 9 9 9 9 (", "", ") Z"} {
		got, ok := parseStat([]byte("42 (" + name + ")" + rest))
		if want := (stat{pid: 42, ppid: 1, sid: 3, tty: 34816, start: 4711}); !ok || got != want {
			t.Errorf("%q: %+v, %v", name, got, ok)
		}
	}
	zombie := "42 (sh) Z 1 2 3 34816 5 6 7 8 9 10 11 12 13 14 15 16 1 18 4711 20\n"
	if got, ok := parseStat([]byte(zombie)); !ok || !got.dead {
		t.Errorf("zombie: %+v, %v", got, ok)
	}
	if got, ok := parseStat([]byte(strings.Replace(zombie, " 16 1 ", " 16 3 ", 1))); !ok || got.dead {
		t.Errorf("its other threads run: %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "42", "42 (sh", "42 (sh)", "42 (sh) S 1 2 3", "x (sh)" + rest, "(sh)" + rest} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	self, ok := readStat(os.Getpid())
	if !ok || self.pid != os.Getpid() || self.ppid != os.Getppid() || self.dead || !self.alive() {
		t.Errorf("self: %+v, %v", self, ok)
	}
	if age := bootTicks() - self.start; time.Duration(age)*clockTick > time.Hour {
		t.Errorf("this test started %v ticks ago: start times and bootTicks differ in unit", age)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 1 2 3 34816 5 6 7 8 9 10 11 12 13 14 15 16 1 18 4711 20 21\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		parseStat(line)
	})
}

// Callers at the same time share a table, a later caller gets its own.
func TestTablesFresh(t *testing.T) {
	var ts tables
	first, err := ts.fresh()
	if err != nil || first.byPID[os.Getpid()].pid != os.Getpid() {
		t.Fatalf("this process is missing: %v", err)
	}
	second, err := ts.fresh()
	if err != nil || first == second {
		t.Errorf("an old table: %v", err)
	}
	if ts.last != nil {
		t.Error("the table is kept")
	}
}

func TestDrain(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Unix(1000, 0).Add(d) }
	var d drain
	if d.over(at(time.Hour)) {
		t.Error("over before the first read")
	}
	d.dry(at(0))
	if d.over(at(quietAfterExit-1)) || !d.over(at(quietAfterExit)) {
		t.Error("silence ends it too early or too late")
	}
	d.took(10, at(quietAfterExit/2))
	if d.over(at(quietAfterExit)) {
		t.Error("output does not prolong it")
	}
	for now := time.Duration(0); now < maxAfterExit; now += quietAfterExit / 2 {
		d.took(1, at(now))
	}
	if !d.over(at(maxAfterExit)) {
		t.Error("a talker keeps it open")
	}
	// A reader that is slow after the exit still gets all that the child wrote.
	var slow drain
	slow.took(4096, at(0))
	if slow.over(at(time.Hour)) {
		t.Error("over although more of the child's output may be left")
	}
	slow.took(heldByKernel, at(time.Hour))
	if !slow.over(at(time.Hour)) {
		t.Error("a flood keeps it open")
	}
}

func TestCloseListed(t *testing.T) {
	f, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := closeListed(); err != nil {
		t.Error(err)
	}
}
