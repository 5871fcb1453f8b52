package wait_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/wire"
)

// TestWaitsShareAFollower: waits that begin at one place go through the output once, and each sees
// its own text, which is shown for a moment only.
func TestWaitsShareAFollower(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	const many = 20
	var words strings.Builder
	for i := range many {
		fmt.Fprintf(&words, `word%02d\r\033[K`, i)
	}
	term := start(t, m, "sh", "-c", `stty -echo; printf ready; read x; printf '`+words.String()+
		`\033]2;told\a\033[?2004h\033[?2004lend'; exec sleep 1000`)
	see(t, term, "ready")
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			word := fmt.Sprintf("word%02d", i)
			checkMatch(t, term, await(t, term, one(wire.WaitCondition{For: "text", Pattern: word}, nil)), word)
		})
	}
	now := term.Hub().Stats().Seq
	for _, w := range []wire.Wait{
		one(wire.WaitCondition{For: "title", Pattern: "told"}, nil),
		one(wire.WaitCondition{For: "mode", Mode: "bracketed_paste"}, nil),
		one(wire.WaitCondition{For: "text", Pattern: "ready", Not: true}, nil),
		one(wire.WaitCondition{For: "regex", Pattern: "^word07$"}, &now),
	} {
		all.Go(func() { await(t, term, w) })
	}
	looking(t, term, many+4)
	if n := wait.FollowersOf(waits, term); n != 1 {
		t.Errorf("%d followers", n)
	}
	over := wire.WaitCondition{For: "regex", Pattern: `(?s)word.*end`} // looks at lines together
	fails(t, term, within(over, 10*time.Millisecond), terminal.ErrTimeout)
	typeIn(t, term, "\n")
	all.Wait()
	if n := wait.FollowersOf(waits, term); n != 0 {
		t.Errorf("%d followers are left", n)
	}
}

// TestAWaitThatJoinsLooksFromItsPlace: what a follower that it shares comes to later, but
// was printed and gone before the wait began, does not count for it.
func TestAWaitThatJoinsLooksFromItsPlace(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", `stty -echo; printf ready; while read -r x; do printf 'MARK1\r\033[K%s' "$x"; done`)
	see(t, term, "ready")
	var first, second wire.Waited
	var all sync.WaitGroup
	all.Go(func() { first = await(t, term, one(wire.WaitCondition{For: "text", Pattern: "MARK1"}, nil)) })
	until(t, "the first wait", func() bool { return wait.FollowersOf(waits, term) == 1 })
	release := wait.HoldFollower(waits, term)
	begin := typeIn(t, term, "one\n")
	until(t, "what is erased at once", func() bool { return strings.Contains(screen(term), "one") })
	all.Go(func() { second = await(t, term, one(wire.WaitCondition{For: "text", Pattern: "MARK1"}, nil)) })
	until(t, "the second wait", func() bool { n, early := wait.WaitersOf(waits, term); return n == 2 && early == 1 })
	release()
	until(t, "the end of the first", func() bool { return wait.WaitsOf(waits, term) == 1 })
	again := typeIn(t, term, "two\n")
	all.Wait()
	checkMatch(t, term, first, "MARK1")
	checkMatch(t, term, second, "MARK1")
	if first.Match.StartSeq < begin || first.Match.EndSeq > again || second.Match.StartSeq < again {
		t.Errorf("typed at %d and %d, the first matched %+v, the second %+v", begin, again, first.Match, second.Match)
	}
}

// TestNothingIsAbsentWhileItIsDrawn: text that a program erases and draws again in one update (mode ?2026) is not
// absent in between.
func TestNothingIsAbsentWhileItIsDrawn(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", `stty -echo; printf Loading; read x; printf '\033[?2026h\033[2J\033[Hdrawing'; `+
		`read x; printf '\033[HLoading\033[?2026l'; read x; printf '\033[2J\033[Hloaded'; read x`)
	see(t, term, "Loading")
	var w wire.Waited
	var all sync.WaitGroup
	all.Go(func() { w = await(t, term, one(wire.WaitCondition{For: "text", Pattern: "Loading", Not: true}, nil)) })
	goingOn(t, term, 1)
	typeIn(t, term, "\n")
	see(t, term, "drawing")
	typeIn(t, term, "\n")
	see(t, term, "Loading")
	drawn := term.Hub().Snapshot().Seq
	typeIn(t, term, "\n")
	all.Wait()
	if w.Seq <= drawn {
		t.Errorf("absent at %d, it was drawn at %d", w.Seq, drawn)
	}
}

// TestWaitsInAFlood rest while the terminal has more output than it takes, and still end in
// time.
func TestWaitsInAFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("floods a terminal")
	}
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "printf ready; read x; exec yes a line of a flood")
	see(t, term, "ready")
	if d := wait.PauseOf(term, time.Millisecond); d != 0 {
		t.Errorf("without a flood it rests for %v", d)
	}
	typeIn(t, term, "\n")
	until(t, "the flood", func() bool { return wait.PauseOf(term, time.Millisecond) > 0 })
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { fails(t, term, within(never, 300*time.Millisecond), terminal.ErrTimeout) })
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(100*time.Millisecond, cancel)
			if _, err := waits.Wait(ctx, term, within(never, patience)); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want that of the context", err)
			}
		})
	}
	all.Wait()
	first, end := context.WithCancel(context.Background())
	defer all.Wait()
	defer end()
	all.Go(func() { _, _ = waits.Wait(first, term, one(never, nil)) }) // applies output as long as it goes on
	until(t, "the first wait", func() bool { return wait.FollowersOf(waits, term) == 1 })
	fails(t, term, within(never, 50*time.Millisecond), terminal.ErrTimeout)
}
