package mux

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

const (
	// maxWaits is how many waits a server has at once, and maxWaitsOf a terminal: a
	// wait for text has an emulator of its own, some 100 KB of memory.
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
// snapshot.ErrNotKept or the context's; Waited is filled with ErrTimeout and ErrExited too.
func (t *Terminal) Wait(ctx context.Context, w Wait) (Waited, error) {
	conditions, err := w.check()
	if err != nil {
		return Waited{}, err
	}
	if err := t.enterWait(); err != nil {
		return Waited{}, err
	}
	defer t.leaveWait()
	a := &waiting{t: t, Wait: w, conditions: conditions, began: time.Now()}
	defer a.close()
	if err := a.begin(ctx); err != nil {
		return Waited{}, err
	}
	err = a.await(ctx)
	if err != nil && !NotMet(err) {
		return Waited{}, err
	}
	if a.found == nil || err != nil {
		seen := a.seen()
		a.found = &seen
	}
	if err := t.applied(ctx, a.found.Seq); err != nil {
		return Waited{}, err
	}
	return *a.found, err
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
	if n := t.mux.waits.Add(1); n > maxWaits {
		t.mux.waits.Add(-1)
		return wrapf(ErrLimit, "%d waits of this server are going on, the most there are", maxWaits)
	}
	if n := t.waits.Add(1); n > maxWaitsOf {
		t.leaveWait()
		return wrapf(ErrLimit, "%d waits for terminal %s are going on, the most there are", maxWaitsOf, t.ID)
	}
	return nil
}

func (t *Terminal) leaveWait() {
	t.waits.Add(-1)
	t.mux.waits.Add(-1)
}

// waiting is a wait that goes on. One goroutine has it.
type waiting struct {
	Wait
	t          *Terminal
	conditions []awaited
	began      time.Time
	follow     *follower // nil when no condition is about the screen
	look       sight
	echo       *echo // what is echo in what follows; nil when nobody needs to know
	found      *Waited
}

func (a *waiting) close() {
	if a.follow != nil {
		a.follow.close()
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
	if err == nil && a.follow != nil {
		a.lookAtState()
	}
	return err
}

// beginSince begins with the state at the position.
func (a *waiting) beginSince(ctx context.Context) (err error) {
	if a.follow, err = a.t.followFrom(ctx, *a.Since); err == nil {
		a.look.base = *a.Since
		a.watch()
	}
	return err
}

// beginNow looks at all that is shown. When something there matches, or when echo
// has to be told from it, the last output is gone through for where it was printed.
func (a *waiting) beginNow(ctx context.Context) error {
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
	if errors.Is(err, ErrJournal) && !a.t.running() {
		return nil // nothing more comes
	}
	if err == nil {
		a.follow = f
		a.watch()
	}
	return err
}

// lookAt returns what of a frame meets a condition, nil when nothing does.
func (a *waiting) lookAt(f *vt.Frame, seq uint64) *Waited {
	lines, screen := vt.ShownLines(f, -1), vt.ShownLines(f, 0)
	return a.lookAtLines(lines, screen, stateOf(f), seq)
}

// lookAtLines is lookAt of lines: those with the history, and those of the screen.
func (a *waiting) lookAtLines(lines, screen []vt.Shown, s state, seq uint64) *Waited {
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
	f.watch(vt.Watcher{Print: a.echo.print, Control: a.echo.control, Cells: true})
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
		f.screen.Ask(a.watcher())
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
	kept, err := t.mux.cfg.Store.LoadAt(t.ID, seq)
	t.saving.Unlock()
	if err != nil || seq-kept.Header.Seq > maxLocate || kept.Header.Seq < j.Start() {
		return nil, err
	}
	return t.newFollower(kept.Frame, kept.Header.Seq)
}

// watch looks at what comes from now on.
func (a *waiting) watch() {
	a.listen()
	a.follow.watch(a.watcher())
}

// listen begins to tell echo from output. A prompt behind a position is told from
// the echo of what was typed at the one before.
func (a *waiting) listen() {
	if a.IgnoreEcho || a.Since != nil && a.needs(func(c *awaited) bool { return c.For == "prompt" }) {
		a.echo = newEcho(&a.t.typed, a.follow.seq)
	}
	if a.IgnoreEcho {
		a.look.echo = a.echo
	}
}

func (a *waiting) watcher() vt.Watcher {
	w := vt.Watcher{}
	if a.needs(func(c *awaited) bool { return c.For == "mode" || c.For == "alt_screen" }) {
		w.Moved = a.moved
	}
	if a.echo != nil {
		w.Print, w.Control = a.echo.print, a.echo.control
	}
	switch {
	case a.needs(func(c *awaited) bool { return c.onText() && !c.Not && c.pattern.together }):
		w.Look = a.together
	case a.needs(func(c *awaited) bool { return c.onText() && !c.Not }):
		w.Line = a.line
	}
	a.follow.retold = a.retold
	return w
}

// line looks at a line that is shown at this moment.
func (a *waiting) line(l vt.Shown) {
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
	lines := a.follow.screen.Lines(vt.LookEvery + before)
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
			a.found = &Waited{Text: a.text(), Seq: a.follow.screen.At(), Index: i}
		}
	}
}

// moved looks at modes and the screen shown, at each moment that they change.
func (a *waiting) moved() {
	modes := a.follow.screen.Modes()
	for i := range a.conditions {
		c := &a.conditions[i]
		if a.found == nil && (c.For == "mode" || c.For == "alt_screen") && c.holds(state{alt: modes.AltScreen, modes: modes}) != c.Not {
			a.found = &Waited{Text: a.text(), Seq: a.follow.screen.At(), Index: i}
		}
	}
}

// lookAtState looks at what is between two pieces of output: absence, and where
// the cursor rests. A screen that is being drawn (?2026) is no state yet.
func (a *waiting) lookAtState() {
	screen := a.follow.screen
	if a.found != nil || screen.Modes().SyncOutput || !a.needs(func(c *awaited) bool { return c.onScreen() && (c.Not || !c.onText()) }) {
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

// advance applies what was printed up to position limit and looks at it.
func (a *waiting) advance(ctx context.Context, limit uint64) error {
	for a.follow != nil && a.found == nil && a.follow.seq < limit {
		err := a.follow.step(ctx, limit, a.echo.learn)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errGap), errors.Is(err, snapshot.ErrNotKept):
			if err := a.jump(); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		a.follow.screen.Settle()
		a.lookAtState()
	}
	return nil
}

// jump goes on with the terminal's screen of now, because the journal has lost
// what came before: lines that were not there count as printed.
func (a *waiting) jump() error {
	had := map[string]bool{}
	for _, l := range a.follow.screen.Lines(waitHistory) {
		had[string(l.Text)] = true
	}
	shot := a.t.Hub().Shot()
	f, err := a.t.newFollower(shot.Frame, shot.Seq)
	if err != nil {
		return err
	}
	a.follow.close()
	a.follow, a.look.base = f, shot.Seq
	f.watch(a.watcher())
	for _, l := range f.screen.Lines(waitHistory) {
		if had[string(l.Text)] {
			continue
		}
		for i := range l.At {
			l.At[i] = shot.Seq
		}
		a.line(l)
	}
	return nil
}

// seen is what a wait that was not met has seen.
func (a *waiting) seen() Waited {
	if a.follow != nil {
		return Waited{Text: a.text(), Seq: a.follow.seq - uint64(a.follow.screen.Held())}
	}
	shot := a.t.Hub().Shot()
	return Waited{Text: plain(vt.ShownLines(shot.Frame, waitHistory), nil), Seq: shot.Seq}
}

// text is Waited.Text at this moment.
func (a *waiting) text() string {
	return plain(a.follow.screen.Lines(waitHistory), a.Since)
}

// plain are lines as text, without the blanks at their ends and the empty ones at
// the end; with a position only those that were printed or changed behind it.
func plain(lines []vt.Shown, since *uint64) string {
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
func behind(l vt.Shown, since uint64) bool {
	for _, at := range l.At {
		if at > since {
			return true
		}
	}
	return l.Erased > since
}
