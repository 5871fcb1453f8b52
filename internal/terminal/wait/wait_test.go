package wait_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// never is a condition that is not met.
var never = wire.WaitCondition{For: "text", Pattern: "never"}

// one is a request with one condition.
func one(c wire.WaitCondition, since *uint64) wire.Wait {
	return wire.Wait{Any: []wire.WaitCondition{c}, Since: since, TimeoutMS: patience.Milliseconds()}
}

func TestWaitConditions(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "--norc")
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	ctx := context.Background()
	if _, err := term.Input(ctx, []byte("echo $((6*7))\n")); err != nil {
		t.Fatal(err)
	}
	if w := waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "\n42\n"}); w.Seq == 0 {
		t.Errorf("position %d after output", w.Seq)
	}
	waitFor(t, term, wire.WaitCondition{For: "regex", Pattern: `(?m)^4\d$`})
	waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 50})
	if _, err := term.Input(ctx, []byte("sleep 1000\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "sleep 1000\n"})
	if w, err := waits.Wait(ctx, term, within(wire.WaitCondition{For: "text", Pattern: "never"},
		50*time.Millisecond)); !errors.Is(err, terminal.ErrTimeout) || !strings.Contains(w.Text, "42") {
		t.Errorf("text that never comes: %v with %q, want ErrTimeout with the screen", err, w.Text)
	}
	if err := term.Signal("INT"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	if _, err := term.Input(ctx, []byte("exit 7\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "exit"})
	if e := term.Wire().Exit; e == nil || *e.Code != 7 || e.Reason != "exit" {
		t.Errorf("exit %+v, want 7", e)
	}
	if _, err := waits.Wait(ctx, term, within(wire.WaitCondition{For: "text", Pattern: "never"}, patience)); !errors.Is(
		err,
		terminal.ErrExited,
	) {
		t.Errorf("wait after the end: %v, want ErrExited", err)
	}
	if _, err := term.Input(ctx, []byte("x")); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("input after the end: %v, want ErrExited", err)
	}
}

// TestWaitSeesEveryMoment: text that is gone at once was shown all the same.
func TestWaitSeesEveryMoment(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	programs := map[string]string{
		"scrolled by":                 `echo M""ARK1; seq 1 200000`,
		"before clear":                `printf 'M''ARK1'; clear; printf '\e[3J'`,
		"erased":                      `printf 'M''ARK1\r\e[K'`,
		"overwritten":                 `printf 'M''ARK1\rxxxxxxxxxxx\r\n'`,
		"behind the alternate screen": `printf '\e[?1049hM''ARK1\e[?1049l'`,
		"wrapped":                     `printf '%75s' ' '; printf 'M''ARK1\n'; clear`,
		"before a reset":              `printf 'M''ARK1\ec'`,
	}
	for name, program := range programs {
		for _, from := range []string{"since", "waiting"} {
			t.Run(name+"/"+from, func(t *testing.T) {
				t.Parallel()
				term := start(t, m, "bash", "--norc")
				see(t, term, `[$#] $`)
				c := wire.WaitCondition{For: "text", Pattern: "MARK1"}
				if from == "since" {
					seq := typeIn(t, term, program+"\n")
					w := await(t, term, one(c, &seq))
					checkMatch(t, term, w, "MARK1")
					return
				}
				var w wire.Waited
				var wg sync.WaitGroup
				wg.Go(func() { w = await(t, term, one(c, nil)) })
				looking(t, term, 1)
				typeIn(t, term, program+"\n")
				wg.Wait()
				checkMatch(t, term, w, "MARK1")
			})
		}
	}
}

// TestWaitAcrossEmptyLines: a match across lines is where it was printed, with empty lines before it
// and inside of it, and where all lines are empty.
func TestWaitAcrossEmptyLines(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	const want = "first\n\n\nlast"
	for name, c := range map[string]wire.WaitCondition{
		"regex": {For: "regex", Pattern: `(?s)first.*last`}, "text": {For: "text", Pattern: want},
	} {
		for _, from := range []string{"now", "since", "waiting"} {
			t.Run(name+"/"+from, func(t *testing.T) {
				t.Parallel()
				term := start(t, m, "sh", "-c",
					`stty -echo; printf '\n\n\n.'; read x; printf 'xx\nfirst\n\n\nlast\n'; read x`)
				see(t, term, `\.`)
				seq := term.Hub().Snapshot().Seq
				var w wire.Waited
				var wg sync.WaitGroup
				if from == "waiting" {
					wg.Go(func() { w = await(t, term, one(c, nil)) })
					goingOn(t, term, 1)
				}
				typeIn(t, term, "\n")
				see(t, term, "last")
				switch wg.Wait(); from {
				case "now":
					w = await(t, term, one(c, nil))
				case "since":
					w = await(t, term, one(c, &seq))
				}
				checkMatch(t, term, w, want)
				if begin := seq + uint64(len("xx\r\n")); w.Match.StartSeq != begin {
					t.Errorf("the match begins at %d, want %d", w.Match.StartSeq, begin)
				}
			})
		}
	}
	term := start(t, m, "cat")
	seq := uint64(0)
	fails(t, term, wire.Wait{Any: []wire.WaitCondition{{For: "text", Pattern: "\n\n"}}, Since: &seq,
		TimeoutMS: 100}, terminal.ErrTimeout)
}

// looking waits until so many waits, for conditions on the screen, have begun to look: what is shown then counts,
// however short. One that goes on may still be waiting for its turn to begin.
func looking(t *testing.T, term *terminal.Terminal, n int) {
	t.Helper()
	until(t, "the waits", func() bool { all, early := wait.WaitersOf(waits, term); return all == n && early == 0 })
}

// goingOn waits until so many waits go on.
func goingOn(t *testing.T, term *terminal.Terminal, n int) {
	t.Helper()
	until(t, "the waits", func() bool { return wait.WaitsOf(waits, term) == n })
}

// checkMatch compares a match with the bytes that the program printed.
func checkMatch(t *testing.T, term *terminal.Terminal, w wire.Waited, want string) {
	t.Helper()
	if w.Match == nil || w.Match.Text != want || w.Seq != w.Match.EndSeq {
		t.Fatalf("%+v", w)
	}
	got := printed(t, term, w.Match.StartSeq, w.Match.EndSeq)
	if !strings.HasPrefix(got, want[:1]) || !strings.HasSuffix(got, want[len(want)-1:]) {
		t.Errorf("the bytes of %q are %q", want, got)
	}
}

// printed is a part of the output.
func printed(t *testing.T, term *terminal.Terminal, from, to uint64) string {
	t.Helper()
	j, err := term.Journal()
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.Read(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b []byte
	for uint64(len(b)) < to-from {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.EntryOutput {
			b = append(b, e.Data...)
		}
	}
	return string(b[:to-from])
}

// TestWaitSinceBeginsAsItWas: what a program changes is seen on the screen as it was, and
// nothing that was there before counts.
func TestWaitSinceBeginsAsItWas(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	full := strings.Repeat("x", 78)
	for name, c := range map[string]struct{ before, after, pattern, not string }{
		"one cell":                {`\e[5;3Hstep 4 of 5`, `\e[5;8H5`, "^  step 5 of 5$", "step 4"},
		"a part of a line":        {`\e[2;1Hprogress: [####      ]`, `\e[2;16H##`, `\[######    \]`, "progress: $"},
		"a sequence that was cut": {`\e]0;tit`, `le READY\aready`, "^ready$", "READY"},
		"a cut SGR":               {`x\e[1;3`, `1mred`, "^xred$", "1mred"},
		"a character set":         {`\e(0`, `q`, "─", "q"},
		"a line that goes on":     {`half `, `done`, "^half done$", "^half $"},
		"a wrapped line":          {`\e[H` + full, `abcd`, "^" + full + "abcd$", "^" + full + "$"},
		"what erasing leaves":     {`\e[3;1Hfinished and more`, `\e[3;9H\e[K`, "^finished$", "more"},
	} {
		t.Run(name, func(t *testing.T) {
			term := start(t, m, "bash", "-c",
				`stty -echo; printf '`+c.before+`'; read x; printf '`+c.after+`'; sleep 1000`)
			waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 100})
			seq := term.Hub().Stats().Seq
			if seq == 0 {
				until(t, "output", func() bool { return term.Hub().Stats().Seq > 0 })
				seq = term.Hub().Stats().Seq
			}
			typeIn(t, term, "\n")
			await(t, term, one(wire.WaitCondition{For: "regex", Pattern: c.pattern}, &seq))
			w := within(wire.WaitCondition{For: "regex", Pattern: c.not}, 50*time.Millisecond)
			w.Since = &seq
			fails(t, term, w, terminal.ErrTimeout)
		})
	}
}

// TestWaitChain: the position of one match is where the next wait begins, and nothing
// that came in the same burst is lost or seen twice.
func TestWaitChain(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `printf 'one two\nthree  two\r\n'; sleep 1000`)
	w := waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "one"})
	for _, next := range []string{"two", "th", "ree", "two"} {
		before := w.Seq
		if w = await(t, term, one(wire.WaitCondition{For: "text", Pattern: next}, &before)); w.Seq <= before {
			t.Fatalf("%s: %d after %d", next, w.Seq, before)
		}
		checkMatch(t, term, w, next)
	}
	last := w.Seq
	third := within(wire.WaitCondition{For: "text", Pattern: "two"}, 50*time.Millisecond)
	third.Since = &last
	fails(t, term, third, terminal.ErrTimeout)
}

func TestWaitLines(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c",
		`printf 'a long line that the margin of a terminal of eighty columns breaks: fatal error here\n'
		printf 'padded   \r\n'; printf 'user$ '; sleep 1000`)
	for _, c := range []wire.WaitCondition{
		{For: "text", Pattern: "fatal error"},
		{For: "regex", Pattern: "^a long.*fatal error here$"},
		{For: "regex", Pattern: `padded   $`},
		{For: "regex", Pattern: `padded$`},
		{For: "regex", Pattern: `user\$ $`},
		{For: "text", Pattern: "user$ "},
		{For: "text", Pattern: "here\npadded"},
		{For: "regex", Pattern: `(?s)a long.*user`},
		{For: "regex", Pattern: `^padded\n.*[$#]$`},
		{For: "regex", Pattern: `padded   \nuser\$ $`},
	} {
		waitFor(t, term, c)
	}
	for _, p := range []string{"^fatal", `padded    $`, `[^z]*here[^z]*user`} {
		fails(t, term, within(wire.WaitCondition{For: "regex", Pattern: p}, 50*time.Millisecond), terminal.ErrTimeout)
	}
}

// TestWaitIgnoresEcho: what was typed does not count, in a shell with and without a line editor.
func TestWaitIgnoresEcho(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	for _, cmd := range [][]string{{"bash", "--norc"}, {"bash", "--norc", "--noediting"}, {"dash"}} {
		t.Run(strings.Join(cmd, " "), func(t *testing.T) {
			t.Parallel()
			term := start(t, m, cmd...)
			see(t, term, `[$#] $`)
			long := strings.Repeat("y", 90)
			seq := typeIn(t, term, "sleep 0.3; echo DO''NE "+long+" | tr -d y; echo DONE\n")
			w := one(wire.WaitCondition{For: "regex", Pattern: ".*(DONE|yyy).*"}, &seq)
			w.IgnoreEcho = true
			if got := await(t, term, w); got.Match.Text != "DONE " && got.Match.Text != "DONE" {
				t.Errorf("with a position %q matched", got.Match.Text)
			}
			w.IgnoreEcho, w.TimeoutMS = false, patience.Milliseconds()
			if got := await(t, term, w); !strings.Contains(got.Match.Text, "sleep 0.3") {
				t.Errorf("echo that counts: %q matched", got.Match.Text)
			}
			see(t, term, `^DONE$`)
			now := within(wire.WaitCondition{For: "text", Pattern: "tr -d"}, 50*time.Millisecond)
			now.IgnoreEcho = true
			fails(t, term, now, terminal.ErrTimeout)
		})
	}
}

// TestWaitEchoOnce: cat prints what was typed, and that is no echo.
func TestWaitEchoOnce(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "printf ready; read x; sleep 0.2; echo $x; exec cat")
	see(t, term, "ready")
	seq := typeIn(t, term, "MARK\n")
	w := one(wire.WaitCondition{For: "regex", Pattern: "^MARK$"}, &seq)
	w.IgnoreEcho = true
	await(t, term, w)
}

// TestWaitIdleCounts from the latest of output, input and the beginning of the wait.
func TestWaitIdleCounts(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "stty -echo; printf ready; exec sleep 1000")
	see(t, term, "ready")
	waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 300})
	begin := time.Now()
	waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 300})
	if d := time.Since(begin); d < 300*time.Millisecond {
		t.Errorf("idle after %v of 300 ms", d)
	}
	const long = 2 * time.Second // so that a slow machine types before the wait ends
	var done sync.WaitGroup
	done.Go(func() { waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: long.Milliseconds()}) })
	waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 200})
	begin = time.Now()
	typeIn(t, term, "x")
	done.Wait()
	if d := time.Since(begin); d < long {
		t.Errorf("idle %v after input", d)
	}
}

// TestWaitAny answers which one was true, and what else can be waited for.
func TestWaitAny(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `stty -echo; printf 'Loading...'; read x
		printf '\e]0;my title\a\e[?2004h\e[?1002h\e[?1049h\e[3;5Hhello\e[?1049l\r\e[K\e[4;9H'; read x; exit 3`)
	w := await(t, term, wire.Wait{Any: []wire.WaitCondition{never, {For: "text", Pattern: "Loading"}}})
	if w.Index == nil || *w.Index != 1 {
		t.Errorf("condition %v was true", w.Index)
	}
	x, y := 8, 3
	list := []wire.WaitCondition{
		{For: "text", Pattern: "Loading", Not: true}, {For: "title", Pattern: "my"},
		{For: "mode", Mode: "bracketed_paste"}, {For: "mode", Mode: "mouse", Value: "button"}, {For: "alt_screen"},
		{For: "cursor", X: &x, Y: &y}, {For: "cursor", Y: &y}, {For: "text", Pattern: "hello"},
	}
	seq := term.Hub().Stats().Seq
	var wg sync.WaitGroup
	for _, c := range list {
		wg.Go(func() { await(t, term, one(c, nil)) })
	}
	looking(t, term, len(list))
	typeIn(t, term, "\n")
	wg.Wait()
	for _, c := range append(list, wire.WaitCondition{For: "alt_screen", Not: true},
		wire.WaitCondition{For: "mode", Mode: "mouse_encoding", Value: "default"}) {
		await(t, term, one(c, &seq))
	}
	typeIn(t, term, "\n")
	await(t, term, wire.Wait{Any: []wire.WaitCondition{never, {For: "exit"}}})
	for _, c := range list[:3] { // what is true of one that has ended is told at once
		waitFor(t, term, c)
	}
	fails(t, term, within(wire.WaitCondition{For: "alt_screen"}, patience), terminal.ErrExited)
}

func TestWaitRefuses(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "cat")
	for _, c := range []wire.WaitCondition{
		{}, {For: "luck"}, {For: "text"}, {For: "regex", Pattern: "("},
		{For: "text", Pattern: strings.Repeat("x", 4097)}, {For: "idle", Not: true}, {For: "cursor"}, {For: "mode"},
		{For: "mode", Mode: "mouse"}, {For: "mode", Mode: "insert", Value: "x"}, {For: "title"},
		{For: "idle", IdleMS: -1}, {For: "regex", Pattern: strings.Repeat(".{0,999}", 500)},
	} {
		_, err := waits.Wait(context.Background(), term, within(c, time.Second))
		if !errors.Is(err, terminal.ErrInvalid) || c.For != "regex" &&
			!strings.Contains(err.Error(), "allowed") && !strings.Contains(err.Error(), "needs") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	dear := within(never, time.Second)
	for range 15 {
		dear.Any = append(dear.Any, wire.WaitCondition{For: "regex", Pattern: "a{700}"})
	}
	fails(t, term, dear, terminal.ErrInvalid) // each of them is allowed
	many := uint64(1 << 40)
	fails(t, term, one(wire.WaitCondition{For: "exit"}, &many), terminal.ErrInvalid)
}

// TestWaitsAreLimited: so many at once, and no goroutine of them is left.
func TestWaitsAreLimited(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "cat")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range wait.MaxWaitsOf {
		wg.Go(func() { _, _ = waits.Wait(ctx, term, one(never, nil)) })
	}
	goingOn(t, term, wait.MaxWaitsOf)
	if _, err := waits.Wait(ctx, term, one(wire.WaitCondition{For: "idle"}, nil)); !errors.Is(err, terminal.ErrLimit) {
		t.Errorf("one more: %v, want ErrLimit", err)
	}
	cancel()
	wg.Wait()
	waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 1})
}

// TestWaitSeesTheUnfinished: a character that the end of the program cuts is replaced, as for
// viewers.
func TestWaitSeesTheUnfinished(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `stty -echo; printf ready; read x; printf 'end\xe2\x82'`)
	see(t, term, "ready")
	seq := typeIn(t, term, "\n")
	await(t, term, one(wire.WaitCondition{For: "regex", Pattern: "end\ufffd\ufffd$"}, &seq))
	await(t, term, one(wire.WaitCondition{For: "text", Pattern: "end\ufffd"}, nil))
}

// TestWhatAWaitSawIsOnTheScreen: the screen and the modes that keys go by have come as
// far as the wait, which reads the journal.
func TestWhatAWaitSawIsOnTheScreen(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", `stty -echo; echo ready; while read -r n; do printf '\033[?2004h%s on\n' "$n"
		read -r n; printf '\033[?2004l%s off\n' "$n"; done`)
	see(t, term, "ready")
	for i := range 100 {
		on := i%2 == 0
		word := map[bool]string{true: "on", false: "off"}[on]
		n := fmt.Sprint(i)
		sent := typeIn(t, term, n+"\n")
		w := await(t, term, one(wire.WaitCondition{For: "text", Pattern: n + " " + word}, &sent))
		if f := term.Hub().Stats(); f.Seq < w.Seq || term.Hub().Modes().BracketedPaste != on {
			t.Fatalf("after %q: at %d of %d, bracketed paste %t", n+" "+word, f.Seq, w.Seq, !on)
		}
	}
}

// TestWaitAcrossLostOutput: where the journal has lost output a wait goes on with what the screen
// has, also one whose position is in what was lost or behind it.
func TestWaitAcrossLostOutput(t *testing.T) {
	parallel(t)
	term := start(t, open(t, t.TempDir()), "sh", "-c", "stty -echo; echo before; exec cat")
	see(t, term, "before")
	j, err := term.Journal()
	if err != nil {
		t.Fatal(err)
	}
	begin := j.End()
	term.Hub().Write([]byte("lost\r\n")) // the journal does not get it
	end := term.Hub().Stats().Seq
	if err := j.SkipTo(end); err != nil {
		t.Fatal(err)
	}
	for _, since := range []uint64{0, begin, begin + 1, end} {
		text := "lost"
		if since == end {
			text = "behind"
			typeIn(t, term, "behind\n")
			see(t, term, "behind")
		}
		for _, pattern := range []string{"^" + text + "$", text + `\n`} {
			w := await(t, term, one(wire.WaitCondition{For: "regex", Pattern: pattern}, &since))
			if w.Seq < end {
				t.Errorf("since %d: %q is at %d", since, pattern, w.Seq)
			}
		}
		if since > 0 {
			before := within(wire.WaitCondition{For: "text", Pattern: "before"}, 100*time.Millisecond)
			before.Since = &since
			fails(t, term, before, terminal.ErrTimeout)
		}
	}
}

// openNative opens a server with the engine that wraps lines anew at a resize.
func openNative(t *testing.T, dir string) *supervisor.Supervisor {
	t.Helper()
	return supervisortest.OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{
		Engine: func(c vt.Config) vt.Engine { return vt.New(c) }}})
}

// TestAResizeLeavesPositions: what was shown before a resize has its position after it, or
// that of the call where it is not known any more, and never matches twice.
func TestAResizeLeavesPositions(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openNative(t, dir)
	long := strings.Repeat("0123456789", 12)
	zero := 0
	conditions := map[string]wire.WaitCondition{
		"text":        {For: "text", Pattern: "MARK"},
		"screen only": {For: "text", Pattern: "MARK", ScreenOnly: true},
		"regex":       {For: "regex", Pattern: "^M.*K"},
		"wrapped":     {For: "regex", Pattern: "^begin [0-9]+ MARK$"},
		"many lines":  {For: "regex", Pattern: `MARK\nbehind`},
		"absence":     {For: "text", Pattern: "nothing", Not: true},
		"title":       {For: "title", Pattern: "the title"},
		"cursor":      {For: "cursor", X: &zero, Not: true},
		"mode":        {For: "mode", Mode: "autowrap"},
		"screen":      {For: "alt_screen", Not: true},
	}
	for name, program := range map[string]string{
		"on the screen": `printf '\e]2;the title\aMARK\nbegin ` + long + ` MARK\nbehind\n'`,
		"in the history": `printf '\e]2;the title\aMARK\nbegin ` + long +
			` MARK\nbehind\n'; printf '%30s' | tr ' ' '\n'`,
		"the alternate screen": `printf '\e]2;the title\aMARK\nbegin ` + long +
			` MARK\nbehind\n\e[?1049h\e[Halt\e[?1049l'`,
	} {
		t.Run(name, func(t *testing.T) {
			term := start(t, m, "bash", "-c", program+`; stty raw -echo; printf END; exec cat`)
			see(t, term, "^END$")
			for _, size := range [][2]int{{60, 24}, {100, 30}, {100, 10}, {81, 24}} {
				if err := term.Resize(size[0], size[1]); err != nil {
					t.Fatal(err)
				}
				seq := typeIn(t, term, ".")
				end := await(t, term, one(wire.WaitCondition{For: "regex", Pattern: `\.$`}, &seq)).Seq
				for kind, c := range conditions {
					if c.ScreenOnly && name == "in the history" {
						continue
					}
					w := await(t, term, one(c, nil))
					if w.Seq == 0 || w.Seq > end || w.Match != nil && w.Match.EndSeq != w.Seq {
						t.Errorf("%v, %s: position %d, match %+v; the output has %d bytes", size, kind, w.Seq,
							w.Match, end)
					}
					if c.Pattern == "MARK" {
						checkMatch(t, term, w, "MARK")
					}
					if kind == "wrapped" || kind == "many lines" || kind == "title" {
						fails(t, term, wire.Wait{Any: []wire.WaitCondition{c}, Since: &w.Seq, TimeoutMS: 1},
							terminal.ErrTimeout)
					}
				}
				second := one(conditions["text"], nil)
				first := await(t, term, second)
				second.Since = &first.Seq
				if got := await(t, term, second); got.Match.StartSeq <= first.Match.StartSeq {
					t.Errorf("%v: %+v after %+v", size, got.Match, first.Match)
				}
			}
		})
	}
}

// TestUnknownPositionsAreThoseOfTheCall: text of which nobody knows where it was printed has the
// position of the call.
func TestUnknownPositionsAreThoseOfTheCall(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "bash", "-c", "echo MARK; printf '%3000000s' | tr ' ' '\r';  echo END; sleep 1000")
	see(t, term, "^END$")
	leave(t, m)
	m = open(t, dir)
	term = find(t, m, term.ID)
	end := term.Hub().Stats().Seq
	for range 2 {
		w := await(t, term, one(wire.WaitCondition{For: "text", Pattern: "MARK"}, nil))
		if w.Match.StartSeq != end || w.Match.EndSeq != end || w.Seq != end {
			t.Errorf("%+v at %d: the output has %d bytes", w.Match, w.Seq, end)
		}
		if err := term.Resize(70, 20); err != nil {
			t.Fatal(err)
		}
		end = typeIn(t, term, "x\n")
		end = await(t, term, one(wire.WaitCondition{For: "regex", Pattern: "^x$"}, &end)).Seq + 2
		until(t, "the line end", func() bool { return term.Hub().Stats().Seq == end })
	}
}

// TestAResizeLeavesWhatCounts: a wait with a position knows after a resize what was printed
// behind it: its text when the time is over, and a prompt that the shell did not print again.
func TestAResizeLeavesWhatCounts(t *testing.T) {
	parallel(t)
	m := openNative(t, t.TempDir())
	term := start(t, m, "bash", "--norc")
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	seq := typeIn(t, term, "echo after\r")
	await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
	for _, size := range [][2]int{{80, 20}, {60, 20}} {
		if err := term.Resize(size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		w, err := waits.Wait(background(t), term, wire.Wait{Any: []wire.WaitCondition{never}, Since: &seq,
			TimeoutMS: time.Second.Milliseconds()})
		if !errors.Is(err, terminal.ErrTimeout) || !strings.Contains(w.Text, "\nafter\n") {
			t.Errorf("%v: %v, with the text %q", size, err, w.Text)
		}
		await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
	}
}
