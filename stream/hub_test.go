package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// patience is how long a test waits for a fact before it fails: no judgement of
// speed, the machine may be slow and busy.
const patience = time.Minute

func newHub(t testing.TB, cols, rows int) *stream.Hub {
	t.Helper()
	return stream.New(stream.Options{ID: "term1", Engine: vt10x.New,
		Config: vt.Config{Cols: cols, Rows: rows, Scrollback: 200}})
}

// model is what a correct viewer holds: an emulator that follows the events.
type model struct {
	t      testing.TB
	engine vt.Engine
	seq    uint64
	kinds  []stream.Kind
	snaps  int
}

func (m *model) apply(msg *stream.Message) {
	m.kinds = append(m.kinds, msg.Kind)
	switch msg.Kind {
	case stream.KindSnapshot:
		m.snaps++
		cols, rows := sizeOf(m.t, msg)
		m.engine = vt10x.New(vt.Config{Cols: cols, Rows: rows, Scrollback: 200})
		m.engine.Write(msg.Text())
		m.seq = msg.Seq
	case stream.KindData:
		if want := m.seq + uint64(len(msg.Text())); msg.Seq != want {
			m.t.Errorf("data event ends at %d, want %d: a gap or a repeat", msg.Seq, want)
		}
		m.engine.Write(msg.Text())
		m.seq = msg.Seq
	}
}

func sizeOf(t testing.TB, m *stream.Message) (cols, rows int) {
	t.Helper()
	b := string(m.AppendJSON(nil, ""))
	if _, err := fmt.Sscanf(b, `{"cols":%d,"rows":%d,`, &cols, &rows); err != nil {
		t.Fatalf("snapshot %.60s: %v", b, err)
	}
	return cols, rows
}

func text(e vt.Engine) string { return snapshot.Text(e.Freeze(), -1) }

// follow applies events until the exit and reports what went wrong.
func (m *model) follow(ctx context.Context, s *stream.Subscription) error {
	for {
		batch, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, msg := range batch {
			m.apply(msg)
		}
	}
}

// lines is n numbered lines of printable ASCII, one byte one cell, so that
// positions in events can be checked against their text.
func lines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%06d %s\r\n", i, strings.Repeat("x", i%60))
	}
	return b.Bytes()
}

// TestSixteenViewersEndEqual joins and leaves viewers during a flood; all see
// every byte once and end with the emulator's screen, and nothing stays behind.
func TestSixteenViewersEndEqual(t *testing.T) {
	before := runtime.NumGoroutine()
	hub := newHub(t, 80, 24)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	models := make([]*model, 16)
	var wg sync.WaitGroup
	for i := range models {
		models[i] = &model{t: t}
		wg.Go(func() {
			for range i % 4 { // some drop and come back
				s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
				if _, err := s.Next(ctx); err != nil {
					t.Errorf("viewer %d: %v", i, err)
				}
				s.Close()
			}
			s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
			defer s.Close()
			if err := models[i].follow(ctx, s); err != nil {
				t.Errorf("viewer %d: %v", i, err)
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for p := lines(few(3000, 1000)); len(p) > 0; {
		n := min(len(p), 1+rng.IntN(300))
		hub.Write(p[:n])
		p = p[n:]
	}
	final := text(engineOf(hub))
	code := 0
	hub.Finish(stream.Exit{Code: &code, Reason: "exit"})
	wg.Wait()
	for i, m := range models {
		if got := text(m.engine); got != final {
			t.Errorf("viewer %d ended with another screen:\n%s\nwant\n%s", i, tail(got), tail(final))
		}
		if m.kinds[0] != stream.KindSnapshot || m.kinds[len(m.kinds)-1] != stream.KindExit {
			t.Errorf("viewer %d saw %v … %v, want snapshot … exit", i, m.kinds[0], m.kinds[len(m.kinds)-1])
		}
	}
	if f := hub.Stats(); f.Viewers != 0 {
		t.Errorf("%d viewers are left", f.Viewers)
	}
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// engineOf is an emulator in the state of the hub.
func engineOf(h *stream.Hub) vt.Engine {
	shot := h.Snapshot()
	e := vt10x.New(vt.Config{Cols: shot.Frame.Cols, Rows: shot.Frame.Rows, Scrollback: 200})
	e.Write(shot.ANSI())
	return e
}

func tail(s string) string {
	l := strings.Split(s, "\n")
	return strings.Join(l[max(0, len(l)-6):], "\n")
}

// waitFor polls a fact that no channel tells of.
func waitFor(t testing.TB, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(patience, fact) {
		t.Fatalf("waited %v in vain for %s", patience, what)
	}
}

func TestLaggingViewerGetsASnapshot(t *testing.T) {
	hub := newHub(t, 80, 24)
	slow := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer slow.Close()
	m := &model{t: t}
	poll(t, slow, m)
	flood := lines(40_000) // more than any queue holds
	if len(flood) <= stream.MaxQueue {
		t.Fatalf("the flood of %d bytes is too small", len(flood))
	}
	hub.Write(flood)
	poll(t, slow, m)
	if m.snaps != 2 {
		t.Fatalf("%d snapshots, want 2: connect and lag", m.snaps)
	}
	if m.seq != uint64(len(flood)) {
		t.Errorf("the snapshot is of %d, want %d", m.seq, len(flood))
	}
	slow.Sent()
	hub.Write([]byte("after"))
	waitFor(t, "all of the terminal", func() bool {
		poll(t, slow, m)
		return m.snaps == 3
	})
	hub.Write([]byte("and more"))
	poll(t, slow, m)
	if m.snaps != 3 {
		t.Errorf("%d snapshots for a viewer that keeps up", m.snaps)
	}
	if got, want := text(m.engine), text(engineOf(hub)); got != want {
		t.Errorf("screen\n%s\nwant\n%s", tail(got), tail(want))
	}
}

func poll(t testing.TB, s *stream.Subscription, m *model) {
	t.Helper()
	batch, err := s.Poll()
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range batch {
		m.apply(msg)
	}
}

func TestResizeIsInItsPlace(t *testing.T) {
	hub := newHub(t, 80, 24)
	s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer s.Close()
	m := &model{t: t}
	poll(t, s, m)
	hub.Write([]byte("before\r\n"))
	hub.Resize(40, 10)
	hub.Write([]byte("after"))
	poll(t, s, m)
	kinds := fmt.Sprint(m.kinds)
	if !strings.Contains(kinds, "resize") {
		t.Errorf("events %s: no resize", kinds)
	}
	if got, want := text(m.engine), text(engineOf(hub)); got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
}

// TestHistoryOnce: such a viewer keeps no history, so it cannot repeat a resize that
// brings rows of the history back.
func TestHistoryOnce(t *testing.T) {
	hub := newHub(t, 80, 6)
	for i := range 20 {
		hub.Write(fmt.Appendf(nil, "line %d\r\n", i))
	}
	s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1, HistoryOnce: true})
	defer s.Close()
	m := &model{t: t}
	poll(t, s, m)
	if !strings.Contains(text(m.engine), "line 0\n") {
		t.Fatalf("the first snapshot has no history:\n%s", text(m.engine))
	}
	hub.Resize(80, 10)
	hub.Write([]byte("after"))
	poll(t, s, m)
	if got, want := text(m.engine), snapshot.Text(hub.Snapshot().Frame, 0); got != want || m.snaps != 2 {
		t.Errorf("%d snapshots, screen\n%swant\n%s", m.snaps, got, want)
	}
}

func TestSnapshotIsSharedAtOnePosition(t *testing.T) {
	hub := newHub(t, 80, 24)
	hub.Write([]byte("hello"))
	a, b := hub.Snapshot(), hub.Snapshot()
	if a != b {
		t.Error("two snapshots of one position")
	}
	hub.Write([]byte("!"))
	if c := hub.Snapshot(); c == a {
		t.Error("the snapshot of an older position was given out")
	}
	runtime.KeepAlive(a)
}

// TestSnapshotIsEncodedOnce: viewers that come at the same instant share one text.
func TestSnapshotIsEncodedOnce(t *testing.T) {
	var made atomic.Int64
	hub := stream.New(stream.Options{ID: "term1", Engine: vt10x.New, Config: vt.Config{Cols: 80, Rows: 24},
		Hooks: stream.Hooks{Snapshot: func(int, time.Duration) { made.Add(1) }}})
	hub.Write(lines(100))
	held := hub.Snapshot() // of an instant that lasts
	var all sync.WaitGroup
	for range 8 {
		s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
		defer s.Close()
		all.Go(func() { poll(t, s, &model{t: t}) })
	}
	all.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("encoded %d times", n)
	}
	runtime.KeepAlive(held)
}

func TestQueriesAreAnsweredOnceAndCutOut(t *testing.T) {
	for _, viewers := range []int{0, 1, 5} {
		hub := newHub(t, 80, 24)
		var subs []*stream.Subscription
		for range viewers {
			s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
			poll(t, s, &model{t: t})
			subs = append(subs, s)
		}
		reply := hub.Write([]byte("a\x1b[6nb"))
		if got := string(reply); got != "\x1b[1;2R" {
			t.Errorf("%d viewers: reply %q, want one cursor position report", viewers, got)
		}
		for _, s := range subs {
			for {
				batch, _ := s.Poll()
				if len(batch) == 0 {
					break
				}
				for _, msg := range batch {
					if msg.Kind == stream.KindData && string(msg.Text()) != "ab" {
						t.Errorf("viewer got %q, want \"ab\"", msg.Text())
					}
				}
			}
			s.Close()
		}
	}
}

// TestRepliesHaveTheirPosition: each step's replies are told once, behind its last byte, and none for other output.
func TestRepliesHaveTheirPosition(t *testing.T) {
	hub := newHub(t, 80, 24)
	var told []string
	note := func(reply []byte, seq uint64) { told = append(told, fmt.Sprintf("%q at %d", reply, seq)) }
	for _, p := range []string{"plain", "\x1b[5n\x1b[6n", "\x1b[6", "n"} {
		hub.WriteFunc([]byte(p), note)
	}
	if want := []string{`"\x1b[0n\x1b[1;6R" at 13`, `"\x1b[1;6R" at 17`}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}

func TestIncompleteCharacterWaits(t *testing.T) {
	hub := newHub(t, 80, 24)
	s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer s.Close()
	first, _ := s.Poll()
	hub.Write([]byte("x\xe2\x82"))
	late := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer late.Close()
	shot, _ := late.Poll()
	hub.Write([]byte("\xac"))
	second, _ := s.Poll()
	var got []byte
	for _, m := range append(first, second...) {
		if m.Kind == stream.KindData {
			got = append(got, m.Text()...)
		}
	}
	if string(got) != "x€" {
		t.Errorf("data %q, want %q", got, "x€")
	}
	if shot[0].Seq != 1 {
		t.Errorf("the snapshot inside the character is of position %d, want 1", shot[0].Seq)
	}
	after, _ := late.Poll()
	if len(after) == 0 || string(after[0].Text()) != "€" || after[0].Seq != 4 {
		t.Errorf("after the snapshot came %v", after)
	}
}

func TestFinishedHubServesItsLastScreen(t *testing.T) {
	hub := newHub(t, 20, 5)
	hub.Write([]byte("last words"))
	code := 3
	hub.Finish(stream.Exit{Code: &code, Reason: "exit"})
	s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer s.Close()
	batch, err := s.Poll()
	if err != nil || len(batch) != 2 || batch[0].Kind != stream.KindSnapshot || batch[1].Kind != stream.KindExit {
		t.Fatalf("got %v, %v; want snapshot and exit", batch, err)
	}
	if want := `{"code":3,"signal":"","reason":"exit","seq":10}`; string(batch[1].AppendJSON(nil, "")) != want {
		t.Errorf("exit %s, want %s", batch[1].AppendJSON(nil, ""), want)
	}
	if _, err := s.Poll(); !errors.Is(err, io.EOF) {
		t.Errorf("after the exit: %v, want io.EOF", err)
	}
	if !bytes.Contains(batch[0].Text(), []byte("last words")) {
		t.Errorf("snapshot %q lacks the last words", batch[0].Text())
	}
}

func TestMetaEvents(t *testing.T) {
	hub := newHub(t, 20, 5)
	s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer s.Close()
	poll(t, s, &model{t: t})
	hub.Write([]byte("\x07\x1b]2;a \"title\"\x07\x07"))
	batch, _ := s.Poll()
	last := batch[len(batch)-1]
	if want := `{"title":"a \"title\"","bell":true}`; last.Kind != stream.KindMeta ||
		string(last.AppendJSON(nil, "")) != want {
		t.Errorf("got %s %s, want meta %s", last.Kind, last.AppendJSON(nil, ""), want)
	}
	hub.Write([]byte("\x1b]777;notify;done;in 3 s\x07\x1b]2;another\x07"))
	if st := hub.Stats(); st.Title != "another" || st.Bells != 2 || st.Viewers != 1 {
		t.Errorf("%+v", st)
	}
	batch, _ = s.Poll()
	last = batch[len(batch)-1]
	const want = `{"title":"another","notify":{"title":"done","body":"in 3 s"}}`
	if string(last.AppendJSON(nil, "")) != want {
		t.Errorf("got %s, want %s", last.AppendJSON(nil, ""), want)
	}
	other := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer other.Close()
	batch, _ = s.Poll()
	if len(batch) != 1 || string(batch[0].AppendJSON(nil, "")) != `{"viewers":2}` {
		t.Errorf("after another viewer came: %v", batch)
	}
}

func TestSizePolicies(t *testing.T) {
	type wish struct{ cols, rows int }
	for _, c := range []struct {
		policy stream.Policy
		wishes []wish // of viewers 1, 2, …; the first acts last once more
		want   stream.Size
	}{
		{stream.PolicyLatest, []wish{{100, 30}, {60, 20}}, stream.Size{Cols: 100, Rows: 30}},
		{stream.PolicyOwner, []wish{{90, 25}, {60, 20}}, stream.Size{Cols: 90, Rows: 25}},
		{stream.PolicySmallest, []wish{{100, 20}, {60, 40}}, stream.Size{Cols: 60, Rows: 20}},
		{stream.PolicyLargest, []wish{{100, 20}, {60, 40}}, stream.Size{Cols: 100, Rows: 40}},
		{stream.PolicyFixed, []wish{{100, 20}, {60, 40}}, stream.Size{Cols: 80, Rows: 24}},
		{stream.PolicyLatest, []wish{{1, 1}}, stream.Size{Cols: 20, Rows: 5}},
	} {
		hub := stream.New(stream.Options{ID: "x", Engine: vt10x.New, Policy: c.policy,
			Config: vt.Config{Cols: 80, Rows: 24}})
		var subs []*stream.Subscription
		for _, w := range c.wishes {
			s := hub.Subscribe(stream.SubscribeOptions{})
			s.RequestSize(w.cols, w.rows)
			subs = append(subs, s)
		}
		if got := subs[0].RequestSize(0, 0); got != c.want {
			t.Errorf("%s: %v, want %v", c.policy, got, c.want)
		}
		for _, s := range subs {
			s.Close()
		}
		if got := hub.EffectiveSize(); got != (stream.Size{Cols: 80, Rows: 24}) {
			t.Errorf("%s: without viewers %v, want the size as it is", c.policy, got)
		}
	}
}

// clipboards are the writes to the clipboard that a viewer is told of.
func clipboards(t *testing.T, s *stream.Subscription) (out []string, kinds []stream.Kind) {
	t.Helper()
	for {
		batch, err := s.Poll()
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			return out, kinds
		}
		for _, m := range batch {
			kinds = append(kinds, m.Kind)
			if b := string(m.AppendJSON(nil, "")); m.Kind == stream.KindMeta && strings.Contains(b, "clipboard") {
				out = append(out, b)
			}
			if bytes.Contains(m.AppendJSON(nil, ""), []byte("52;")) {
				t.Errorf("a viewer got the sequence: %s", m.AppendJSON(nil, ""))
			}
		}
	}
}

// TestClipboardIsForThoseWhoType: they get the newest write, before the exit, also when
// they are behind; nobody else gets any, and none is kept for those who come later.
func TestClipboardIsForThoseWhoType(t *testing.T) {
	hub := newHub(t, 20, 5)
	typist, looker := hub.Subscribe(stream.SubscribeOptions{Who: stream.Who{Role: stream.RoleWrite}}), hub.Subscribe(stream.SubscribeOptions{})
	defer typist.Close()
	defer looker.Close()
	clipboards(t, typist)
	hub.Write([]byte("\x1b]52;c;b25l\a"))
	hub.Write([]byte("x\x1b]52;;dHdv\x1b\\y"))
	const two = `{"clipboard":{"selection":"","data_b64":"dHdv"}}`
	if got, kinds := clipboards(t, typist); len(got) != 1 || got[0] != two || kinds[0] != stream.KindMeta {
		t.Errorf("got %q among %v, want %s first", got, kinds, two)
	}
	for range 3000 { // more than a queue holds
		hub.Write(bytes.Repeat([]byte("z"), 1024))
	}
	hub.Write([]byte("\x1b]52;c;dGhyZWU=\a\x1b]52;c;\a"))
	late := hub.Subscribe(stream.SubscribeOptions{Who: stream.Who{Role: stream.RoleWrite}})
	defer late.Close()
	hub.Finish(stream.Exit{Reason: "exit"})
	const three = `{"clipboard":{"selection":"c","data_b64":""}}`
	if got, kinds := clipboards(t, typist); len(got) != 1 || got[0] != three || kinds[0] != stream.KindSnapshot ||
		kinds[len(kinds)-1] != stream.KindExit {
		t.Errorf("behind and at the end: got %q among %v, want %s", got, kinds, three)
	}
	for who, s := range map[string]*stream.Subscription{"one who looks": looker, "one who came later": late} {
		if got, _ := clipboards(t, s); len(got) != 0 {
			t.Errorf("%s got %q", who, got)
		}
	}
}

// TestReadersDoNotWaitForOutput: what is known of a terminal is read beside its output, as the race detector sees it.
func TestReadersDoNotWaitForOutput(t *testing.T) {
	h := newHub(t, 80, 24)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			h.Write([]byte("\x1b]2;title\ax\x1b[?2004h\r\n\x1b["))
			h.Write([]byte("m"))
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		seq, ok := h.AtRest()
		modes, stats := h.Modes(), h.Stats()
		if seq > 0 && ok && stats.Title != "title" {
			t.Fatalf("at %d the title is %q, modes %+v", seq, stats.Title, modes)
		}
	}
}

// TestWatch: whoever watches a hub is told of output once, however much there was, and not after the stop.
func TestWatch(t *testing.T) {
	hub := newHub(t, 20, 5)
	changed, stop := hub.Watch()
	told := func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	told()
	for _, write := range []func(){func() { hub.Write([]byte("a")) }, func() { hub.Resize(30, 6) },
		func() { hub.Finish(stream.Exit{Reason: "lost"}) }} {
		write()
		if !told() || told() {
			t.Error("it is not told once")
		}
	}
	stop()
}

// fullDisk takes some bytes and then no more.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestSnapshotToAFullDisk: a snapshot that cannot be written to its end says so, in every format.
func TestSnapshotToAFullDisk(t *testing.T) {
	hub := newHub(t, 80, 24)
	hub.Write(lines(300))
	for _, format := range []string{"text", "ansi", "json"} {
		var whole bytes.Buffer
		if err := hub.WriteSnapshot(t.Context(), &whole, format, -1); err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{0, 1, whole.Len() / 2, whole.Len() - 1} {
			if err := hub.WriteSnapshot(t.Context(), &fullDisk{room}, format, -1); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s with room for %d of %d: %v", format, room, whole.Len(), err)
			}
		}
	}
}
