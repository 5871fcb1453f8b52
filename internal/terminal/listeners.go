package terminal

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

const (
	// maxJoin is how far behind the place where a wait begins a follower may be that it
	// shares, in bytes of output: some 100 ms of work. Further behind, one of its own that
	// begins at the place is there sooner.
	maxJoin = 1 << 20
	// restFlood is how much longer than it works a follower rests while the terminal is
	// flooded, so that its reader and the program have the processors; restBehind is the
	// same once half of what the journal keeps is not followed yet.
	restFlood  = 4
	restBehind = 1
	// maxRest bounds a rest: work can take long because others have the processors.
	maxRest = 250 * time.Millisecond
	// floodLasts is how long after a full read the terminal counts as flooded.
	floodLasts = 100 * time.Millisecond
)

// listeners are the waits that one follower tells of what it sees. One of them at a
// time applies output for all.
type listeners struct {
	drive slots      // one: who applies output, rests included
	turn  slots      // one: who looks at the follower or changes it, never for long
	waits []*waiting // that are told, or will be behind their place
	// watched: the screen tells what it shows. alone: nobody may join.
	watched, alone bool
	again          time.Time // when the next output may be applied
}

// followers are those of a terminal that a wait may join.
type followers struct {
	mu     sync.Mutex
	list   []*follower // the newest last
	begins slots       // one: the wait that looks for one to join, or makes it
}

// begin is the slot of who begins, so that of two at once the second finds what the first makes.
func (l *followers) begin() slots {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begins == nil {
		l.begins = make(slots, 1)
	}
	return l.begins
}

func (l *followers) add(o *follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, o)
}

func (l *followers) remove(o *follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(x *follower) bool { return x == o })
}

func (l *followers) newest() *follower {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		return nil
	}
	return l.list[len(l.list)-1]
}

// takes tells whether a wait for what comes behind seq may join.
func (o *follower) takes(seq uint64) bool {
	return len(o.waits) > 0 && !o.alone && o.seq <= seq && seq-o.seq <= maxJoin
}

// listen has a told of what comes behind place from, which the follower has not passed.
func (o *follower) listen(a *waiting, from uint64) {
	a.follow, a.from = o, from
	o.waits = append(o.waits, a)
	if from <= o.seq {
		o.start(a)
	}
}

// start begins to tell a.
func (o *follower) start(a *waiting) {
	a.listen()
	a.told = true
	o.alone = o.alone || a.overLines()
	o.ask()
	a.lookAtState()
}

// leave ends it; the last one closes the follower.
func (o *follower) leave(a *waiting) {
	o.turn <- struct{}{}
	defer o.turn.leave()
	o.waits = slices.DeleteFunc(o.waits, func(x *waiting) bool { return x == a })
	if len(o.waits) == 0 {
		o.t.followers.remove(o)
		o.close()
		return
	}
	if a.told {
		o.ask()
	}
}

// ask has the screen tell what those who are told need. Everything that was shown
// before was told to those who were.
func (o *follower) ask() {
	if w := o.watcher(); o.watched {
		o.screen.SetHooks(w)
	} else {
		o.watch(w)
	}
}

// watcher is told for all.
func (o *follower) watcher() (w vt.TrackerHooks) {
	var lines []func(vt.TextLine)
	var moved []func()
	var echoes echoes
	for _, a := range o.waits {
		if !a.told {
			continue
		}
		own := a.watcher()
		if own.Changed != nil {
			w.Changed = own.Changed // it is alone
		}
		if own.Line != nil {
			lines = append(lines, own.Line)
		}
		if own.Moved != nil {
			moved = append(moved, own.Moved)
		}
		if a.echo != nil {
			echoes = append(echoes, a.echo)
		}
	}
	if lines != nil {
		w.Line = func(l vt.TextLine) {
			for _, f := range lines {
				f(l)
			}
		}
	}
	if moved != nil {
		w.Moved = func() {
			for _, f := range moved {
				f()
			}
		}
	}
	if echoes != nil {
		w.Print, w.Control = echoes.print, echoes.control
	}
	return w
}

// echoes are those of several waits.
type echoes []*echo

func (list echoes) print(text []byte, from uint64) {
	for _, e := range list {
		e.print(text, from)
	}
}

func (list echoes) control(c rune) {
	for _, e := range list {
		e.control(c)
	}
}

// retold tells of a new title.
func (o *follower) retold(title string) {
	for _, a := range o.waits {
		if a.told {
			a.retold(title)
		}
	}
}

// learn has those who tell echo from output know what was typed.
func (o *follower) learn(seq uint64) {
	for _, a := range o.waits {
		if a.told {
			a.echo.learn(seq)
		}
	}
}

// advance applies the next output, at most up to position limit, and has all look at
// it. more is false when there is none now. Errors: as step, but those of a journal that has
// lost output, where it goes on with the screen of now.
func (o *follower) advance(ctx context.Context, limit uint64) (more bool, err error) {
	for _, a := range o.waits {
		if !a.told {
			limit = min(limit, a.from)
		}
	}
	began := time.Now()
	err = o.step(ctx, limit, o.learn)
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case errors.Is(err, errGap), errors.Is(err, journal.ErrNotKept):
		if err := o.jump(); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	}
	o.screen.Report()
	for _, a := range o.waits {
		if !a.told && a.from <= o.seq {
			o.start(a)
		}
		a.lookAtState()
		a.tell()
	}
	o.again = time.Now().Add(o.pause(time.Since(began)))
	return true, nil
}

// pause is how long to rest after work that took so long. Without a flood it is
// nothing: the terminal takes what comes as it comes.
func (o *follower) pause(worked time.Duration) time.Duration {
	t := o.t
	if time.Since(time.Unix(0, t.flooded.Load())) > floodLasts {
		return 0
	}
	times := time.Duration(restFlood)
	if end := t.journal.End(); end-min(end, o.seq) > uint64(t.registry.cfg.Clean.TerminalQuota)/2 {
		times = restBehind
	}
	return min(times*worked, maxRest)
}

// jump goes on with the terminal's screen of now, because the journal has lost
// what came before: lines that were not there count as printed.
func (o *follower) jump() error {
	had := map[string]bool{}
	for _, l := range o.screen.Lines(waitHistory) {
		had[string(l.Text)] = true
	}
	shot := o.t.Hub().Shot()
	if err := o.begin(shot.Frame, shot.Seq); err != nil {
		return err
	}
	o.watched = false
	o.ask()
	for _, a := range o.waits {
		if a.told {
			a.look.base = shot.Seq
		}
	}
	for _, l := range o.screen.Lines(waitHistory) {
		if had[string(l.Text)] {
			continue
		}
		for i := range l.Offsets {
			l.Offsets[i] = shot.Seq
		}
		for _, a := range o.waits {
			if a.told {
				a.line(l)
			}
		}
	}
	return nil
}
