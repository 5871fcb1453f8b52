package proc

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The processes of these tests: 10 is this one, 100 the child started at 50.
func world(extra ...Process) *table {
	list := []Process{
		{PID: 1, Parent: 0, Session: 1, Start: 1},
		{PID: 2, Parent: 0, Session: 0, Start: 1},
		{PID: 10, Parent: 1, Session: 10, Start: 20},
		{PID: 11, Parent: 10, Session: 10, Start: 60}, // another child of this process
		{PID: 12, Parent: 1, Session: 12, Start: 70},  // a daemon
	}
	rows := map[int]*row{}
	for _, p := range append(list, extra...) {
		rows[p.PID] = &row{Process: p}
	}
	t := newTable(rows, nil)
	t.holders = func() map[Device][]Process {
		return map[Device][]Process{{1, 2, 3}: {
			{PID: 301, Parent: 1, Session: 301, Start: 90}, // after the child
			{PID: 302, Parent: 1, Session: 302, Start: 40}, // before it
			{PID: 11, Parent: 10, Session: 10, Start: 60},  // our own session
		}}
	}
	return t
}

func TestFamilyMembers(t *testing.T) {
	child := Process{PID: 100, Parent: 10, Session: 100, Start: 50}
	for _, c := range []struct {
		name  string
		ended uint64
		tty   TTY
		procs []Process
		want  []int
	}{
		{"child alone", 0, TTY{}, []Process{child}, []int{100}},
		{"session", 0, TTY{}, []Process{child, {PID: 101, Parent: 1, Session: 100, Start: 51}}, []int{100, 101}},
		{"descendants in their own sessions", 0, TTY{},
			[]Process{child, {PID: 90, Parent: 100, Session: 90, Start: 51},
				{PID: 80, Parent: 90, Session: 90, Start: 52},
				{PID: 81, Parent: 1, Session: 90, Start: 53}, {PID: 82, Parent: 81, Session: 82, Start: 54}},
			[]int{80, 81, 82, 90, 100}},
		{"zombies are not living members, their children are", 0, TTY{},
			[]Process{child, {PID: 101, Parent: 100, Session: 100, Start: 51, Ended: true},
				{PID: 102, Parent: 101, Session: 102, Start: 52}}, []int{100, 102}},
		{"another session on the terminal", 0, TTY{Session: 200},
			[]Process{child, {PID: 200, Parent: 1, Session: 200, Start: 60},
				{PID: 201, Parent: 1, Session: 200, Start: 61}},
			[]int{100, 200, 201}},
		{"holders", 0, TTY{Device: Device{1, 2, 3}}, []Process{child}, []int{100, 301}},
		{"number of the child used again", 80, TTY{},
			[]Process{{PID: 100, Parent: 1, Session: 100, Start: 85}, {PID: 101, Parent: 100, Session: 100, Start: 86}},
			nil},
		{"number of the session used again, leader gone", 80, TTY{},
			[]Process{{PID: 101, Parent: 1, Session: 100, Start: 86}}, nil},
		{"left by the reaped child", 80, TTY{}, []Process{{PID: 101, Parent: 1, Session: 100, Start: 55},
			{PID: 102, Parent: 101, Session: 100, Start: 86}}, []int{101, 102}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, s := range newFamily(100, 50, c.ended, 10).members(world(c.procs...), c.tty) {
				got = append(got, s.PID)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A process with the tag is a member wherever it is, also when nothing else is known of the child; one with another tag
// is not, nor what that has started.
func TestFamilyTag(t *testing.T) {
	const mine, other = 1<<61 + 1, 1<<61 + 2
	tags := map[int]uint64{100: mine, 101: mine, 300: mine, 301: mine, 200: other, 201: other, 400: other, 10: mine,
		20: mine}
	procs := []Process{
		// The keeper, which starts something with the tag just now.
		{PID: 20, Parent: 1, Session: 20, Start: 30},
		{PID: 100, Parent: 20, Session: 100, Start: 50}, {PID: 101, Parent: 100, Session: 101, Start: 51}, // the tree
		// Another keeper that was started in it, and its program.
		{PID: 200, Parent: 101, Session: 200, Start: 60}, {PID: 201, Parent: 200, Session: 201, Start: 61},
		// Which cannot be told by a tag.
		{PID: 202, Parent: 201, Session: 202, Start: 62},
		// Left everything.
		{PID: 300, Parent: 1, Session: 300, Start: 70}, {PID: 302, Parent: 300, Session: 300, Start: 71},
		// A zombie, a stranger.
		{PID: 301, Parent: 1, Session: 301, Start: 72, Ended: true}, {PID: 400, Parent: 1, Session: 400, Start: 73},
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
			table := newTable(world(procs...).rows, map[int]uint64{100: 50})
			table.tags = func() map[int]uint64 { return tags }
			c.family.tag, c.family.reaper = mine, Process{PID: 20, Start: 30}
			var got []int
			for _, s := range c.family.members(table, TTY{}) {
				got = append(got, s.PID)
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
	f.members(world(Process{PID: 100, Parent: 10, Session: 100, Start: 50},
		Process{PID: 90, Parent: 100, Session: 90, Start: 51}, Process{PID: 70, Parent: 100, Session: 70,
			Start: 51}), TTY{})
	got := f.members(world(
		Process{PID: 91, Parent: 1, Session: 90, Start: 52},  // orphan in the session of 90
		Process{PID: 70, Parent: 1, Session: 70, Start: 99},  // 70 used again
		Process{PID: 71, Parent: 70, Session: 70, Start: 99}, // and its session
	), TTY{})
	if len(got) != 1 || got[0].PID != 91 {
		t.Errorf("got %v", got)
	}
}

// The reaper of an adopted child, its parents and the children of other terminals are never members, whatever they have
// open, nor is anybody of their sessions.
func TestFamilyExcluded(t *testing.T) {
	dev := Device{1, 2, 3}
	reaper := Process{PID: 20, Parent: 19, Session: 20, Start: 40}
	procs := []Process{
		// The reaper, its parent, a helper of it.
		reaper, {PID: 19, Parent: 1, Session: 19, Start: 30}, {PID: 21, Parent: 20, Session: 20, Start: 70},
		{PID: 100, Parent: 20, Session: 100, Start: 50}, {PID: 101, Parent: 100, Session: 100, Start: 51}, // the tree
		// A sibling's.
		{PID: 200, Parent: 20, Session: 200, Start: 60}, {PID: 201, Parent: 200, Session: 200, Start: 61},
		{PID: 301, Parent: 1, Session: 301, Start: 90}, {PID: 400, Parent: 20, Session: 400, Start: 90},
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
				list = slices.DeleteFunc(slices.Clone(procs), func(s Process) bool { return s.PID == 100 })
			}
			table := world(list...)
			// 400 is another's number by now.
			table = newTable(table.rows, map[int]uint64{100: 50, 200: 60, 400: 80})
			table.holders = func() map[Device][]Process { return map[Device][]Process{dev: list} }
			f := newFamily(100, 50, 0, 10)
			f.reaper = reaper
			var got []int
			for _, s := range f.members(table, TTY{Session: c.session, Device: dev}) {
				got = append(got, s.PID)
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
	f := newFamily(100, 0, EndUnknown, 10)
	if got := f.members(world(Process{PID: 101, Parent: 1, Session: 100, Start: 86},
		Process{PID: 100, Parent: 1, Session: 100, Start: 85}), TTY{}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := f.members(world(Process{PID: 101, Parent: 1, Session: 100, Start: 86}), TTY{}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func TestParseStat(t *testing.T) {
	const rest = " S 1 2 3 34816 5 6 7 8 9 10 11 12 13 14 15 16 1 18 4711 20 21\n"
	for _, name := range []string{"sh", "a b", "x) S 9 9 9 9 (", "", ") Z"} {
		got, ok := parseStat([]byte("42 (" + name + ")" + rest))
		if want := (Process{PID: 42, Parent: 1, Session: 3, TTY: 34816, Start: 4711}); !ok || got != want {
			t.Errorf("%q: %+v, %v", name, got, ok)
		}
	}
	zombie := "42 (sh) Z 1 2 3 34816 5 6 7 8 9 10 11 12 13 14 15 16 1 18 4711 20\n"
	if got, ok := parseStat([]byte(zombie)); !ok || !got.Ended {
		t.Errorf("zombie: %+v, %v", got, ok)
	}
	if got, ok := parseStat([]byte(strings.Replace(zombie, " 16 1 ", " 16 3 ", 1))); !ok || got.Ended {
		t.Errorf("its other threads run: %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "42", "42 (sh", "42 (sh)", "42 (sh) S 1 2 3", "x (sh)" + rest, "(sh)" + rest} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	self, ok := Find(os.Getpid())
	if !ok || self.PID != os.Getpid() || self.Parent != os.Getppid() || self.Ended || !self.Alive() {
		t.Errorf("self: %+v, %v", self, ok)
	}
	if age := BootTicks() - self.Start; time.Duration(age)*Tick > time.Hour {
		t.Errorf("this test started %v ticks ago: start times and BootTicks differ in unit", age)
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
	if err != nil || first.byPID[os.Getpid()].PID != os.Getpid() {
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
