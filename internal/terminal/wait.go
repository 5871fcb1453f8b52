package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/evertty/evertty/vt"
)

const (
	// maxWaits is how many waits a server has at once, and maxWaitsOf a terminal: a
	// wait for text may have an emulator of its own, some 100 KB of memory.
	maxWaits   = 1000
	maxWaitsOf = 100
	// lateLook is how long a wait whose time is over goes on with output that came
	// before that.
	lateLook = 5 * time.Second
	// maxLocate is how much output is applied to find out where text that is shown
	// already was printed, in bytes: some 10 ms of work.
	maxLocate = 2 << 20
)

// Waited is what Wait saw.
type Waited struct {
	// Text are the lines of the last waitHistory lines of history and of the screen when the
	// condition was met or the time was over; with Since those that were printed or
	// changed behind it.
	Text string
	// Seq is the position up to which was looked: the end of the match of text. The
	// next wait with this Since misses nothing.
	Seq   uint64
	Index int    // of the condition that was true
	Match *Match // of text and regex; nil for others
}

// Wait returns when a condition is met. Errors: ErrInvalid, ErrLimit, ErrTimeout,
// ErrExited (the program ended and no condition can come true any more), ErrJournal,
// journal.ErrNotKept or the context's; Waited is filled with ErrTimeout and ErrExited too.
func (t *Terminal) Wait(ctx context.Context, w Wait) (Waited, error) {
	conditions, err := w.check()
	if err != nil {
		return Waited{}, err
	}
	if err := t.enterWait(); err != nil {
		return Waited{}, err
	}
	defer t.leaveWait()
	a := &waiting{t: t, Wait: w, conditions: conditions, began: time.Now(), met: make(chan struct{}, 1)}
	defer a.close()
	if err := a.begin(ctx); err != nil {
		return Waited{}, err
	}
	err = a.await(ctx)
	if err != nil && !NotMet(err) {
		return Waited{}, err
	}
	seen := a.result(err)
	if err := t.applied(ctx, seen.Seq); err != nil {
		return Waited{}, err
	}
	return seen, err
}

// result is what Wait returns with an error that says NotMet, or none.
func (a *waiting) result(err error) Waited {
	if a.follow != nil {
		a.follow.turn <- struct{}{}
		defer a.follow.turn.leave()
	}
	if a.found == nil || err != nil {
		return a.seen()
	}
	return *a.found
}

// applied waits until the terminal's own screen has come to seq. A wait reads the
// journal, which has the output a moment earlier: who then asks for the screen, or
// presses keys in the modes of the program, needs what was seen to be there.
// Errors: the reason of ctx.
func (t *Terminal) applied(ctx context.Context, seq uint64) error {
	changed, stop := t.Hub().Watch()
	defer stop()
	for {
		if f := t.Hub().Facts(); f.Seq >= seq || f.Finished {
			return nil
		}
		select {
		case <-changed:
		case <-t.ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// NotMet tells whether an error of Wait says that the condition was not met.
func NotMet(err error) bool { return errors.Is(err, ErrTimeout) || errors.Is(err, ErrExited) }

func (t *Terminal) enterWait() error {
	if n := t.registry.waits.Add(1); n > maxWaits {
		t.registry.waits.Add(-1)
		return fmt.Errorf("%w: %d waits of this server are going on, the most there are", ErrLimit, maxWaits)
	}
	if n := t.waits.Add(1); n > maxWaitsOf {
		t.leaveWait()
		return fmt.Errorf("%w: %d waits for terminal %s are going on, the most there are", ErrLimit, maxWaitsOf, t.ID)
	}
	return nil
}

func (t *Terminal) leaveWait() {
	t.waits.Add(-1)
	t.registry.waits.Add(-1)
}

// waiting is a wait that goes on. One goroutine has it, and with a follower who has the
// turn of that.
type waiting struct {
	Wait
	t          *Terminal
	conditions []awaited
	began      time.Time
	follow     *follower // nil when no condition is about the screen
	from       uint64    // what the follower shows behind it is looked at
	told       bool      // the follower has come there
	look       sight
	echo       *echo // what is echo in what follows; nil when nobody needs to know
	found      *Waited
	met        chan struct{} // has a value when another goroutine has found it
}

func (a *waiting) close() {
	if a.follow != nil {
		a.follow.leave(a)
	}
}

// tell wakes the wait when something was found for it.
func (a *waiting) tell() {
	if a.found == nil {
		return
	}
	select {
	case a.met <- struct{}{}:
	default:
	}
}

// needs tells whether a condition is true of f.
func (a *waiting) needs(f func(c *awaited) bool) bool {
	for i := range a.conditions {
		if f(&a.conditions[i]) {
			return true
		}
	}
	return false
}

// begin looks at what there is, and from there on follows what comes.
func (a *waiting) begin(ctx context.Context) error {
	a.look.since = a.Since
	var err error
	switch {
	case a.Since != nil:
		err = a.beginSince(ctx)
	case a.needs((*awaited).onScreen):
		err = a.beginNow(ctx)
	}
	return err
}

// beginSince begins with the state at the position. Near the end of the output it may share
// with waits that have no position, so it takes its turn with them.
func (a *waiting) beginSince(ctx context.Context) error {
	a.look.base = *a.Since
	if f := a.t.Hub().Facts(); f.Seq-min(f.Seq, *a.Since) <= maxJoin {
		begins := a.t.followers.begin()
		if err := begins.enter(ctx); err != nil {
			return err
		}
		defer begins.leave()
	}
	if joined, err := a.joinAt(ctx, *a.Since); joined || err != nil {
		return err
	}
	o, err := a.t.followFrom(ctx, *a.Since)
	if err == nil {
		a.own(o)
	}
	return err
}

// beginNow looks at all that is shown. When something there matches, or when echo
// has to be told from it, the last output is gone through for where it was printed.
func (a *waiting) beginNow(ctx context.Context) error {
	begins := a.t.followers.begin()
	if err := begins.enter(ctx); err != nil {
		return err
	}
	defer begins.leave()
	if joined, err := a.joinNow(ctx); joined || err != nil {
		return err
	}
	shot := a.t.Hub().Shot()
	a.look.base = shot.Seq
	hit := a.lookAt(shot.Frame, shot.Seq)
	if hit != nil && hit.Match == nil {
		a.found = hit
		return nil
	}
	if hit != nil || a.IgnoreEcho && a.t.typed.lately(shot.Seq) {
		if done, err := a.locate(ctx, shot.Seq, hit); done || err != nil {
			return err
		}
	}
	f, err := a.t.newFollower(shot.Frame, shot.Seq)
	if errors.Is(err, ErrJournal) && !a.t.Running() {
		return nil // nothing more comes
	}
	if err == nil {
		a.own(f)
	}
	return err
}

// own begins to listen to a follower that nobody else knows; others may join it then.
func (a *waiting) own(o *follower) {
	o.listen(a, o.seq)
	if !o.alone && a.found == nil {
		a.t.followers.add(o)
	}
}

// joinAt shares a follower that has not passed seq, when there is one.
func (a *waiting) joinAt(ctx context.Context, seq uint64) (joined bool, err error) {
	o := a.t.followers.newest()
	if j, err := a.t.Journal(); o == nil || a.overLines() || err != nil || seq > j.End() {
		return false, nil //nolint:nilerr // a follower of its own tells it
	}
	if err := o.turn.enter(ctx); err != nil {
		return false, err
	}
	defer o.turn.leave()
	if !o.takes(seq) || seq < o.base {
		return false, nil
	}
	o.listen(a, seq)
	return true, nil
}

// joinNow shares a follower that is not far behind, when nothing that is shown now
// meets a condition.
func (a *waiting) joinNow(ctx context.Context) (joined bool, err error) {
	o := a.t.followers.newest()
	if o == nil || a.overLines() {
		return false, nil
	}
	if err := o.turn.enter(ctx); err != nil {
		return false, err
	}
	defer o.turn.leave()
	if err := a.t.applied(ctx, o.seq); err != nil {
		return false, err
	}
	shot := a.t.Hub().Shot()
	if !o.takes(shot.Seq) || a.IgnoreEcho && a.t.typed.lately(shot.Seq) || a.lookAt(shot.Frame, shot.Seq) != nil {
		return false, nil
	}
	a.look.base = shot.Seq
	o.listen(a, shot.Seq)
	return true, nil
}

// overLines tells whether a pattern may reach over the end of a line: such a wait
// looks at other moments than one for lines.
func (a *waiting) overLines() bool {
	return a.needs(func(c *awaited) bool { return c.onText() && !c.Not && c.pattern.together })
}

// lookAt returns what of a frame meets a condition, nil when nothing does.
func (a *waiting) lookAt(f *vt.Frame, seq uint64) *Waited {
	lines, screen := vt.TextLines(f, -1), vt.TextLines(f, 0)
	return a.lookAtLines(lines, screen, stateOf(f), seq)
}

// lookAtLines is lookAt of lines: those with the history, and those of the screen.
func (a *waiting) lookAtLines(lines, screen []vt.TextLine, s state, seq uint64) *Waited {
	for i := range a.conditions {
		c := &a.conditions[i]
		if c.onText() && !c.Not {
			where := lines
			if c.ScreenOnly {
				where = screen
			}
			if m, ok := a.look.find(c.pattern, where); ok {
				return &Waited{Text: plain(lines, nil), Seq: m.End, Index: i, Match: &m}
			}
		}
		if c.onScreen() && !c.onText() && c.holds(s) != c.Not {
			return &Waited{Text: plain(lines, nil), Seq: seq, Index: i}
		}
	}
	return nil
}

// locate goes through the output before seq, with positions. hit is what matched
// without them; done tells that the wait is over.
func (a *waiting) locate(ctx context.Context, seq uint64, hit *Waited) (done bool, err error) {
	f, err := a.t.followLately(seq)
	if err != nil || f == nil {
		a.found = hit          // nobody can tell more
		return hit != nil, nil //nolint:nilerr // what is shown is shown, without a journal too
	}
	a.follow, a.look.base = f, f.seq
	a.listen()
	f.watch(vt.TrackerHooks{Print: a.echo.print, Control: a.echo.control, KeepOffsets: true})
	for f.seq < seq && err == nil {
		err = f.step(ctx, seq, a.echo.learn)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errGap) {
		return true, err
	}
	frame := f.screen.Freeze()
	a.found = a.lookAtLines(f.screen.Lines(waitHistory), f.screen.Lines(0), stateOf(frame), seq)
	if a.found == nil && hit != nil && !a.IgnoreEcho {
		hit.Match.Start, hit.Match.End, hit.Seq = f.base, f.base, f.base
		a.found = hit // older than what was gone through
	}
	if a.found == nil {
		a.own(f)
	}
	return true, nil
}

// followLately is a follower some way before seq, nil when none is near enough.
func (t *Terminal) followLately(seq uint64) (*follower, error) {
	j, err := t.Journal()
	if err != nil {
		return nil, err
	}
	if j.Start() == 0 && seq <= maxLocate/2 {
		return t.newFollower(nil, 0)
	}
	t.saving.Lock()
	kept, err := t.registry.cfg.Store.LoadAt(t.ID, seq)
	t.saving.Unlock()
	if err != nil || seq-kept.Header.Seq > maxLocate || kept.Header.Seq < j.Start() {
		return nil, err
	}
	return t.newFollower(kept.Frame, kept.Header.Seq)
}

// listen begins to tell echo from output. A prompt behind a position is told from
// the echo of what was typed at the one before.
func (a *waiting) listen() {
	if a.echo != nil {
		return
	}
	if a.IgnoreEcho || a.Since != nil && a.needs(func(c *awaited) bool { return c.For == "prompt" }) {
		a.echo = newEcho(&a.t.typed, a.follow.seq)
	}
	if a.IgnoreEcho {
		a.look.echo = a.echo
	}
}

func (a *waiting) watcher() vt.TrackerHooks {
	w := vt.TrackerHooks{}
	if a.needs(func(c *awaited) bool { return c.For == "mode" || c.For == "alt_screen" }) {
		w.Moved = a.moved
	}
	switch {
	case a.overLines():
		w.Changed = a.together
	case a.needs(func(c *awaited) bool { return c.onText() && !c.Not }):
		w.Line = a.line
	}
	return w
}

// line looks at a line that is shown at this moment.
func (a *waiting) line(l vt.TextLine) {
	for i := range a.conditions {
		c := &a.conditions[i]
		if a.found != nil || !c.onText() || c.Not {
			continue
		}
		if m, ok := a.look.findIn(c.pattern, l); ok {
			a.matched(i, m)
		}
	}
}

// together looks at all lines of this moment, for patterns that reach over a line.
func (a *waiting) together() {
	const before = 64 // lines that were looked at, and may be the beginning of a match
	lines := a.follow.screen.Lines(vt.MaxUnreported + before)
	for i := range a.conditions {
		c := &a.conditions[i]
		if a.found != nil || !c.onText() || c.Not {
			continue
		}
		if m, ok := a.look.find(c.pattern, lines); ok {
			a.matched(i, m)
		}
	}
}

func (a *waiting) matched(i int, m Match) {
	a.found = &Waited{Text: a.text(), Seq: m.End, Index: i, Match: &m}
}

// retold looks at a new title.
func (a *waiting) retold(title string) {
	for i := range a.conditions {
		if c := &a.conditions[i]; a.found == nil && c.For == "title" && !c.Not && strings.Contains(title, c.Pattern) {
			a.found = &Waited{Text: a.text(), Seq: a.follow.screen.Offset(), Index: i}
		}
	}
}

// moved looks at modes and the screen shown, at each moment that they change.
func (a *waiting) moved() {
	modes := a.follow.screen.Modes()
	for i := range a.conditions {
		c := &a.conditions[i]
		if a.found == nil && (c.For == "mode" || c.For == "alt_screen") &&
			c.holds(state{alt: modes.AltScreen, modes: modes}) != c.Not {
			a.found = &Waited{Text: a.text(), Seq: a.follow.screen.Offset(), Index: i}
		}
	}
}

// lookAtState looks at what is between two pieces of output: absence, and where
// the cursor rests. A screen that is being drawn (?2026) is no state yet.
func (a *waiting) lookAtState() {
	screen := a.follow.screen
	states := func(c *awaited) bool { return c.onScreen() && (c.Not || !c.onText()) }
	if !a.told || a.found != nil || screen.Modes().SyncOutput || !a.needs(states) {
		return
	}
	s := stateOf(screen.Freeze())
	s.title = a.follow.title
	for i := range a.conditions {
		c := &a.conditions[i]
		switch {
		case !c.onScreen() || c.For == "title" && !c.Not && a.Since != nil:
			continue
		case c.onText() && !c.Not:
			continue
		case c.onText():
			here := sight{echo: a.look.echo}
			if _, ok := here.find(c.pattern, screen.Lines(0)); ok {
				continue
			}
		case c.holds(s) == c.Not:
			continue
		}
		a.found = &Waited{Text: a.text(), Seq: a.follow.seq, Index: i}
		return
	}
}

// seen is what a wait that was not met has seen.
func (a *waiting) seen() Waited {
	if a.follow != nil {
		seq := a.follow.seq - uint64(a.follow.screen.Held())
		if !a.told {
			seq = a.from
		}
		return Waited{Text: a.text(), Seq: seq}
	}
	shot := a.t.Hub().Shot()
	return Waited{Text: plain(vt.TextLines(shot.Frame, waitHistory), nil), Seq: shot.Seq}
}

// text is Waited.Text at this moment.
func (a *waiting) text() string {
	return plain(a.follow.screen.Lines(waitHistory), a.Since)
}

// plain are lines as text, without the blanks at their ends and the empty ones at
// the end; with a position only those that were printed or changed behind it.
func plain(lines []vt.TextLine, since *uint64) string {
	var b strings.Builder
	empty := 0
	for _, l := range lines {
		if since != nil && !behind(l, *since) {
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

// behind tells whether a part of a line was printed or erased behind a position.
func behind(l vt.TextLine, since uint64) bool {
	for _, at := range l.Offsets {
		if at > since {
			return true
		}
	}
	return l.ErasedAt > since
}
