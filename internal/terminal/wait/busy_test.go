package wait_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// TestAWaitEndsBesideDearOutput: a wait follows output of which a piece takes minutes in steps, so
// that it ends when its time is over, and it misses nothing of it.
func TestAWaitEndsBesideDearOutput(t *testing.T) {
	m := openNative(t, t.TempDir())
	const late = 10 * time.Second // a step takes milliseconds; the machine may be busy
	marks := `printf '\e[H\xcc\x80\xcc\x81%.0s' `
	term, err := m.Terminals.Create(
		"s",
		wire.CreateTerminal{Cols: new(1000), Rows: new(1000), Cmd: []string{"bash", "-c",
			`stty -echo; echo ready; read x; printf '\e[65;1;1;1000;1000$x'; ` + marks +
				`{1..5}; printf 'MARK\r    '; ` +
				marks + "{1..5}; while :; do " + marks + "{1..2000}; done"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "ready")
	since := typeIn(t, term, "\n")
	await(t, term, one(wire.WaitCondition{For: "text", Pattern: "MARK"}, &since))
	for _, c := range []wire.WaitCondition{
		never, {For: "regex", Pattern: "nev+er"}, {For: "regex", Pattern: "nev+er\\n"}} {
		for _, since := range []*uint64{nil, new(term.Hub().Stats().Seq)} {
			r := within(c, 100*time.Millisecond)
			r.Since = since
			began := time.Now()
			_, err := waits.Wait(context.Background(), term, r)
			if d := time.Since(began); !errors.Is(err, terminal.ErrTimeout) || d > late {
				t.Errorf("%s %q: %v after %v", c.For, c.Pattern, err, d)
			}
		}
	}
}

// TestWhatIsShownMatchesInTime: text on the screen matches also when its position is not found in
// time, because the output before it costs much or others look for theirs.
func TestWhatIsShownMatchesInTime(t *testing.T) {
	m := openNative(t, t.TempDir())
	const dear = `printf '\e[65;1;1;400;400$x\e[66;1;1;400;400$x%.0s' {1..2000}; clear; echo SHO""WN; read x`
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cols: new(400), Rows: new(400),
		Cmd: []string{"bash", "-c", dear}})
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "SHOWN")
	const at = 4 // each takes a while
	shown := within(wire.WaitCondition{For: "text", Pattern: "SHOWN"}, time.Millisecond)
	found := make(chan error, at)
	for range at {
		go func() {
			_, err := waits.Wait(context.Background(), term, shown)
			found <- err
		}()
	}
	for range at {
		if err := <-found; err != nil {
			t.Error(err)
		}
	}
}

// TestAWaitEndsBesideDearPatterns: patterns that need long for the lines that are shown, some 30 s for all, are looked
// for no longer than the wait may take.
func TestAWaitEndsBesideDearPatterns(t *testing.T) {
	m := openNative(t, t.TempDir())
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cols: new(200), Rows: new(24), Cmd: []string{"bash", "-c",
		`printf -v line '%0199d' 0; for i in {1..5000}; do echo ${line//0/a}; done; echo ready; sleep 1000`}})
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "ready")
	r := within(never, 100*time.Millisecond)
	r.Any = nil
	for range 16 {
		r.Any = append(r.Any, wire.WaitCondition{For: "regex", Pattern: "(a?b?){50}never$"})
	}
	began := time.Now()
	_, err = waits.Wait(context.Background(), term, r)
	if d := time.Since(began); !errors.Is(err, terminal.ErrTimeout) || d > 5*time.Second {
		t.Errorf("%v after %v", err, d)
	}
}

// TestADearPatternEndsInTime: one that needs minutes for what is shown ends with its time, and with its client.
func TestADearPatternEndsInTime(t *testing.T) {
	m := openNative(t, t.TempDir())
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cols: new(1000), Rows: new(24), Cmd: []string{"bash", "-c",
		`printf -v line '%0999d' 0; for i in {1..1000}; do echo ${line//0/a}; done; echo ready; sleep 1000`}})
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "ready")
	const late = 3 * time.Second // a look takes milliseconds; the machine may be busy
	for _, p := range []string{"(?s)(a?b?.{0,9}){100}never", "(a?b?.{0,9}){100}never$",
		"(?s)(a?b?.{0,9}){100}(a?b?.{0,9}){100}(a?b?.{0,9}){100}never"} {
		r := within(wire.WaitCondition{For: "regex", Pattern: p}, 100*time.Millisecond)
		began := time.Now()
		_, err = waits.Wait(context.Background(), term, r)
		if d := time.Since(began); !errors.Is(err, terminal.ErrTimeout) || d > late {
			t.Errorf("%s: %v after %v", p, err, d)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		r.TimeoutMS = time.Minute.Milliseconds()
		began = time.Now()
		_, err = waits.Wait(ctx, term, r)
		if d := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || d > late {
			t.Errorf("%s, its client is gone: %v after %v", p, err, d)
		}
	}
}

// TestALongLookKeepsNobodyWaiting: while waits look for dear patterns in a full screen others of the terminal end.
func TestALongLookKeepsNobodyWaiting(t *testing.T) {
	m := openNative(t, t.TempDir())
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cols: new(1000), Rows: new(24), Cmd: []string{"bash", "-c",
		`printf -v line '%0999d' 0; for i in {1..5000}; do echo ${line//0/a}; done; echo ready; sleep 1000`}})
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "ready")
	for _, p := range []string{"(a?b?.{0,9}){100}never", "(a?b?){60}never$"} { // of its own follower, and of a shared one
		ctx, cancel := context.WithCancel(context.Background())
		var work sync.WaitGroup
		var over atomic.Int32
		const looks = 4
		for range looks {
			work.Go(func() {
				defer over.Add(1)
				_, _ = waits.Wait(ctx, term, within(wire.WaitCondition{For: "regex", Pattern: p}, time.Minute))
			})
		}
		if !polling.Until(patience, func() bool { return wait.WaitsOf(waits, term) == looks }) {
			t.Fatal("no waits")
		}
		began := time.Now()
		await(t, term, within(wire.WaitCondition{For: "text", Pattern: "ready"}, patience))
		if over.Load() > 0 {
			t.Errorf("%s: a wait for what is shown took %v, longer than their looks", p, time.Since(began))
		}
		cancel()
		work.Wait()
	}
}

// TestDearPatternsLeaveOthersTheirShare: beside a flood and dear patterns for it other waits see what they wait for, of
// the same terminal and of another one.
func TestDearPatternsLeaveOthersTheirShare(t *testing.T) {
	m := openNative(t, t.TempDir())
	const flood = `printf -v line '%0199d' 0; read x; while :; do echo ${line//0/a}; done & read y; echo MA""RK; wait`
	flooded, err := m.Terminals.Create(
		"s",
		wire.CreateTerminal{Cols: new(200), Rows: new(24), Cmd: []string{"bash", "-c",
			flood}},
	)
	if err != nil {
		t.Fatal(err)
	}
	quiet := start(t, m, "cat")
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	for range 16 {
		work.Go(func() {
			_, _ = waits.Wait(ctx, flooded, within(wire.WaitCondition{For: "regex", Pattern: "(a?b?.{0,9}){100}never"},
				time.Minute))
		})
	}
	if !polling.Until(patience, func() bool { return wait.WaitsOf(waits, flooded) == 16 }) {
		t.Fatal("no waits")
	}
	typeIn(t, flooded, "\n")
	began := time.Now()
	for i := range 5 {
		text := fmt.Sprintf("line-%d", i)
		typeIn(t, quiet, text+"\n")
		await(t, quiet, within(wire.WaitCondition{For: "regex", Pattern: text + "$"}, patience))
	}
	t.Logf("five waits of the other terminal took %v", time.Since(began))
	work.Go(func() {
		polling.Until(patience, func() bool { return wait.WaitsOf(waits, flooded) == 17 })
		_, _ = flooded.Input(ctx, []byte("\n"))
	})
	await(t, flooded, within(wire.WaitCondition{For: "text", Pattern: "MARK"}, patience))
	t.Logf("all took %v", time.Since(began))
}
