package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
)

// startPatience is how long the start of a server waits for the screens of running terminals.
// Most are there by then; the server does not open later for one whose last output takes long.
const startPatience = time.Second

// Recover brings back the terminals of the store, several at a time. A terminal that cannot be
// brought back is logged and left out. It waits for screens no longer than startPatience: who asks
// for one then waits for that. Errors: those of the store's list and of the keeper.
func (m *Registry) Recover() error {
	ids, err := m.cfg.Store.List()
	if err != nil {
		return err
	}
	held, err := m.kept()
	if err != nil {
		return err
	}
	_ = parallel.Each(ids, runtime.GOMAXPROCS(0), func(id string) error {
		if err := m.restore(id, held); err != nil {
			m.cfg.Metrics.FailedRecoveries.Inc()
			m.cfg.Log.Error("cannot bring back a terminal", "id", id, "error", err)
		}
		return nil
	})
	m.restoreUnrecorded(held)
	made := make(chan struct{})
	go func() {
		m.replays.Wait()
		close(made)
	}()
	select {
	case <-made:
	case <-time.After(startPatience):
	}
	return nil
}

// restoreUnrecorded brings back the programs that the keeper holds and no record names: the
// disk was full when the record should have been written, or somebody removed it. It ends a
// program of which another generation is there already.
func (m *Registry) restoreUnrecorded(held map[string]*keeper.Held) {
	for name, k := range held {
		id, generation, _ := strings.Cut(name, ".")
		t := m.byID[id]
		switch {
		case t != nil && strconv.Itoa(t.generation) == generation:
			continue
		case t == nil:
			err := m.restore(id, held)
			if err == nil {
				continue
			}
			m.cfg.Log.Error("cannot bring back a program without a record", "id", id, "error", err)
		}
		m.cfg.Log.Warn("ending a program that belongs to no terminal", "name", name, "pid", k.Process.PID())
		m.life.Go(func() {
			ctx, cancel := context.WithTimeout(m.ctx, proc.KillGrace)
			defer cancel()
			_ = k.Process.Kill(ctx) // nothing else can be done about one that survives
			m.drop(k)
		})
	}
}

// drop closes a process that the keeper holds and has the keeper drop it.
func (m *Registry) drop(k *keeper.Held) {
	_ = k.Process.Close()
	_ = k.Pipe.Close()
	m.cfg.Keeper.Release(k.ID)
}

// kept returns the processes that the keeper holds, by KeeperID.
func (m *Registry) kept() (map[string]*keeper.Held, error) {
	list, err := m.cfg.Keeper.Take(m.ctx)
	if err != nil {
		return nil, fmt.Errorf("take over from the keeper: %w", err)
	}
	held := make(map[string]*keeper.Held, len(list))
	for _, k := range list {
		held[k.ID] = k
	}
	return held, nil
}

// restore brings back one terminal.
func (m *Registry) restore(id string, held map[string]*keeper.Held) error {
	b, damage, err := m.cfg.Store.LoadMeta(id)
	var r *meta
	if err == nil {
		r, err = parseMeta(id, b)
	}
	if err != nil {
		damage = err
		if r, err = m.recoverCorrupt(id, held); err != nil {
			return errors.Join(damage, err)
		}
	}
	if g := newest(id, held); g > r.Generation && r.DeletedAt.IsZero() { // the disk refused the record of its start
		r.Generation, r.State, r.Exit, r.EndedAt = g, StateRunning, nil, time.Time{}
	}
	t := m.fromRecord(r, newGenerations())
	if n, err := m.cfg.Store.Size(id); err == nil {
		t.diskBytes.Store(n)
	}
	if damage != nil {
		t.noteDamage(damage)
	}
	k := held[t.KeeperID()]
	switch {
	case k != nil && r.State == StateRunning:
		err = t.restoreRunning(k)
	default:
		t.restoreEnded(k)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.byID[id] = t
	m.mu.Unlock()
	return nil
}

// newest is the newest generation of a terminal whose process the keeper holds, 0 for none.
func newest(id string, held map[string]*keeper.Held) (generation int) {
	for name := range held {
		if number, ok := strings.CutPrefix(name, id+"."); ok {
			n, _ := strconv.Atoi(number)
			generation = max(generation, n)
		}
	}
	return generation
}

// fromRecord makes a terminal of its record.
func (m *Registry) fromRecord(r *meta, g *generations) *Terminal {
	return m.withData(&Terminal{ID: r.ID, registry: m, spec: r.Spec, created: r.CreatedAt, generation: r.Generation,
		generations: g, restored: r, state: r.State, exit: r.Exit, lastActivity: r.LastActivity,
		cwd: newCwd(cmp.Or(r.Cwd, Absolute(r.Spec.Cwd)), ""), fallback: r.CwdFallback, deleted: r.DeletedAt,
		endedAt: r.EndedAt, hadViewer: r.Watched, pausedFor: time.Duration(r.PausedFor), ended: make(chan struct{})})
}

// unload puts a terminal into the place of a deleted one that has of it what a restart would find, so that its screen,
// journal and process take no memory. The caller has locked its generations.
func (m *Registry) unload(old *Terminal) {
	if old.process == nil || old.Running() || old.failing(screenFailure) || old.failing(recordFailure) {
		return
	}
	old.saving.Lock()
	r := old.meta()
	old.saving.Unlock()
	t := m.fromRecord(&r, old.generations)
	t.diskBytes.Store(old.diskBytes.Load())
	t.damage = old.allDamage()
	t.restoreEnded(nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID[t.ID] == old {
		m.byID[t.ID] = t
	}
}

// restoreEnded makes the terminal an ended one, with the screen it had. One whose record says
// running is lost. k is nil unless the keeper still holds the process.
func (t *Terminal) restoreEnded(k *keeper.Held) {
	if k != nil {
		t.registry.drop(k)
	}
	close(t.ended)
	t.screen.load = t.load
	if t.state == StateRunning || t.exit == nil {
		t.markLost()
	}
}

// markLost notes that the end of the program is unknown. It has the last screen made from the
// journal, so that lists show its true state and the next server reads a snapshot.
func (t *Terminal) markLost() {
	t.state, t.exit = StateLost, &stream.Exit{Reason: "lost"}
	t.endedAt = time.Now().UTC()
	if t.positionUnknown() {
		t.restored.Seq = max(t.restored.Seq, beyondReach(t.restored, 0))
	}
	t.saveRecord()
	t.replayLater(func() {
		t.Hub()
		if err := t.saveLast(); err != nil {
			t.failed(screenFailure, err)
		}
		t.saveRecord()
	}, func() {})
}

// replayLater has replay make the screen again while few others are made, and calls then. When the
// server closes before, it calls neither, and the files stay as they are.
func (t *Terminal) replayLater(replay, then func()) {
	m := t.registry
	t.replayed = make(chan struct{})
	m.replays.Add(1)
	m.life.Go(func() {
		if t.inTurn(replay) {
			m.changes.Notify()
			then()
		}
	})
}

// inTurn is false when the server closes before the turn.
func (t *Terminal) inTurn(replay func()) bool {
	m := t.registry
	defer m.replays.Done()
	select {
	case m.replaying <- struct{}{}:
		defer func() { <-m.replaying }()
	case <-m.ctx.Done():
		return false
	}
	if m.ctx.Err() != nil {
		return false
	}
	replay()
	close(t.replayed)
	return true
}

// restoreRunning takes over a running program, which gets input at once. Its output waits until
// the screen was made again.
func (t *Terminal) restoreRunning(k *keeper.Held) error {
	r := t.restored
	if t.positionUnknown() {
		r.Seq = max(r.Seq, beyondReach(r, k.Process.PID()))
	}
	if err := t.openJournal(r.Cols, r.Rows, r.Seq); err != nil {
		return err
	}
	t.setProcess(k)
	t.resumeTyped()
	t.changes, t.lastDetach = 1, time.Now()
	t.screen.load = func() *stream.Hub {
		hub := t.replayRunning()
		t.screen.live.Store(hub)
		return hub
	}
	m := t.registry
	m.life.Go(func() { t.input.run(t.ended, m.ctx.Done()) })
	t.replayLater(t.goOn, t.run)
	return nil
}

// goOn makes the screen of a running program again, and applies the output in the pipe and a change
// of size that the previous server has not.
func (t *Terminal) goOn() {
	hub := t.Hub()
	err := t.catchUp()
	if err == nil {
		err = t.journal.Flush() // to know a full disk before output is lost
	}
	if err != nil {
		t.failed(journalFailure, err)
	}
	t.resizing.Lock()
	defer t.resizing.Unlock()
	if cols, rows, err := t.process.Master().Size(); err == nil {
		hub.Resize(cols, rows)
	}
}

// replayRunning makes the screen of a running program again: the newest snapshot with the journal
// after that.
func (t *Terminal) replayRunning() *stream.Hub {
	start := time.Now()
	t.replaying = true // the journal has these resizes already
	past := t.replay(t.journal)
	t.replaying = false
	past.remember(t.restored)
	facts := past.hub.Stats()
	t.startSeq.Store(facts.Seq)
	cwd := newCwd(t.Cwd(), facts.Cwd)
	t.saving.Lock()
	t.kept = [2]uint64{past.from, past.from}
	t.saving.Unlock()
	t.mu.Lock()
	t.cwd, t.savedSeq = cwd, past.from
	t.mu.Unlock()
	t.noteDamage(past.damage...)
	t.input.reply(past.unanswered, t.journal.End())
	t.registry.cfg.Metrics.Recovery.Observe(time.Since(start).Seconds())
	return past.hub
}

// positionUnknown reports whether the journal has no file that tells a position: the terminal was
// created while the disk was full, or all files were removed. A record or a snapshot tells one that
// was true when it was written; the output after that was shown too.
func (t *Terminal) positionUnknown() bool {
	s := t.registry.cfg.Store
	if _, known := journal.Issued(s, t.ID); known {
		return false
	}
	j, err := journal.Read(s, t.ID)
	if err == nil {
		_ = j.Close()
	}
	return errors.Is(err, datadir.ErrNotFound)
}

// maxPrinted bounds how fast a program prints, in bytes a second: ten times what a
// pseudo-terminal takes.
const maxPrinted = 1 << 30

// beyondReach is a position that the programs of a terminal cannot have reached since its creation. pid
// is the newest one, 0 when it has gone.
func beyondReach(r *meta, pid int) uint64 {
	age := func(pid int) time.Duration {
		p, ok := proc.Find(pid)
		if !ok {
			return 0
		}
		return p.Age()
	}
	life, program := time.Since(r.CreatedAt), age(pid)
	if life < program && r.Generation > firstGeneration { // the record with the time of creation is lost
		program = age(1) // all of its programs are younger
	}
	return uint64(max(life, program, 0).Seconds() * maxPrinted)
}

// load makes the last screen of a terminal that has ended from the files. If none of them is
// good, the screen is blank and the damage says why.
func (t *Terminal) load() *stream.Hub {
	start := time.Now()
	j, err := t.Journal()
	if err != nil {
		j = nil
	}
	t.saving.Lock()
	past := t.replay(j)
	t.saving.Unlock()
	t.noteDamage(past.damage...)
	past.remember(t.restored)
	past.hub.Finish(*t.exit)
	t.registry.cfg.Metrics.Recovery.Observe(time.Since(start).Seconds())
	return past.hub
}

// noteDamage adds to the damage of the terminal's files. New damage is logged and counted.
func (t *Terminal) noteDamage(damage ...error) {
	err := errors.Join(damage...)
	if err == nil {
		return
	}
	t.mu.Lock()
	before := t.damage
	t.damage = addLines(before, err)
	added := t.damage != before
	t.mu.Unlock()
	if added {
		t.registry.cfg.Metrics.FailedRecoveries.Inc()
		t.registry.cfg.Log.Warn("a terminal's files are damaged", "id", t.ID, "error", err)
	}
}
