package wait

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// leastLook is how long a wait may look at what is shown already, also one with less time: a question
// whether something is there.
const leastLook = time.Second

// waiter is one call of Wait. Its goroutine owns it; once it shares a follower, whoever
// holds the follower's lock may change it.
type waiter struct {
	wire.Wait
	timeout    time.Duration
	service    *Service
	t          *terminal.Terminal
	followers  *followers // of t
	conditions conditions
	began      time.Time
	follower   *follower // nil when no condition is about the screen
	from       uint64    // what the follower shows after this position counts
	reached    bool      // the follower has come to from
	finder     finder
	echo       *echo.Filter  // nil when echo needs not be known
	looking    bool          // look has a place of Service.replays
	found      *wire.Waited  // nil until a condition is met
	met        chan struct{} // gets a value when another goroutine has set found
}

func (w *waiter) close() {
	if w.follower != nil {
		w.follower.remove(w)
	}
}

// result is the reply of a wait that ended with err: nil, or an error of NotMet.
func (w *waiter) result(err error) wire.Waited {
	if w.follower != nil {
		w.follower.lock.lock()
		defer w.follower.lock.release()
	}
	if w.found == nil || err != nil {
		return w.now()
	}
	return *w.found
}

// hit is the reply when condition i was met.
func (w *waiter) hit(i int, text string, seq uint64) *wire.Waited {
	r := &wire.Waited{Text: text, Seq: seq}
	if w.Any != nil {
		r.Index = &i
	}
	return r
}

// now is the reply without a match at the position that the wait has come to.
func (w *waiter) now() wire.Waited {
	if w.follower == nil {
		shot := w.t.Hub().Snapshot()
		return wire.Waited{Text: plainText(vt.TextLines(shot.Frame, maxHistory), nil), Seq: shot.Seq}
	}
	seq := w.from
	if w.reached {
		seq = w.follower.seq - uint64(w.follower.screen.Held())
	}
	return wire.Waited{Text: w.text(), Seq: seq}
}

// text is the text of a reply at this moment.
func (w *waiter) text() string {
	if w.Since == nil {
		return plainText(vt.TextLines(w.follower.screen.Freeze(), maxHistory), nil)
	}
	return plainText(w.follower.screen.Lines(maxHistory), w.Since)
}

// wake wakes the waiter's goroutine when a condition was met.
func (w *waiter) wake() {
	if w.found == nil {
		return
	}
	select {
	case w.met <- struct{}{}:
	default:
	}
}

// needs reports whether f is true of a condition.
func (l conditions) needs(f func(c *condition) bool) bool {
	return slices.ContainsFunc(l, f)
}

// multiline reports whether a pattern may match across the end of a line. Such a waiter looks
// at other moments than one for single lines.
func (l conditions) multiline() bool {
	return l.needs(func(c *condition) bool { return c.forText() && c.pattern.multiline })
}

// alone reports whether the waiter shares no follower: its patterns look at other moments, or would keep the others
// waiting.
func (l conditions) alone() bool { return l.instructions() > maxShared || l.multiline() }

// yield lets others go first in the middle of a step or a look.
func (w *waiter) yield() {
	if w.looking || w.follower != nil && w.follower.stepping {
		w.service.replays.release()
		w.service.replays.lock()
	}
}

// filterEcho begins to tell echo from other output. A prompt after a position has to be told
// from the echo of what was typed at the prompt before.
func (w *waiter) filterEcho() {
	if w.echo != nil {
		return
	}
	if w.IgnoreEcho || w.Since != nil && w.conditions.needs(func(c *condition) bool { return c.For == "prompt" }) {
		w.echo = echo.NewFilter(w.t.Typed(), w.follower.seq)
	}
	if w.IgnoreEcho {
		w.finder.echo = w.echo
	}
}

// linesChanged looks at all lines of this moment, for patterns that match across lines.
func (w *waiter) linesChanged() {
	const before = 64 // lines that were looked at already: a match may begin in them
	lines := w.follower.screen.Lines(vt.MaxUnreported + before)
	w.match(func(p *pattern) (wire.Match, bool) { return w.finder.find(p, lines) })
}

// match has find look for each pattern until one is found.
func (w *waiter) match(find func(p *pattern) (wire.Match, bool)) {
	for i, c := range w.conditions {
		if w.found != nil || !c.forText() {
			continue
		}
		if m, ok := find(c.pattern); ok {
			w.found = w.hit(i, w.text(), m.EndSeq)
			w.found.Match = &m
		}
	}
}

// meet ends the wait with the first condition that is met now, at position seq.
func (w *waiter) meet(seq uint64, met func(c *condition) bool) {
	if w.found != nil {
		return
	}
	if i := slices.IndexFunc(w.conditions, met); i >= 0 {
		w.found = w.hit(i, w.text(), seq)
	}
}

// titleChanged looks at a new title.
func (w *waiter) titleChanged(title string) {
	w.meet(w.follower.screen.Offset(), func(c *condition) bool {
		return c.For == "title" && !c.Not && strings.Contains(title, c.Pattern)
	})
}

// modesChanged looks at the modes and the screen shown, each time they change.
func (w *waiter) modesChanged() {
	modes := w.follower.screen.Modes()
	now := state{alt: modes.AltScreen, modes: modes}
	w.meet(w.follower.screen.Offset(), func(c *condition) bool { return c.onModes() && c.holds(now) != c.Not })
}

// checkState looks at conditions that hold between two pieces of output: absence, and where
// the cursor rests. While the program draws (mode ?2026) there is no such state.
func (w *waiter) checkState() {
	screen := w.follower.screen
	states := func(c *condition) bool { return c.onScreen() && !c.forText() }
	if !w.reached || w.found != nil || screen.Modes().SyncOutput || !w.conditions.needs(states) {
		return
	}
	s := stateOf(screen.Freeze())
	s.title = w.follower.title
	w.meet(w.follower.seq, func(c *condition) bool {
		switch {
		case !states(c) || c.For == "title" && !c.Not && w.Since != nil:
			return false
		case c.onText():
			here := w.finder
			here.since = nil
			_, shown := here.find(c.pattern, screen.Lines(0))
			return !shown
		}
		return c.holds(s) != c.Not
	})
}

// checkFrame returns what of a frame at position seq meets a condition, nil when nothing
// does.
func (w *waiter) checkFrame(f *vt.Frame, seq uint64) *wire.Waited {
	return w.checkLines(vt.TextLines(f, -1), vt.TextLines(f, 0), stateOf(f), seq)
}

// checkLines is checkFrame of lines, with the history and of the screen alone.
func (w *waiter) checkLines(lines, screen []vt.TextLine, s state, seq uint64) *wire.Waited {
	look := w.finder
	look.until = time.Now().Add(max(time.Until(w.began.Add(w.timeout+w.overtime())), leastLook))
	for i, c := range w.conditions {
		if c.forText() {
			where := lines
			if c.ScreenOnly {
				where = screen
			}
			if m, ok := look.find(c.pattern, where); ok {
				hit := w.hit(i, plainText(lines, nil), m.EndSeq)
				hit.Match = &m
				return hit
			}
		}
		if c.onScreen() && !c.onText() && c.holds(s) != c.Not {
			return w.hit(i, plainText(lines, nil), seq)
		}
	}
	return nil
}

// plainText is lines as text, without the blanks at their ends and the empty lines at the
// end. With a position it has only the lines that were printed or changed after it.
func plainText(lines []vt.TextLine, since *uint64) string {
	var b strings.Builder
	empty := 0
	for _, l := range lines {
		if since != nil && !changedAfter(l, *since) {
			continue
		}
		text := bytes.TrimRight(l.Text, " ")
		if len(text) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			b.WriteByte('\n')
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// changedAfter reports whether a part of a line was printed or erased after a position.
func changedAfter(l vt.TextLine, since uint64) bool {
	return l.ErasedAt > since || slices.ContainsFunc(l.Offsets, func(at uint64) bool { return at > since })
}
