package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/terminal"
)

// TestWaitsShareAFollower: waits that begin at one place go through the output once, and each sees
// its own text, which is shown for a moment only.
func TestWaitsShareAFollower(t *testing.T) {
	m := open(t, t.TempDir())
	const many = 20
	var words strings.Builder
	for i := range many {
		fmt.Fprintf(&words, `word%02d\r\033[K`, i)
	}
	term := start(t, m, "sh", "-c", `stty -echo; printf ready; read x; printf '`+words.String()+`\033]2;told\a\033[?2004h\033[?2004lend'; exec sleep 1000`)
	see(t, term, "ready")
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			word := fmt.Sprintf("word%02d", i)
			checkMatch(t, term, await(t, term, one(terminal.Condition{For: "text", Pattern: word}, nil)), word)
		})
	}
	now := term.Hub().Facts().Seq
	for _, w := range []terminal.Wait{
		one(terminal.Condition{For: "title", Pattern: "told"}, nil), one(terminal.Condition{For: "mode", Mode: "bracketed_paste"}, nil),
		one(terminal.Condition{For: "text", Pattern: "ready", Not: true}, nil), one(terminal.Condition{For: "regex", Pattern: "^word07$"}, &now),
	} {
		all.Go(func() { await(t, term, w) })
	}
	until(t, "the waits", func() bool { n, early := terminal.ListenersOf(term); return n == many+4 && early == 0 })
	if n := terminal.FollowersOf(term); n != 1 {
		t.Errorf("%d followers", n)
	}
	over := one(terminal.Condition{For: "regex", Pattern: `(?s)word.*end`}, nil) // looks at lines together
	over.Timeout = 10 * time.Millisecond
	if _, err := term.Wait(context.Background(), over); !errors.Is(err, terminal.ErrTimeout) {
		t.Error(err)
	}
	typeIn(t, term, "\n")
	all.Wait()
	if n := terminal.FollowersOf(term); n != 0 {
		t.Errorf("%d followers are left", n)
	}
}

// TestAWaitThatJoinsLooksFromItsPlace: what a follower that it shares comes to later, but
// was printed and gone before the wait began, does not count for it.
func TestAWaitThatJoinsLooksFromItsPlace(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", `stty -echo; printf ready; while read -r x; do printf 'MARK1\r\033[K%s' "$x"; done`)
	see(t, term, "ready")
	var first, second terminal.Waited
	var all sync.WaitGroup
	all.Go(func() { first = await(t, term, one(terminal.Condition{For: "text", Pattern: "MARK1"}, nil)) })
	until(t, "the first wait", func() bool { return terminal.FollowersOf(term) == 1 })
	release := terminal.HoldFollower(term)
	begin := typeIn(t, term, "one\n")
	until(t, "what is erased at once", func() bool { return strings.Contains(screen(term), "one") })
	all.Go(func() { second = await(t, term, one(terminal.Condition{For: "text", Pattern: "MARK1"}, nil)) })
	until(t, "the second wait", func() bool { n, early := terminal.ListenersOf(term); return n == 2 && early == 1 })
	release()
	until(t, "the end of the first", func() bool { return terminal.WaitsOf(term) == 1 })
	again := typeIn(t, term, "two\n")
	all.Wait()
	checkMatch(t, term, first, "MARK1")
	checkMatch(t, term, second, "MARK1")
	if first.Match.Start < begin || first.Match.End > again || second.Match.Start < again {
		t.Errorf("typed at %d and %d, the first matched %+v, the second %+v", begin, again, first.Match, second.Match)
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
	if d := terminal.PauseOf(term, time.Millisecond); d != 0 {
		t.Errorf("without a flood it rests for %v", d)
	}
	typeIn(t, term, "\n")
	until(t, "the flood", func() bool { return terminal.PauseOf(term, time.Millisecond) > 0 })
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := term.Wait(background(t), within(terminal.Condition{For: "text", Pattern: "never"}, 300*time.Millisecond)); !errors.Is(err, terminal.ErrTimeout) {
				t.Errorf("%v, want ErrTimeout", err)
			}
		})
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(100*time.Millisecond, cancel)
			if _, err := term.Wait(ctx, within(terminal.Condition{For: "text", Pattern: "never"}, patience)); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want that of the context", err)
			}
		})
	}
	all.Wait()
	first, end := context.WithCancel(context.Background())
	defer all.Wait()
	defer end()
	all.Go(func() { _, _ = term.Wait(first, one(terminal.Condition{For: "text", Pattern: "never"}, nil)) })
	until(t, "the first wait", func() bool { return terminal.FollowersOf(term) == 1 })
	defer terminal.HoldFollower(term)() // somebody else works, for as long as it takes
	if _, err := term.Wait(background(t), within(terminal.Condition{For: "text", Pattern: "never"}, 50*time.Millisecond)); !errors.Is(err, terminal.ErrTimeout) {
		t.Errorf("%v, want ErrTimeout", err)
	}
}
