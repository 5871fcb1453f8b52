package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// kept is a hub whose owner keeps a journal, as the real one does.
type kept struct {
	*stream.Hub
	t       testing.TB
	options stream.Options
	journal *journal.Journal
	buf     []byte
}

func newKept(t testing.TB, engine vt.EngineFunc, cols, rows int) *kept {
	t.Helper()
	store, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	k := &kept{t: t, buf: make([]byte, 64<<10)}
	k.journal, err = journal.Open(store, "term1",
		journal.Options{Sync: journal.SyncNone, Segment: 256 << 10, Cols: cols, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.journal.Close() })
	k.options = stream.Options{ID: "term1", Engine: engine, Config: vt.Config{Cols: cols, Rows: rows, Scrollback: 200},
		Journal: k.journal,
		Hooks:   stream.Hooks{Resized: k.journal.Resized}}
	k.Hub = stream.New(k.options)
	return k
}

func (k *kept) write(p []byte) {
	for len(p) > 0 {
		n := min(len(p), len(k.buf))
		if _, err := k.journal.Append(journal.BytesSource(p[:n]), n, k.buf); err != nil {
			k.t.Error(err)
		}
		k.Write(p[:n])
		p = p[n:]
	}
}

// follower is a viewer that can go away and come back with its position.
type follower struct {
	t      testing.TB
	make   vt.EngineFunc // nil: the native one
	engine vt.Engine     // what an xterm.js would show
	text   []byte
	seq    uint64
	kinds  []stream.Kind
	metas  int
	exit   uint64
}

func (f *follower) clone(kinds int, shots []*stream.Message) *follower {
	c := &follower{t: f.t, make: f.make}
	for _, m := range shots[:kinds] {
		c.apply(m)
	}
	return c
}

func (f *follower) apply(m *stream.Message) {
	f.kinds = append(f.kinds, m.Kind)
	switch m.Kind {
	case stream.KindSnapshot:
		cols, rows := sizeOf(f.t, m)
		if f.make == nil {
			f.make = vt.NewEngine
		}
		f.engine = f.make(vt.Config{Cols: cols, Rows: rows, Scrollback: 200})
		f.engine.Write(m.Text())
		f.text = append(f.text, m.Text()...)
	case stream.KindData:
		if flushed := strings.Trim(string(m.Text()), "\ufffd") == ""; m.Seq < f.seq || m.Seq == f.seq && !flushed {
			f.t.Errorf("data up to %d after %d", m.Seq, f.seq)
		}
		f.engine.Write(m.Text())
		f.text = append(f.text, m.Text()...)
	case stream.KindResize, stream.KindResume:
		if m.Kind == stream.KindResume && m.Seq != f.seq {
			f.t.Errorf("resume at %d, want %d", m.Seq, f.seq)
		}
		cols, rows := sizeOf(f.t, m)
		f.engine.Resize(cols, rows)
	case stream.KindMeta:
		f.metas++
		return
	case stream.KindExit:
		f.exit = m.Seq
	}
	if m.Seq < f.seq {
		f.t.Errorf("%s at %d after %d", m.Kind, m.Seq, f.seq)
	}
	f.seq = m.Seq
}

// catchUp takes what there is and applies it.
func (f *follower) catchUp(s *stream.Subscription) (all []*stream.Message) {
	f.t.Helper()
	all = f.poll(s)
	for _, m := range all {
		f.apply(m)
	}
	return all
}

// poll takes what there is.
func (f *follower) poll(s *stream.Subscription) (all []*stream.Message) {
	f.t.Helper()
	for {
		batch, err := s.Poll()
		if err != nil && !errors.Is(err, io.EOF) {
			f.t.Fatal(err)
		}
		if len(batch) == 0 {
			return all
		}
		all = append(all, batch...)
	}
}

// resume comes back to a hub and reports whether it could go on without a snapshot.
func (f *follower) resume(h *stream.Hub) bool {
	f.t.Helper()
	since, before := f.seq, len(f.kinds)
	s := h.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: &since})
	defer s.Close()
	f.catchUp(s)
	return f.kinds[before] == stream.KindResume && !slices.Contains(f.kinds[before:], stream.KindSnapshot)
}

// act is one step of a recording.
type act struct {
	data       []byte
	cols, rows int
}

// tokens are things a program says; none may be cut when texts are compared byte
// by byte, because viewers get the head of a query that was cut in two.
var tokens = []string{
	"\r\n", "\r\n", "\t", "\b", "plain words ", "x", "ümläut ", "漢字", "€", "👍", "e\u0301", "\xff", "\xe2\x82",
	"\xf0\x9f\x91", "\x80", "\xc3",
	"\x1b[H", "\x1b[5;7H", "\x1b[2J", "\x1b[K", "\x1b[1;31m", "\x1b[m", "\x1b[2;5r", "\x1b[r", "\x1b[3L",
	"\x1b[99999M", "\x1b[2147483647b", "\x1b[3b",
	"\x1b[999;999Hz\x1b[1J", "\x1b[4h", "\x1b[4l", "\x1b(0lqk\x1b(B", "\x1b7", "\x1b8", "\x1b[?25l", "\x1b[?25h",
	"\x1b[?2004h",
	"\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b[?2004$p", "\x05", "\x1bP$qm\x1b\\", "\x1b]10;?\a", "\x1b]4;1;?;2;#123456\a",
	"a\x1b[6n\u0301", "\x1bZ",
	"\x1b]2;a title\a", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\u009b31m", "\x1b]0;never \x18ended",
	"\x1b[12\r3m", "\x07", "\ufeff",
}

// recording is n tokens in pieces, with changes of size between them that viewers
// can repeat, and others. With whole no sequence is cut.
func recording(rng *rand.Rand, n int, whole bool) (acts []act) {
	var data []byte
	flush := func() {
		if len(data) > 0 {
			acts = append(acts, act{data: data})
			data = nil
		}
	}
	for range n {
		t := tokens[rng.IntN(len(tokens))]
		switch r := rng.IntN(60); {
		case r == 0:
			flush()
			acts = append(acts, act{cols: 20 + rng.IntN(60), rows: 5 + rng.IntN(20)})
		case r == 1:
			t = "\x1b[?1049h"
		case r < 5:
			t = "\x1b[?1049l"
		}
		if cut := rng.IntN(len(t) + 1); !whole || t[0] >= 0xc0 {
			data = append(data, t[:cut]...)
			flush()
			t = t[cut:]
		}
		data = append(data, t...)
		if rng.IntN(3) == 0 {
			flush()
		}
	}
	data = append(data, "\x1b[m"...) // ends what viewers remember for REP, which a cut query changes
	flush()
	return acts
}

func (k *kept) play(acts []act) {
	for _, a := range acts {
		if a.data != nil {
			k.write(a.data)
		} else {
			k.Resize(a.cols, a.rows)
		}
	}
}

// TestResumeAtEveryPosition: whoever leaves after any event and comes back when
// all is over is like the one that never left.
func TestResumeAtEveryPosition(t *testing.T) {
	for name, engine := range map[string]vt.EngineFunc{"native": vt.NewEngine, "vt10x": vt10x.New} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) { resumeEverywhere(t, engine, seed, seed%2 == 0) })
		}
	}
}

func resumeEverywhere(t *testing.T, engine vt.EngineFunc, seed uint64, whole bool) {
	k := newKept(t, engine, 40, 12)
	stayed := &follower{t: t, make: engine}
	s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer s.Close()
	all := stayed.catchUp(s)
	for _, a := range recording(rand.New(rand.NewPCG(seed, 9)), few(250, 100), whole) {
		k.play([]act{a})
		all = append(all, stayed.catchUp(s)...)
	}
	last := 0 // the last event that nobody can go on before
	for i, m := range all {
		if m.Kind == stream.KindSnapshot {
			last = i
		}
	}
	resumed := 0
	for i := range all {
		if all[i].Kind == stream.KindMeta {
			continue
		}
		left := stayed.clone(i+1, all)
		at := left.seq
		had := len(left.text)
		if left.resume(k.Hub) {
			resumed++
			if whole && !bytes.Equal(left.text, stayed.text) {
				t.Fatalf("resumed at %d with text %q\nwant %q", at, clip(left.text[had:]), clip(stayed.text[had:]))
			}
		} else if i > last && !doubleResize(all, at) {
			t.Errorf("could not go on at %d, event %d of %d, the last snapshot is %d", at, i, len(all), last)
		}
		if d := snapshot.Differences(stayed.engine.Freeze(), left.engine.Freeze()); len(d) > 0 {
			t.Fatalf("resumed at %d, event %d of %d: %q", at, i, len(all), d)
		}
		if left.seq != stayed.seq {
			t.Fatalf("resumed at %d it has got to %d, want %d", at, left.seq, stayed.seq)
		}
	}
	if resumed == 0 {
		t.Error("nobody could go on")
	}
}

// doubleResize reports whether several changes of size are at one position.
func doubleResize(all []*stream.Message, at uint64) bool {
	n := 0
	for _, m := range all {
		if m.Kind == stream.KindResize && m.Seq == at {
			n++
		}
	}
	return n > 1
}

func clip(p []byte) []byte { return p[:min(len(p), 300)] }

// TestResumeInLongOutput goes on at places whose meaning was decided far before.
func TestResumeInLongOutput(t *testing.T) {
	plain := lines(9000) // more than the journal is looked through at once
	bells := append(bytes.Repeat([]byte("ding\a\r\n"), 30_000), "end"...)
	for _, c := range []struct {
		name, before string
		data         []byte
		resumes      bool
	}{
		{"plain text from the beginning", "", plain, true},
		{"plain text after a sequence", "\x1b[1;31mred", plain, true},
		{"plain text in other characters", "\x1b[m", bytes.Repeat([]byte("漢字é\u00a0\r\n"), 60_000), true},
		{"a string that is void", "\x1b]0;", bytes.Repeat([]byte("void "), 200_000), true},
		{"a string that is void and ends", "\x1b_G", append(bytes.Repeat([]byte("void "), 100_000), "\x1b\\shown"...),
			true},
		{"text after a void string", "\x1b]0;" + strings.Repeat("void ", 20_000) + "\a", plain, true},
		{"bells", "\x1b[m", bells, true},
		{"more bells than can be followed", "\x1b[m", bytes.Repeat(bells, 8), false},
		{"sequences all along", "", bytes.Repeat([]byte("\x1b[32mgreen\x1b[m \x1b[6n\r\n"), 40_000), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKept(t, vt.NewEngine, 40, 12)
			stayed, left := &follower{t: t}, &follower{t: t}
			s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
			defer s.Close()
			k.write([]byte(c.before))
			all := stayed.catchUp(s)
			for p := c.data; len(p) > 0; {
				n := min(len(p), 30_001)
				k.write(p[:n])
				all = append(all, stayed.catchUp(s)...)
				p = p[n:]
			}
			k.write([]byte("\x18\x1b[m\r\nlast"))
			stayed.catchUp(s)
			left = stayed.clone(len(all), all)
			if got := left.resume(k.Hub); got != c.resumes {
				t.Errorf("resumed: %v", got)
			}
			if d := snapshot.Differences(stayed.engine.Freeze(), left.engine.Freeze()); len(d) > 0 {
				t.Errorf("%q", d)
			}
		})
	}
}

// TestResumeWhereEveryPieceCutsACharacter: output whose beginning is gone and whose pieces all end inside a character,
// as those of a long text in one script can, is gone on with from what is kept.
func TestResumeWhereEveryPieceCutsACharacter(t *testing.T) {
	const piece = 63 << 10 // a multiple of three, as the characters are long
	k := newKept(t, vt.NewEngine, 40, 12)
	text := append([]byte("x"), bytes.Repeat([]byte("漢字"), piece*80/6)...)
	for p := range slices.Chunk(text, piece) {
		k.write(p)
		if seq, ok := k.AtRest(); ok {
			k.journal.Rested(seq)
		}
	}
	if _, err := k.journal.Trim(k.journal.End(), 3<<20); err != nil || k.journal.Start() == 0 {
		t.Fatalf("the journal begins at %d: %v", k.journal.Start(), err)
	}
	first, end := k.journal.Start(), k.journal.End()
	for _, at := range []uint64{first + vt.MaxHeld, first + 300, first + 100<<10, first + (end-first)/2, end - 300<<10,
		end - 82} {
		since := at + (4-at%3)%3 // whole characters
		f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: since}
		if !f.resume(k.Hub) {
			t.Errorf("no resume at %d of [%d, %d]", since, first, end)
		}
		if string(f.text) != string(text[since:]) {
			t.Errorf("%d bytes since %d, not the %d that came", len(f.text), since, end-since)
		}
	}
	inside := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: first}
	if inside.resume(k.Hub) {
		t.Errorf("resume at %d, inside a character whose beginning is gone", first)
	}
}

// TestResumeFromTheLastRest: the place where the output was at rest last may be 1 MiB before the viewer's position, and
// no byte more, when nothing else tells the state there.
func TestResumeFromTheLastRest(t *testing.T) {
	const farthest = 1 << 20
	k := newKept(t, vt.NewEngine, 40, 12)
	k.write(lines(1000))
	if err := k.journal.Roll(); err != nil {
		t.Fatal(err)
	}
	rest := k.journal.End()
	k.journal.Rested(rest)
	k.write(bytes.Repeat([]byte("plain text\r\n"), farthest/12+100))
	if _, err := k.journal.Trim(rest, 0); err != nil || k.journal.Start() != rest {
		t.Fatalf("the journal begins at %d, not at %d: %v", k.journal.Start(), rest, err)
	}
	for _, since := range []uint64{rest + farthest - 1, rest + farthest, rest + farthest + 1} {
		f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: since}
		if got, want := f.resume(k.Hub), since <= rest+farthest; got != want {
			t.Errorf("resume %d bytes behind the rest: %v, want %v", since-rest, got, want)
		}
	}
}

// TestResumeEdges: positions at which there is little to go on, or nothing.
func TestResumeEdges(t *testing.T) {
	const text = "one\x1b[3"
	for _, c := range []struct {
		name  string
		setup func(k *kept)
		since uint64
		want  string
	}{
		{"from the beginning", func(*kept) {}, 0, "resume data meta"},
		{"in a sequence", func(*kept) {}, 5, "resume data meta"},
		{"nothing missed", func(*kept) {}, 6, "resume meta"},
		{"beyond the end", func(*kept) {}, 7, "snapshot"},
		{"far beyond the end", func(*kept) {}, 1 << 63, "snapshot"},
		{"before half a character", func(k *kept) { k.write([]byte("\xe2\x82")) }, 6, "resume meta"},
		{"in half a character", func(k *kept) { k.write([]byte("\xe2\x82")) }, 7, "snapshot"},
		{"in a character", func(k *kept) { k.write([]byte("\xe2\x82\xac")) }, 7, "snapshot"},
		{"between characters that are none", func(k *kept) { k.write([]byte("\xe2\x82\xe2\x82")) }, 8, "resume meta"},
		{"behind characters that are none", func(k *kept) { k.write([]byte("\xe2\x82\xe2\x82\xac")) }, 8,
			"resume data meta"},
		{"a resize missed", func(k *kept) { k.Resize(50, 12) }, 6, "resume meta"},
		{"two resizes", func(k *kept) { k.Resize(50, 12); k.Resize(40, 12) }, 6, "snapshot"},
		{"two resizes before", func(k *kept) { k.Resize(50, 12); k.Resize(40, 12); k.write([]byte("1mx")) }, 9,
			"resume meta"},
		{"two resizes later", func(k *kept) { k.Resize(50, 12); k.Resize(40, 12) }, 5,
			"resume data resize resize meta"},
		{"a resize nobody can repeat", func(k *kept) { k.write([]byte("1m\x1b[?1049h")); k.Resize(50, 12) }, 3,
			"snapshot"},
		{"after it", func(k *kept) { k.write([]byte("1m\x1b[?1049h")); k.Resize(50, 12); k.write([]byte("x")) }, 17,
			"resume meta"},
		{"ended", func(k *kept) { k.Finish(stream.Exit{Reason: "exit"}) }, 4, "resume data meta exit"},
		{"ended before", func(k *kept) { k.Finish(stream.Exit{Reason: "exit"}) }, 6, "resume meta exit"},
		{"ended in a character", func(k *kept) { k.write([]byte("\xe2\x82")); k.Finish(stream.Exit{Reason: "exit"}) },
			8, "resume meta exit"},
		{"ended behind the end", func(k *kept) { k.Finish(stream.Exit{Reason: "exit"}) }, 7, "snapshot exit"},
		{"no journal", func(k *kept) { k.options.Journal = nil; k.Hub = stream.New(k.options) }, 0, "snapshot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKept(t, vt.NewEngine, 40, 12)
			k.write([]byte(text))
			c.setup(k)
			s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: &c.since})
			defer s.Close()
			f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: c.since}
			if c.since > 100 || strings.HasPrefix(c.want, "snapshot") {
				f.seq = 0
			}
			var got []string
			for _, m := range f.catchUp(s) {
				got = append(got, string(m.Kind))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

// TestResumeTellsTheSizeAndWhatLasts: the resume event has the size at its
// position, and after what was missed comes all that lasts.
func TestResumeTellsTheSizeAndWhatLasts(t *testing.T) {
	k := newKept(t, vt.NewEngine, 40, 12)
	k.write([]byte("one"))
	k.Resize(50, 13)
	k.write([]byte("\a\x1b]2;title\atwo"))
	since := uint64(2)
	s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: &since})
	defer s.Close()
	f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: since}
	var got []string
	for _, m := range f.catchUp(s) {
		got = append(got, string(m.Kind)+string(m.AppendJSON(nil, "")))
	}
	want := []string{
		`resume{"cols":40,"rows":12,"seq":2}`, `data{"seq":3,"data":"e"}`, `resize{"cols":50,"rows":13,"seq":3}`,
		`data{"seq":17,"data":"\u0007\u001b]2;title\u0007two"}`,
		`meta{"title":"title","cwd":"","viewers":1,"size":{"cols":50,"rows":13}}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSlowResumeGetsASnapshot: once it has what it had missed, it may be behind
// no more than others.
func TestSlowResumeGetsASnapshot(t *testing.T) {
	k := newKept(t, vt.NewEngine, 80, 24)
	flood := lines(40_000)
	k.write(flood)
	f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 200})}
	s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: new(uint64)})
	defer s.Close()
	for f.seq < uint64(len(flood)) { // what it missed may be more than any queue holds
		batch, err := s.Poll()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			f.apply(m)
		}
	}
	k.write(flood)
	f.catchUp(s)
	kinds := fmt.Sprint(f.kinds)
	if f.kinds[0] != stream.KindResume || !strings.Contains(kinds, "data snapshot meta") ||
		strings.Count(kinds, "snapshot") != 1 {
		t.Errorf("events %s", kinds)
	}
	if d := snapshot.Differences(k.Snapshot().Frame, f.engine.Freeze()); len(d) > 0 {
		t.Errorf("%q", d)
	}
}

// TestResizeThatCannotBeRepeatedOnTheWay ends the catching up.
func TestResizeThatCannotBeRepeatedOnTheWay(t *testing.T) {
	k := newKept(t, vt.NewEngine, 80, 24)
	k.write(append(lines(4000), "\x1b[?1049halt"...))
	s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: new(uint64)})
	defer s.Close()
	f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 200})}
	for range 2 {
		batch, err := s.Poll()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			f.apply(m)
		}
	}
	k.Resize(60, 20)
	f.catchUp(s)
	if got := fmt.Sprint(f.kinds); got != "[resume data resize snapshot meta]" {
		t.Errorf("events %s", got)
	}
	if d := snapshot.Differences(k.Snapshot().Frame, f.engine.Freeze()); len(d) > 0 {
		t.Errorf("%q", d)
	}
}

// TestResumeLeavesNoFiles: neither a viewer that has caught up nor one that left
// on the way keeps the journal open.
func TestResumeLeavesNoFiles(t *testing.T) {
	k := newKept(t, vt.NewEngine, 80, 24)
	k.write(lines(20_000))
	before := openFiles(t)
	one := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: new(uint64)})
	defer one.Close()
	f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 80, Rows: 24})}
	f.catchUp(one)
	other := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: new(uint64)})
	for range 3 {
		if batch, err := other.Poll(); err != nil || batch[0].Kind == stream.KindSnapshot {
			t.Fatalf("%v, %v", batch, err)
		}
	}
	if openFiles(t) <= before {
		t.Error("a viewer that is catching up has no files open: the test sees nothing")
	}
	other.Close()
	if _, err := other.Poll(); !errors.Is(err, stream.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if n := openFiles(t); n != before {
		t.Errorf("%d files are open, before it were %d", n, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestResumeDuringAFlood: viewers come and go while output and changes of size
// come in. None misses a byte or gets one twice, and all end with the screen.
func TestResumeDuringAFlood(t *testing.T) {
	k := newKept(t, vt.NewEngine, 80, 24)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan *follower, 8)
	var coming atomic.Int32
	coming.Store(int32(cap(done)))
	for range cap(done) {
		f := &follower{t: t}
		first := k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
		f.catchUp(first)
		go func() {
			s := comeAndGo(ctx, f, k.Hub, first)
			coming.Add(-1)
			f.stay(ctx, s, -1)
			s.Close()
			done <- f
		}()
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for p := lines(100_000); coming.Load() > 0 && len(p) > 0; {
		n := min(len(p), 1+rng.IntN(400))
		k.write(p[:n])
		p = p[n:]
		if rng.IntN(40) == 0 {
			k.Resize(80+rng.IntN(3), 24)
		}
	}
	k.write([]byte("\r\n")) // a snapshot of an ended terminal does not say what REP would repeat
	k.Finish(stream.Exit{Reason: "exit"})
	want := k.Snapshot().Frame
	for range cap(done) {
		f := <-done
		if d := snapshot.Differences(want, f.engine.Freeze()); len(d) > 0 {
			t.Errorf("%q", d)
		}
		if n := strings.Count(fmt.Sprint(f.kinds), "resume"); n == 0 {
			t.Error("a viewer was never resumed")
		}
	}
}

// comeAndGo leaves and comes back some times, after more batches each time.
func comeAndGo(ctx context.Context, f *follower, h *stream.Hub, s *stream.Subscription) *stream.Subscription {
	for times := range 8 {
		f.stay(ctx, s, 1+times)
		s.Close()
		since := f.seq
		s = h.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: &since})
	}
	return s
}

// stay follows so many batches, negative for all, or until the exit. The output has a byte for each
// character, so every position can be checked.
func (f *follower) stay(ctx context.Context, s *stream.Subscription, batches int) {
	for ; batches != 0; batches-- {
		batch, err := s.Next(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.t.Error(err)
			}
			return
		}
		for _, m := range batch {
			if before := f.seq; m.Kind == stream.KindData && m.Seq != before+uint64(len(m.Text())) {
				f.t.Errorf("%d bytes up to %d after %d", len(m.Text()), m.Seq, before)
			}
			f.apply(m)
		}
	}
}
