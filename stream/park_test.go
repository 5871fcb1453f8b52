package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// parkable is a hub that is remade from a snapshot file and what was written after that.
type parkable struct {
	*stream.Hub
	o       stream.Options
	mu      sync.Mutex // guards written
	written []byte
	file    []byte // the newest snapshot
	remade  atomic.Int32
}

func newParkable(cols, rows int) *parkable {
	o := stream.Options{Engine: vt.NewEngine, Config: vt.Config{Cols: cols, Rows: rows, Scrollback: 100}}
	return &parkable{Hub: stream.New(o), o: o}
}

func (p *parkable) write(b []byte) {
	p.mu.Lock()
	p.written = append(p.written, b...)
	p.mu.Unlock()
	p.Write(b)
}

func (p *parkable) park() bool {
	shot := p.Snapshot()
	p.file = snapshot.Encode(snapshot.Header{Seq: shot.Seq}, shot.Frame)
	return p.Park(shot, p.remake) == nil
}

func (p *parkable) remake(seq uint64) *stream.Hub {
	p.remade.Add(1)
	h, f, err := snapshot.Decode(p.file)
	if err != nil {
		panic(err)
	}
	hub := stream.Restore(p.o, f, h.Seq)
	p.mu.Lock()
	defer p.mu.Unlock()
	hub.Write(p.written[h.Seq:seq])
	return hub
}

// step is one line of a script of package vt that does something.
type step struct {
	in         []byte
	cols, rows int
}

var unicodeEscape = regexp.MustCompile(`\\u\{([0-9a-fA-F]+)\}`)

// readScript reads size and steps of a script; ok is false for one with notations that are not read here.
func readScript(t *testing.T, path string) (cols, rows int, steps []step, ok bool) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cols, rows = 80, 24
	for line := range strings.Lines(string(b)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "size":
			_, err = fmt.Sscanf(rest, "%dx%d", &cols, &rows)
		case "resize":
			var s step
			_, err = fmt.Sscanf(rest, "%dx%d", &s.cols, &s.rows)
			steps = append(steps, s)
		case "in":
			rest = unicodeEscape.ReplaceAllStringFunc(strings.ReplaceAll(rest, `\e`, `\x1b`), func(e string) string {
				n, _ := strconv.ParseInt(e[3:len(e)-1], 16, 32)
				return string(rune(n))
			})
			text, err := strconv.Unquote(rest)
			if err != nil {
				return 0, 0, nil, false
			}
			steps = append(steps, step{in: []byte(text)})
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
	}
	return cols, rows, steps, len(steps) > 0
}

// TestParkIsExact: a terminal that is parked behind every step of the scripts, and in the middle of it, is the one that
// never was: every state, also what no viewer sees, and what it becomes by what follows.
func TestParkIsExact(t *testing.T) {
	paths, _ := filepath.Glob("../vt/testdata/script/*.txt")
	streams, _ := filepath.Glob("../snapshot/testdata/streams/*.txt")
	read, refused := 0, 0
	for _, path := range append(paths, streams...) {
		cols, rows, steps, ok := readScript(t, path)
		if !ok {
			continue
		}
		read++
		awake, parked := newParkable(cols, rows), newParkable(cols, rows)
		for i, s := range steps {
			if s.in == nil {
				awake.Resize(s.cols, s.rows)
				parked.Resize(s.cols, s.rows)
			}
			middle := len(s.in) / 2
			for _, part := range [][]byte{s.in[:middle], s.in[middle:]} {
				awake.write(part)
				parked.write(part)
				before := parked.Stats()
				if !parked.park() {
					refused++
					continue
				}
				checkParked(t, fmt.Sprintf("%s, step %d", path, i), before, awake, parked)
			}
		}
	}
	if read < len(paths)/2 || refused == 0 || refused > 10 {
		t.Errorf("%d scripts of %d were read, %d parks refused", read, len(paths), refused)
	}
}

// checkParked compares a parked hub with one that is awake.
func checkParked(t *testing.T, where string, before stream.Stats, awake, parked *parkable) {
	t.Helper()
	lists := parked.Stats()
	if before.Memory = 0; lists != before {
		t.Errorf("%s: lists show %+v, before %+v", where, lists, before)
	}
	if !parked.Parked() {
		t.Fatalf("%s: lists have woken it", where)
	}
	want, got := awake.Snapshot().Frame, parked.Snapshot().Frame
	for _, d := range snapshot.Differences(want, got) {
		if !strings.HasPrefix(d, "character that REP repeats") { // left out where it cannot be painted
			t.Errorf("%s: %s", where, d)
		}
	}
	if want.LastChar != got.LastChar {
		t.Errorf("%s: REP repeats %q, want %q", where, got.LastChar, want.LastChar)
	}
	whole := snapshot.Options{Scrollback: -1, Engine: true}
	if a, b := snapshot.ANSI(want, whole), snapshot.ANSI(got, whole); !bytes.Equal(a, b) {
		t.Errorf("%s: state\n%q\nwant\n%q", where, b, a)
	}
	if parked.Parked() || parked.Modes() != awake.Modes() {
		t.Errorf("%s: modes %+v, want %+v", where, parked.Modes(), awake.Modes())
	}
	a, b := awake.Stats(), parked.Stats()
	a.Output, a.Memory, b.Memory, a.Work, b.Work = b.Output, 0, 0, 0, 0
	if a != b {
		t.Errorf("%s: stats %+v, want %+v", where, b, a)
	}
	parked.park()
}

// TestParkWakesOnce: of many who look at once one brings the screen back, and each gets it.
func TestParkWakesOnce(t *testing.T) {
	p := newParkable(20, 3)
	p.write([]byte("hello \xe2\x82"))
	if !p.park() {
		t.Fatal("not parked")
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if got := snapshot.Text(p.Snapshot().Frame, -1); !strings.HasPrefix(got, "hello") {
				t.Errorf("a look got %q", got)
			}
		})
	}
	all.Wait()
	if n := p.remade.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
	p.write([]byte("\xac!"))
	if got := snapshot.Text(p.Snapshot().Frame, -1); !strings.HasPrefix(got, "hello €!") {
		t.Errorf("the character that was cut by parking is %q", got)
	}
}

// TestParkRefuses: what is watched, has changed since its snapshot or has ended is not parked.
func TestParkRefuses(t *testing.T) {
	p := newParkable(20, 3)
	sub := p.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	if p.park() {
		t.Error("parked with a viewer")
	}
	sub.Close()
	_, stop := p.Watch()
	if p.park() {
		t.Error("parked while somebody waits")
	}
	stop()
	shot := p.Snapshot()
	p.write([]byte("x"))
	if err := p.Park(shot, p.remake); !errors.Is(err, stream.ErrChanged) {
		t.Error("parked with an older screen")
	}
	if !p.park() {
		t.Fatal("not parked")
	}
	for what, use := range map[string]func(){
		"subscribe": func() { p.Subscribe(stream.SubscribeOptions{}).Close() },
		"watch":     func() { _, stop := p.Watch(); stop() },
		"output":    func() { p.write([]byte("y")) },
		"resize":    func() { p.Resize(30+int(p.remade.Load()), 3) },
		"modes":     func() { p.Modes() },
		"skip":      func() { p.Skip(0) },
	} {
		if use(); p.Parked() {
			t.Errorf("%s does not wake", what)
		}
		if !p.park() {
			t.Fatalf("not parked after %s", what)
		}
	}
	p.Resize(p.Stats().Cols, p.Stats().Rows)
	if !p.Parked() {
		t.Error("a size that it has wakes it")
	}
	p.Finish(stream.Exit{Reason: "lost"})
	if got := snapshot.Text(p.Snapshot().Frame, -1); p.Parked() || !strings.HasPrefix(got, "xy") || p.park() {
		t.Errorf("the last screen is %q", got)
	}
}

// TestParkInAFlood: whoever watches while a hub is parked and woken all the time gets every byte once, in order.
func TestParkInAFlood(t *testing.T) {
	p := newParkable(80, 24)
	done := make(chan struct{})
	var parks atomic.Int32
	go func() {
		defer close(done)
		for i := range 3000 {
			p.write(fmt.Appendf(nil, "%d\r\n", i)) // the owner of the output also parks, as its file needs no lock then
			if p.park() {
				parks.Add(1)
			}
		}
		p.Finish(stream.Exit{Reason: "exit"})
	}()
	for seen := int32(0); !p.Stats().Finished; seen = parks.Load() {
		for parks.Load() == seen && !p.Stats().Finished {
			runtime.Gosched()
		}
		follow(t, p)
	}
	<-done
	if parks.Load() == 0 {
		t.Error("never parked")
	}
}

// follow watches for a few events and compares the screen with the hub's at the same position.
func follow(t *testing.T, p *parkable) {
	t.Helper()
	sub := p.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer sub.Close()
	e := vt.NewEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 100})
	for range 3 {
		batch, err := sub.Next(context.Background())
		for _, m := range batch {
			e.Write(m.Text())
		}
		if err == io.EOF {
			break
		}
	}
	lines := strings.Fields(snapshot.Text(e.Freeze(), -1))
	for i := 1; i < len(lines); i++ {
		a, _ := strconv.Atoi(lines[i-1])
		if b, _ := strconv.Atoi(lines[i]); b != a+1 {
			t.Fatalf("line %q follows %q", lines[i], lines[i-1])
		}
	}
}
