package stream

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

// TestFinding: sync points are found where they are, over several pieces.
func TestFinding(t *testing.T) {
	for _, c := range []struct {
		pieces string // separated by |
		want   finding
	}{
		{"abc", finding{}},
		{"\x1b[m", finding{true, 100, 100, false}},
		{"a\x1bb\x18c", finding{true, 101, 103, false}},
		{"a\x18b\x1bc", finding{true, 101, 103, false}},
		{"\x1ab\x1bc\x1b", finding{true, 100, 104, false}},
		{"\x1ab\x18c", finding{true, 100, 102, false}},
		{"ab|c\x1b|d\x1b", finding{true, 103, 105, false}},
		{"ab\x07", finding{false, 0, 0, true}},
		{"\x07\x1bc", finding{true, 101, 101, false}},
		{"\x1bc\x07", finding{true, 100, 100, true}},
		{"\x07|\x1bc|d", finding{true, 101, 101, false}},
		{"\x1b]0;\x07|d", finding{true, 100, 100, true}},
		{"\x1b\u009b", finding{true, 100, 100, true}},
		{"\u009f", finding{false, 0, 0, true}},
		{"\u00a0\u00bf", finding{}},
		{"\u00a0\u0080", finding{false, 0, 0, true}},
		{"ab\xc2", finding{false, 0, 0, true}},
	} {
		var f finding
		at := uint64(100)
		for _, p := range strings.Split(c.pieces, "|") {
			f.observe([]byte(p), at)
			at += uint64(len(p))
		}
		if f != c.want {
			t.Errorf("%q: %+v, want %+v", c.pieces, f, c.want)
		}
	}
}

// TestResizes: what a viewer has at a position, and when that is unknown.
func TestResizes(t *testing.T) {
	r := resizes{first: Size{Cols: 1, Rows: 1}}
	for i := range 4 {
		r.add(resize{at: uint64(10 * i), event: uint64(10 * i), Size: Size{Cols: i + 2, Rows: 9}, exact: i != 1})
	}
	for seq, want := range map[uint64]int{9: -1, 10: -1, 11: 2, 19: 2, 20: 3, 29: 3, 30: 4, 31: 4} {
		had, ok := r.until(seq)
		if ok != (want >= 0) || ok && (len(had) != want || r.sizeAfter(had).Cols != want+1) {
			t.Errorf("at %d: %d, %v; want %d", seq, len(had), ok, want)
		}
	}
	if had, ok := new(resizes{list: r.list[2:]}).until(0); len(had) > 0 || !ok {
		t.Error(had, ok)
	}
	if r.sizeAfter(nil) != r.first {
		t.Error("the size before all changes")
	}
	r.add(resize{at: 30, event: 30, exact: true})
	if _, ok := r.until(30); ok {
		t.Error("two changes at one position")
	}
	for i := range maxResizes {
		r.add(resize{at: uint64(100 + i), event: uint64(100 + i), Size: Size{Cols: 5, Rows: 5}, exact: true})
	}
	if r.dropped != 5 || len(r.list) != maxResizes || r.count() != maxResizes+5 || r.known != 31 || r.first.Cols != 0 {
		t.Errorf("%d dropped of %d, known from %d, first %v", r.dropped, r.count(), r.known, r.first)
	}
	if _, ok := r.from(4); ok {
		t.Error("a dropped change is there")
	}
	if list, ok := r.from(5); !ok || len(list) != maxResizes {
		t.Error(len(list), ok)
	}
	if list, ok := r.from(r.count()); !ok || len(list) != 0 {
		t.Error(len(list), ok)
	}
}

// TestReplayHandlesEntries: which entries of a journal a replay goes on behind.
func TestReplayHandlesEntries(t *testing.T) {
	size := Size{Cols: 80, Rows: 24}
	for i, c := range []struct {
		entry journal.Entry
		ok    bool
	}{
		{journal.Entry{Kind: journal.EntryGap, Seq: 10}, false},
		{journal.Entry{Kind: journal.EntryOutput, Damaged: true, Seq: 12, Data: []byte("ab")}, false},
		{journal.Entry{Kind: journal.EntryOutput, Seq: 12, Data: []byte("ab")}, true},
		{journal.Entry{Kind: journal.EntryOutput, Seq: 13, Data: []byte("ab")}, false},
		{journal.Entry{Kind: journal.EntryResize, Seq: 10}, true},
		{journal.Entry{Kind: journal.EntryResize, Seq: 9}, false},
		{journal.Entry{Kind: journal.EntryRestart, Seq: 10, Cols: 80, Rows: 24}, true},
		{journal.Entry{Kind: journal.EntryRestart, Seq: 10, Cols: 81, Rows: 24}, false},
		{journal.Entry{Kind: journal.EntryRestart, Seq: 10, Cols: 80, Rows: 25}, false},
	} {
		r := &replay{pos: 10, known: 10, size: size}
		err := r.handle(c.entry)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, errCannotResume) {
			t.Errorf("entry %d: %v", i, err)
		}
		if c.ok && (string(r.rest) != string(c.entry.Data) || r.restarted != (c.entry.Kind == journal.EntryRestart)) {
			t.Errorf("entry %d: %+v", i, r)
		}
	}
	if r := (&replay{}); r.failed(nil) != "" || r.failed(ErrClosed) != ReasonConnect {
		t.Error("a replay that did not start")
	}
	if r := (&replay{started: true}); r.failed(nil) != "" || r.failed(ErrClosed) != ReasonLag {
		t.Error("a replay that started")
	}
}

// woken reports whether the viewer was woken, and takes the wake-up.
func woken(s *Subscription) bool {
	select {
	case <-s.wake:
		return true
	default:
		return false
	}
}

// events polls and returns the kinds of events.
func events(t *testing.T, s *Subscription) (kinds []Kind) {
	t.Helper()
	batch, err := s.Poll()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range batch {
		kinds = append(kinds, m.Kind)
	}
	return kinds
}

func plainHub(hooks Hooks) *Hub {
	return New(Options{ID: "t", Engine: vt.NewEngine, Config: vt.Config{Cols: 80, Rows: 24}, Hooks: hooks})
}

// TestEverythingWakes: a viewer that waits is woken for each thing that it gets.
func TestEverythingWakes(t *testing.T) {
	h := plainHub(Hooks{})
	s := h.Subscribe(SubscribeOptions{Who: Who{Role: RoleWrite}})
	other := h.Subscribe(SubscribeOptions{})
	for _, step := range []struct {
		name string
		do   func()
		want []Kind
	}{
		{"a subscription", func() {}, []Kind{KindSnapshot, KindMeta}},
		{"output", func() { h.Write([]byte("a")) }, []Kind{KindData}},
		{"a bell", func() { h.Write([]byte("\a")) }, []Kind{KindData, KindMeta}},
		{"the clipboard", func() { h.Write([]byte("\x1b]52;c;YQ==\a")) }, []Kind{KindMeta}},
		{"a change of width", func() { h.Resize(70, 24) }, []Kind{KindResize}},
		{"another size", func() { h.Resize(70, 25) }, nil},
		{"half a character", func() { h.Write([]byte("\xe2")) }, nil},
		{"its end", h.Flush, []Kind{KindData}},
		{"a loss", func() { h.Skip(3) }, []Kind{KindSnapshot, KindMeta}},
		{"a hidden viewer", func() { other.Hide(true) }, []Kind{KindMeta}},
		{"the same again", func() { other.Hide(true) }, nil},
		{"a viewer that is shown", func() { other.Hide(false) }, []Kind{KindMeta}},
		{"a viewer that leaves", other.Close, []Kind{KindMeta}},
		{"the same again", other.Close, nil},
		{"the end", func() { h.Finish(Exit{Reason: "exit"}) }, []Kind{KindExit}},
	} {
		step.do()
		w, got := woken(s), events(t, s)
		if step.name == "another size" { // exact or not is the engine's business
			if !w || len(got) == 0 || got[0] != KindResize {
				t.Errorf("%s: woken %v, %v", step.name, w, got)
			}
			continue
		}
		if w != (len(step.want) > 0) && step.name != "half a character" || !slices.Equal(got, step.want) {
			t.Errorf("%s: woken %v, %v; want %v", step.name, w, got, step.want)
		}
		woken(s)
	}
	s.Close()
	if _, err := s.Poll(); !woken(s) || !errors.Is(err, ErrClosed) {
		t.Error("Close", err)
	}
	if h.Stats().Viewers != 0 || h.Stats().Attached != 0 {
		t.Errorf("%+v", h.Stats())
	}
}

// TestPresenceOfMany: more than presenceWake viewers are not woken for a change of their number, but learn it.
func TestPresenceOfMany(t *testing.T) {
	h := plainHub(Hooks{})
	first := h.Subscribe(SubscribeOptions{})
	events(t, first)
	for n := 2; n <= presenceWake+1; n++ {
		woken(first)
		defer h.Subscribe(SubscribeOptions{}).Close()
		if woken(first) != (n <= presenceWake) {
			t.Errorf("%d viewers", n)
		}
		if got := events(t, first); !slices.Equal(got, []Kind{KindMeta}) {
			t.Errorf("%d viewers: %v", n, got)
		}
	}
}

// TestQueueIsBounded: a viewer may have MaxQueue waiting, and not a byte more.
func TestQueueIsBounded(t *testing.T) {
	h := plainHub(Hooks{})
	s := h.Subscribe(SubscribeOptions{})
	events(t, s)
	half := dataMessage("t", make([]byte, MaxQueue/2-messageCost), 1)
	s.push(half)
	s.push(half)
	if s.stale != "" || s.queued != MaxQueue || len(s.queue) != 2 {
		t.Fatalf("%q with %d bytes", s.stale, s.queued)
	}
	s.push(dataMessage("t", nil, 1))
	if s.stale != ReasonLag || s.queued != 0 || s.queue != nil {
		t.Errorf("%q with %d bytes", s.stale, s.queued)
	}
	if got := events(t, s); !slices.Equal(got, []Kind{KindSnapshot, KindMeta}) {
		t.Error(got)
	}
}

// TestJoinOfAClosedViewer: a viewer that left, or was made stale, during a replay gets nothing from it.
func TestJoinOfAClosedViewer(t *testing.T) {
	h := plainHub(Hooks{})
	for name, change := range map[string]func(s *Subscription){
		"closed": func(s *Subscription) { s.closed = true }, "stale": func(s *Subscription) { s.stale = ReasonRestore },
	} {
		s := h.Subscribe(SubscribeOptions{})
		s.replay, s.stale = &replay{}, replaying
		change(s)
		before := s.stale
		if batch := s.join(target{}, ReasonLag); batch != nil || s.stale != before {
			t.Errorf("%s: %v, %q", name, batch, s.stale)
		}
		if batch := s.join(target{}, ""); batch != nil || s.stale != before {
			t.Errorf("%s: %v, %q", name, batch, s.stale)
		}
	}
	s := h.Subscribe(SubscribeOptions{})
	s.replay, s.stale = &replay{}, replaying
	if batch := s.join(target{seq: 1}, ""); batch != nil || s.stale != replaying {
		t.Error("joined behind the hub")
	}
	if batch := s.join(target{}, ""); len(batch) != 1 || batch[0].Kind != KindMeta || s.stale != "" {
		t.Error("not joined", batch)
	}
}

// TestStatsAreRestored: the output's time and at least so many bells; the hub goes on.
func TestStatsAreRestored(t *testing.T) {
	h := plainHub(Hooks{})
	at := time.Unix(1e9, 0)
	h.RestoreStats(at, 5)
	if s := h.Stats(); s.Bells != 5 || !s.Output.Equal(at) {
		t.Errorf("%+v", s)
	}
	h.Write([]byte("\a"))
	h.RestoreStats(at, 3)
	if s := h.Stats(); s.Bells != 6 || s.Seq != 1 || s.Finished || s.AltScreen {
		t.Errorf("%+v", s)
	}
	h.Write([]byte("\x1b[?1049h\xe2"))
	if s := h.Stats(); s.Seq != 9 || !s.AltScreen {
		t.Errorf("%+v", s)
	}
	h.Finish(Exit{Reason: "exit"})
	h.Finish(Exit{Reason: "lost"})
	h.Write([]byte("late"))
	h.Resize(20, 20)
	s := h.Stats()
	if s.Seq != 10 || !s.AltScreen || !s.Finished || s.Cols != 80 || s.Memory == 0 || h.exit.Reason != "exit" {
		t.Errorf("%+v", s)
	}
	if _, ok := h.AtRest(); ok || h.Modes() != (vt.Modes{}) {
		t.Error("a finished terminal has modes")
	}
}

// TestHooks: each is called for what it stands for.
func TestHooks(t *testing.T) {
	var got []string
	note := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	h := plainHub(Hooks{
		Snapshot: func(n int, _ time.Duration) { note("snapshot %v", n > 0) },
		Resync:   func(r Reason) { note("resync %s", r) },
		Changed:  func() { note("changed") },
		Resized:  func(seq uint64, cols, rows int) { note("resized %d %dx%d", seq, cols, rows) },
		Marked:   func(m vt.PromptMark, seq uint64) { note("marked %c %d", m.Kind, seq) },
	})
	want := func(do func(), list ...string) {
		t.Helper()
		if got = nil; true {
			do()
		}
		if !slices.Equal(got, list) {
			t.Errorf("%q, want %q", got, list)
		}
	}
	var s *Subscription
	want(func() { s = h.Subscribe(SubscribeOptions{}) }, "changed")
	var batch []*Message
	want(func() { batch, _ = s.Poll() }, "resync connect")
	want(func() { batch[0].SSE() }, "snapshot true")
	want(func() { h.Write([]byte("text")) })
	want(func() { h.Write([]byte("\a")) }, "changed")
	want(func() { h.Write([]byte("ab\x1b]133;A\a")) }, "marked A 15")
	want(func() { h.Write([]byte("\xc3")); h.Write([]byte("\xa9\x1b]133;B\aabc")) }, "marked B 25")
	want(func() { h.Resize(80, 24) })
	want(func() { h.Resize(70, 24) }, "resized 28 70x24")
	want(func() { h.Finish(Exit{Reason: "exit"}) }, "changed")
	want(s.Close, "changed")
}

// TestBoundsOfEffects: a program makes the hub keep and send only so much.
func TestBoundsOfEffects(t *testing.T) {
	h := plainHub(Hooks{})
	query := "\x1b[c"
	one := len(h.Write([]byte(query)))
	if n := len(h.Write([]byte(strings.Repeat(query, maxReply/one+9)))); n > maxReply || n <= maxReply-one {
		t.Errorf("%d bytes of replies, at most %d", n, maxReply)
	}
	h.Write([]byte("\x1b]0;" + strings.Repeat("t", maxTitle+1) + "\a"))
	h.Write([]byte("\x1b]7;file://h/" + strings.Repeat("d", maxTitle) + "\a"))
	if s := h.Stats(); len(s.Title) != maxTitle || len(s.Cwd) != maxTitle {
		t.Errorf("%d and %d bytes", len(s.Title), len(s.Cwd))
	}
}

// TestRequestedSizes: the least size, viewers without one, hidden and closed ones.
func TestRequestedSizes(t *testing.T) {
	for policy, want := range map[Policy]Size{
		PolicyLatest:   {Cols: 50, Rows: 30},
		PolicyOwner:    {Cols: 100, Rows: 20},
		PolicySmallest: {Cols: 50, Rows: 20},
		PolicyLargest:  {Cols: 100, Rows: 30},
		PolicyFixed:    {Cols: 80, Rows: 24},
	} {
		h := New(Options{ID: "t", Engine: vt.NewEngine, Config: vt.Config{Cols: 80, Rows: 24}, Policy: policy})
		a, b, c := h.Subscribe(SubscribeOptions{}), h.Subscribe(SubscribeOptions{}), h.Subscribe(SubscribeOptions{})
		if got := a.RequestSize(0, 30); got != (Size{Cols: 80, Rows: 24}) || h.viewers.owner != 0 {
			t.Errorf("%s without columns: %v", policy, got)
		}
		a.RequestSize(100, 20)
		c.RequestSize(300, 300)
		c.Hide(true)
		if got := b.RequestSize(50, 30); got != want || h.EffectiveSize() != want {
			t.Errorf("%s: %v, want %v", policy, got, want)
		}
		c.Close()
		if got := c.RequestSize(200, 200); got != (Size{Cols: 80, Rows: 24}) {
			t.Errorf("%s of a closed viewer: %v", policy, got)
		}
		b.Close()
		if got := a.RequestSize(1, 1); policy != PolicyFixed && got != (Size{Cols: minCols, Rows: minRows}) {
			t.Errorf("%s: %v", policy, got)
		}
	}
}

// TestASourceIsClosedWhileItIsOpened: its viewer may leave at any time; no reader stays open then.
func TestASourceIsClosedWhileItIsOpened(t *testing.T) {
	store, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	j, err := journal.Open(store, "a", journal.Options{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for range 100 {
		var s source
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := s.open(j, 0); err == nil {
				_, _ = s.next()
			}
		}()
		s.close()
		if <-done; s.reader != nil || !s.closed {
			t.Fatal("a reader is left")
		}
		if err := s.open(j, 0); !errors.Is(err, ErrClosed) {
			t.Fatalf("opened again: %v", err)
		}
	}
}
