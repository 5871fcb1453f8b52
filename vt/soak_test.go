package vt_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/vt"
)

var (
	soakInputs = flag.Int("inputs", few(300_000, 60_000), "inputs of TestSoak")
	soakSeed   = flag.Uint64("soakseed", 1, "seed of TestSoak")
	soakLife   = flag.Uint64("soaklife", 0, "the one life that TestSoak runs; 0 means all")
)

// Bounds of TestSoak.
const (
	// maxUnit is the most CPU time of a unit of work, see life.units. Ten million
	// inputs take 0.8 µs at worst; what it guards against takes milliseconds.
	maxUnit = 20 * time.Microsecond
	// maxRaced is maxUnit under the race detector, which takes ten times as long.
	maxRaced = 10 * maxUnit
	// hung is how long an input may run on the clock of the wall; the longest
	// take some milliseconds, a loop that never ends takes all of it.
	hung = time.Minute
	// maxInputs is how many inputs one terminal gets at most.
	maxInputs = 128
)

// soak counts what all lives did.
type soak struct {
	lives, inputs, bytes, resizes, checks atomic.Int64
}

// TestSoak feeds random inputs to terminals of random sizes: none panics, hangs
// or breaks an invariant, and the CPU time of each is bounded by its bytes and
// by the screen for each sequence. The proof with ten million:
//
//	go test ./vt -run TestSoak -inputs 10000000 -timeout 1h -v
//
// A failure names the life of the terminal, which -soaklife repeats alone.
func TestSoak(t *testing.T) {
	var s soak
	workers := make([]worker, runtime.GOMAXPROCS(0))
	begin := time.Now()
	t.Run("inputs", func(t *testing.T) {
		for i := range workers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				workers[i].run(t, &s)
			})
		}
	})
	took := time.Since(begin)
	t.Logf("%d inputs to %d terminals, %d bytes, %d resizes, %d checks in %v, %.0f inputs/s", s.inputs.Load(),
		s.lives.Load(), s.bytes.Load(),
		s.resizes.Load(), s.checks.Load(), took.Round(time.Millisecond), float64(s.inputs.Load())/took.Seconds())
	for i, m := range measures {
		var worst record
		for k := range workers {
			if r := workers[k].worst[i]; r.value > worst.value {
				worst = r
			}
		}
		t.Logf("worst %s: %.1f: %s", m.name, worst.value, worst.at)
	}
}

// measures are what TestSoak keeps the worst of.
var measures = [...]struct {
	name string
	of   func(l *life, took time.Duration) float64
}{
	{"ns for each byte and once for each cell", func(l *life, took time.Duration) float64 {
		return float64(took) / float64(len(l.in)+l.screen())
	}},
	{"ns for each byte and for each cell with each sequence", func(l *life, took time.Duration) float64 {
		return float64(took) / float64(l.units())
	}},
	{"microseconds of an input", func(_ *life, took time.Duration) float64 { return float64(took) / 1000 }},
}

// record is a worst value and where it was seen.
type record struct {
	value float64
	at    string
}

// worker lives the lives of terminals on a thread of its own.
type worker struct {
	life    *life
	started atomic.Int64 // inputs, for the watchdog
	worst   [len(measures)]record
}

func (w *worker) run(t *testing.T, s *soak) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	done := make(chan struct{})
	defer close(done)
	go w.watch(done)
	if *soakLife > 0 {
		if s.lives.Add(1) == 1 {
			w.live(t, s, *soakLife)
		}
		return
	}
	for s.inputs.Load() < int64(*soakInputs) && !t.Failed() {
		w.live(t, s, uint64(s.lives.Add(1)))
	}
}

// watch ends the test when an input does not end: with the input, and with the
// stacks of all goroutines, which say in which loop it is.
func (w *worker) watch(done chan struct{}) {
	const looks = 4
	tick := time.NewTicker(hung / looks)
	defer tick.Stop()
	for last, same := int64(0), 0; ; {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if now := w.started.Load(); now != last {
			last, same = now, 0
		} else if same++; same >= looks && now > 0 {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("%s hangs: %+q", w.life, w.life.in))
		}
	}
}

// live is the life of one terminal.
func (w *worker) live(t *testing.T, s *soak, number uint64) {
	l := newLife(*soakSeed, number)
	w.life = l
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s panics: %v\ninput %+q\n%s", l, p, l.in, debug.Stack())
		}
	}()
	for range l.inputs {
		w.started.Add(1)
		w.note(t, l, l.step(t))
		if l.done%16 == 0 || l.done == l.inputs {
			s.checks.Add(1)
			if err := vt.Check(l.engine); err != nil {
				t.Fatalf("%s: %v\ninput %+q", l, err, l.in)
			}
		}
	}
	s.inputs.Add(int64(l.done))
	s.bytes.Add(int64(l.bytes))
	s.resizes.Add(int64(l.resizes))
}

// note keeps the worst figures and fails the test when one is too large.
func (w *worker) note(t *testing.T, l *life, took time.Duration) {
	worse := false
	for i, m := range measures {
		worse = worse || m.of(l, took) > w.worst[i].value
	}
	if !worse {
		return
	}
	took = min(took, l.again(t))
	for i, m := range measures {
		if v := m.of(l, took); v > w.worst[i].value {
			w.worst[i] = record{v, fmt.Sprintf("%s, %d bytes, %.80q", l, len(l.in), l.in)}
		}
	}
	unit := maxUnit
	if raceEnabled {
		unit = maxRaced
	}
	if limit := time.Duration(l.units()) * unit; took > limit {
		t.Errorf("%s takes %v, more than %v: %+q", l, took, limit, l.in)
	}
}

// life is one terminal and the inputs it gets, all made from two numbers.
type life struct {
	seed, number uint64
	inputs       int
	r            *rand.Rand
	gen          hostileInput
	engine       vt.Engine
	cols, rows   int

	in                   []byte // the input at hand
	done, bytes, resizes int
	text                 int // bytes that viewers got
	rectangles           int // bytes of it that operations on rectangles may have become
}

func newLife(seed, number uint64) *life {
	r := rand.New(rand.NewPCG(seed, number))
	l := &life{seed: seed, number: number, r: r, inputs: 1 + r.IntN(maxInputs), gen: hostileInput{Rand: r}}
	l.setSize()
	c := vt.Config{Cols: l.cols, Rows: l.rows, Scrollback: r.IntN(51), Unicode: vt.Unicode11,
		Effects: &vt.Effects{Reply: func([]byte) {}}}
	if r.IntN(2) == 0 {
		c.Unicode = vt.Unicode15Graphemes
	}
	l.engine = vt.NewEngine(c)
	return l
}

func (l *life) setSize() {
	l.cols, l.rows = 1+l.r.IntN(100), 1+l.r.IntN(40)
	if l.r.IntN(4) == 0 {
		l.cols, l.rows = 1+l.r.IntN(10), 1+l.r.IntN(4)
	}
	l.gen.cols, l.gen.rows = l.cols, l.rows
}

func (l *life) String() string {
	return fmt.Sprintf("seed %d, life %d, input %d, %dx%d", l.seed, l.number, l.done, l.cols, l.rows)
}

// screen is what any input may cost besides: its cells, and a constant for what
// reading the clock takes.
func (l *life) screen() int { return l.cols*l.rows + 256 }

// units is the work that an input may cause: its bytes, and the whole screen for
// every sequence and once besides.
func (l *life) units() int {
	sequences := bytes.Count(l.in, []byte{0x1b}) + bytes.Count(l.in, []byte{0xc2}) // ESC and C1
	return len(l.in) + (1+sequences)*l.screen()
}

// step makes the next input, now and then after a resize, and returns the CPU
// time it takes.
func (l *life) step(t *testing.T) time.Duration {
	l.done++
	if l.r.IntN(24) == 0 {
		l.setSize()
		l.engine.Resize(l.cols, l.rows)
		l.resizes++
	}
	l.in = l.gen.next()
	l.bytes += len(l.in)
	begin := threadTime(t)
	text := l.engine.Write(l.in)
	took := threadTime(t) - begin
	l.text += len(text)
	const row, protected = 32, 17 << 10 // bytes that a row of a rectangle becomes, and one with protected cells
	l.rectangles += bytes.Count(l.in, []byte{'$'})*(l.rows+2)*row + bytes.Count(l.in, []byte{'{'})*protected
	if l.text > 4*l.bytes+64+l.rectangles || !utf8.Valid(text) {
		t.Fatalf("%s: %+q becomes %+q for viewers", l, l.in, text)
	}
	return took
}

// again lives up to the input at hand three times and returns the least time it
// takes. Garbage collection and what else the machine does show in the time of a
// thread too, but not each time in the same place.
func (l *life) again(t *testing.T) time.Duration {
	least := time.Duration(1 << 62)
	for range 3 {
		c := newLife(l.seed, l.number)
		var took time.Duration
		for range l.done {
			took = c.step(t)
		}
		if !bytes.Equal(c.in, l.in) {
			t.Fatalf("%s is not the same again: %+q, then %+q", l, l.in, c.in)
		}
		least = min(least, took)
	}
	return least
}

// threadTime is the CPU time of this thread. Getrusage would count in ticks of
// some milliseconds.
func threadTime(t *testing.T) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
