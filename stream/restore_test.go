package stream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// bytesOf is all output of a recording.
func bytesOf(acts []act) (p []byte) {
	for _, a := range acts {
		p = append(p, a.data...)
	}
	return p
}

// TestRestore: a hub that is made from a snapshot and given the rest of the
// journal is like the one that never stopped, and so are viewers of the one that
// go on with the other.
func TestRestore(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		k := newKept(t, vt.NewEngine, 40, 12)
		p := bytesOf(recording(rng, 300, false))
		a, b := rng.IntN(len(p)), rng.IntN(len(p))
		a, b = min(a, b), max(a, b)
		early, late := &follower{t: t}, &follower{t: t}
		k.write(p[:a])
		s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
		early.catchUp(s)
		s.Close()
		shot := k.Snapshot()
		k.write(p[a:b])
		s = k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
		late.catchUp(s)
		s.Close()

		next := stream.Restore(k.options, shot.Frame, shot.Seq)
		if f := next.Stats(); f.Seq != shot.Seq || f.Title != k.Stats().Title && a == b || f.Cols != 40 ||
			f.Rows != 12 || f.Finished {
			t.Errorf("facts %+v", f)
		}
		if reply := next.Write(p[shot.Seq:b]); b == a && len(reply) > 0 {
			t.Errorf("reply %q", reply)
		}
		if d := snapshot.Differences(k.Snapshot().Frame, next.Snapshot().Frame); len(d) > 0 {
			t.Fatalf("seed %d at %d: %q", seed, shot.Seq, d)
		}
		rest := slices.Concat(p[b:], []byte("\x1b[m"))
		k.write(rest)
		next.Write(rest)
		want := next.Snapshot()
		for _, f := range []*follower{early, late} {
			at := f.seq
			if !f.resume(next) {
				t.Errorf("seed %d: could not go on at %d", seed, at)
			}
			if d := snapshot.Differences(want.Frame, f.engine.Freeze()); len(d) > 0 || f.seq != want.Seq {
				t.Errorf("seed %d at %d: to %d of %d, %q", seed, at, f.seq, want.Seq, d)
			}
		}
	}
}

// TestRestoreIsSilent: nothing is answered, rung or told while the screen is made
// again, and what the frame knows besides it is known.
func TestRestoreIsSilent(t *testing.T) {
	k := newKept(t, vt.NewEngine, 40, 12)
	k.write([]byte("\x1b]2;title\a\x1b]7;file:///dir\atext"))
	k.options.Hooks.Changed = func() { t.Error("told") }
	next := stream.Restore(k.options, k.Snapshot().Frame, 123)
	f := next.Stats()
	if f.Title != "title" || f.Cwd != "/dir" || f.Seq != 123 || f.Bells != 0 {
		t.Errorf("%+v", f)
	}
	if got := string(next.Write([]byte("\x1b[6n"))); got != "\x1b[1;5R" {
		t.Errorf("the cursor is at %q", got)
	}
}

// TestResumeOverARestart: the next generation goes on where the last one ended,
// in the middle of a sequence and of a character, and viewers with it.
func TestResumeOverARestart(t *testing.T) {
	for _, end := range []string{"", "\x1b[3", "\xe2\x82", "\x1b]0;tit\xe2\x82", "\x1bP$q"} {
		k := newKept(t, vt.NewEngine, 40, 12)
		k.write([]byte("before "))
		var all []*follower
		watch := func() {
			f := &follower{t: t}
			s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
			f.catchUp(s)
			s.Close()
			all = append(all, f)
		}
		watch()
		k.write([]byte("more " + end))
		watch()
		k.Finish(stream.Exit{Reason: "exit"})
		f := k.Snapshot().Frame
		if err := k.journal.Exit(journal.End{Reason: "exit"}); err != nil {
			t.Fatal(err)
		}
		for _, v := range all[:len(all):len(all)] { // and those who saw the exit
			w := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: v.seq}
			w.engine.Write(v.text)
			if !w.resume(k.Hub) || w.exit != k.journal.End() {
				t.Errorf("%q: the exit is at %d", end, w.exit)
			}
			all = append(all, w)
		}
		k.Hub = stream.Restore(k.options, f, k.journal.End())
		if err := k.journal.Restart(2, 40, 12); err != nil {
			t.Fatal(err)
		}
		k.write([]byte("\x18\x1b[m\r\nagain\r\n$ \xe2"))
		for i, v := range all {
			at := v.seq
			if !v.resume(k.Hub) {
				t.Errorf("%q: viewer %d could not go on at %d", end, i, at)
			}
			if d := snapshot.Differences(k.Snapshot().Frame, v.engine.Freeze()); len(d) > 0 {
				t.Errorf("%q: viewer %d at %d: %q", end, i, at, d)
			}
		}
	}
}

// TestResumeOverAnUnknownResize: the hub before knew whether viewers could repeat
// it, this one does not.
func TestResumeOverAnUnknownResize(t *testing.T) {
	k := newKept(t, vt.NewEngine, 40, 12)
	k.write([]byte("one"))
	k.Resize(50, 12)
	k.write([]byte("two"))
	shot := k.Snapshot()
	k.Hub = stream.Restore(k.options, shot.Frame, shot.Seq)
	k.write([]byte("three"))
	for since, want := range map[uint64]bool{2: false, 3: false, 4: true, 6: true} {
		f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: since}
		if got := f.resume(k.Hub); got != want {
			t.Errorf("at %d resumed: %v", since, got)
		}
	}
}

// TestRestartEndsHalfACharacter: what a generation left of a character is one
// U+FFFD for each byte (the first ends the sequence it is in), for those who were
// there, those who come back and the next generation. Nothing of it joins what
// that prints first.
func TestRestartEndsHalfACharacter(t *testing.T) {
	for _, engine := range []vt.EngineFunc{vt.NewEngine, vt10x.New} {
		k := newKept(t, engine, 40, 12)
		there := k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
		defer there.Close()
		f := &follower{t: t, make: engine}
		f.catchUp(there)
		k.write([]byte("a\x1b[6\xe2\x82"))
		k.Finish(stream.Exit{Reason: "exit"})
		if err := k.journal.Exit(journal.End{Reason: "exit"}); err != nil {
			t.Fatal(err)
		}
		f.catchUp(there)
		if got := fmt.Sprint(f.kinds); got != "[snapshot data data exit]" ||
			!bytes.HasSuffix(f.text, []byte("\ufffd\ufffd")) || f.exit != 6 {
			t.Errorf("the viewer got %s with %q, exit at %d", got, f.text, f.exit)
		}
		shot := k.Snapshot()
		if got := snapshot.Text(shot.Frame, 0); !strings.HasPrefix(got, "a\ufffd\n") || shot.Seq != 6 {
			t.Errorf("the last screen at %d is %.20q", shot.Seq, got)
		}
		for since, want := range map[uint64]string{0: "a\x1b[6\ufffd\ufffd", 4: "\ufffd\ufffd", 6: ""} {
			resumed(t, k, since, want)
		}
		k.Hub = stream.Restore(k.options, shot.Frame, k.journal.End())
		if err := k.journal.Restart(2, 40, 12); err != nil {
			t.Fatal(err)
		}
		k.write([]byte("\xacb"))
		for since, want := range map[uint64]string{0: "a\x1b[6\ufffd\ufffd\ufffdb", 4: "\ufffd\ufffd\ufffdb",
			6: "\ufffdb", 7: "b"} {
			resumed(t, k, since, want)
		}
		if got := snapshot.Text(k.Snapshot().Frame, 0); !strings.HasPrefix(got, "a\ufffd\ufffdb\n") {
			t.Errorf("the next screen is %.20q", got)
		}
	}
}

// resumed fails the test unless a viewer that comes back at since gets this text.
func resumed(t *testing.T, k *kept, since uint64, want string) {
	t.Helper()
	f := &follower{t: t, engine: vt.NewEngine(vt.Config{Cols: 40, Rows: 12}), seq: since}
	s := k.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: &since})
	defer s.Close()
	for _, m := range f.poll(s) {
		if m.Kind == stream.KindSnapshot {
			t.Errorf("a viewer at %d got a snapshot", since)
		}
		f.text = append(f.text, m.Text()...)
	}
	if string(f.text) != want {
		t.Errorf("a viewer at %d got %q, want %q", since, f.text, want)
	}
}

// TestRestoreWithOtherWidths: a viewer whose screen was made with another table of
// widths cannot go on; one that came to the new life can.
func TestRestoreWithOtherWidths(t *testing.T) {
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
	engine := vt.NewEngine(vt.Config{Cols: 80, Rows: 24})
	text := []byte("before \U0001f468\u200d\U0001f469 after\r\n")
	engine.Write(text)
	if err := j.Write(text); err != nil {
		t.Fatal(err)
	}
	o := stream.Options{ID: "a", Engine: vt.NewEngine, Journal: j,
		Config: vt.Config{Cols: 80, Rows: 24, Unicode: vt.Unicode15Graphemes}}
	h := stream.Restore(o, engine.Freeze(), uint64(len(text)))
	kind := func(since uint64) stream.Kind {
		s := h.Subscribe(stream.SubscribeOptions{Since: &since})
		defer s.Close()
		batch, err := s.Poll()
		if err != nil || len(batch) == 0 {
			t.Fatalf("%v, %d messages", err, len(batch))
		}
		return batch[0].Kind
	}
	if k := kind(uint64(len(text))); k != stream.KindSnapshot {
		t.Errorf("one of the life before got %s", k)
	}
	more := []byte("more")
	if err := j.Write(more); err != nil {
		t.Fatal(err)
	}
	h.Write(more)
	if k := kind(h.Stats().Seq); k != stream.KindResume {
		t.Errorf("one of this life got %s", k)
	}
}
