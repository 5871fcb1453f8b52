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
const startPatience = 250 * time.Millisecond

// Recover brings back the terminals of the store, several at a time. A terminal that cannot be
// brought back is logged and left out. It waits for screens no longer than startPatience: who asks
// for one then waits for that. Errors: as the list of the store and the keeper.
func (r *Registry) Recover() error {
	ids, err := r.cfg.Store.List()
	if err != nil {
		return err
	}
	list, err := r.cfg.Keeper.Take(r.ctx)
	if err != nil {
		return fmt.Errorf("take over from the keeper: %w", err)
	}
	back := recovery{r, make(map[string]*keeper.Held, len(list)), make(map[string]int, len(list))}
	for _, k := range list {
		back.add(k)
	}
	_ = parallel.Each(ids, runtime.GOMAXPROCS(0), func(id string) error {
		if err := back.restore(id); err != nil {
			r.cfg.Metrics.FailedRecoveries.Inc()
			r.cfg.Log.Error("cannot bring back a terminal", "id", id, "error", err)
		}
		return nil
	})
	back.restoreUnrecorded()
	made := make(chan struct{})
	go func() {
		r.replays.Wait()
		close(made)
	}()
	select {
	case <-made:
	case <-time.After(startPatience):
	}
	return nil
}

// recovery brings terminals back at the start of a server.
type recovery struct {
	*Registry
	held   map[string]*keeper.Held // what the keeper holds, by KeeperID
	newest map[string]int          // the newest generation of each terminal among them
}

// add adds a process that the keeper holds.
func (r recovery) add(k *keeper.Held) {
	r.held[k.ID] = k
	if id, generation, ok := strings.Cut(k.ID, "."); ok {
		n, _ := strconv.Atoi(generation)
		r.newest[id] = max(r.newest[id], n)
	}
}

// restoreUnrecorded brings back the programs that the keeper holds and no record names: the
// disk was full when the record should have been written, or somebody removed it. It ends a
// program of which another generation is there already.
func (r recovery) restoreUnrecorded() {
	for name, k := range r.held {
		id, generation, _ := strings.Cut(name, ".")
		t := r.byID[id]
		switch {
		case t != nil && strconv.Itoa(t.generation) == generation:
			continue
		case t == nil:
			err := r.restore(id)
			if err == nil {
				continue
			}
			r.cfg.Log.Error("cannot bring back a program without a record", "id", id, "error", err)
		}
		r.cfg.Log.Warn("ending a program that belongs to no terminal", "name", name, "pid", k.Process.PID())
		r.life.Go(func() {
			ctx, cancel := context.WithTimeout(r.ctx, proc.KillGrace)
			defer cancel()
			_ = k.Process.Kill(ctx) // nothing else can be done about one that survives
			r.drop(k)
		})
	}
}

// drop closes a process that the keeper holds and has the keeper drop it.
func (r *Registry) drop(k *keeper.Held) {
	_ = k.Process.Close()
	_ = k.Pipe.Close()
	r.cfg.Keeper.Release(k.ID)
}

// restore brings back one terminal.
func (r recovery) restore(id string) error {
	b, damage, err := r.cfg.Store.LoadMeta(id)
	var record *meta
	if err == nil {
		record, err = parseMeta(id, b)
	}
	if err != nil {
		damage = err
		if record, err = r.recoverCorrupt(id); err != nil {
			return errors.Join(damage, err)
		}
	}
	if g := r.newest[id]; g > record.Generation && record.DeletedAt.IsZero() {
		// The disk refused the record of its start.
		record.Generation, record.State, record.Exit, record.EndedAt = g, StateRunning, nil, time.Time{}
	}
	t := r.fromRecord(record, newGenerations())
	if n, err := r.cfg.Store.Size(id); err == nil {
		t.diskBytes.Store(n)
	}
	t.noteDamage(damage)
	k := r.held[t.KeeperID()]
	if k == nil || record.State != StateRunning {
		t.restoreEnded(k)
	} else if err := t.restoreRunning(k); err != nil {
		return err
	}
	r.mu.Lock()
	r.byID[id] = t
	if t.Running() {
		r.running.add(t)
	}
	t.becomeDue()
	r.mu.Unlock()
	return nil
}

// fromRecord makes a terminal of its record.
func (r *Registry) fromRecord(record *meta, g *generations) *Terminal {
	t := r.newTerminal(record.ID, record.Spec, record.CreatedAt, record.Generation, g)
	t.restored, t.state, t.exit, t.lastActivity = record, record.State, record.Exit, record.LastActivity
	t.cwd, t.fallback = newCwd(cmp.Or(record.Cwd, Absolute(record.Spec.Cwd)), ""), record.CwdFallback
	t.deleted, t.endedAt, t.hadViewer, t.baseSize = record.DeletedAt, record.EndedAt, record.Watched, record.BaseSize
	if t.baseSize == (stream.Size{}) {
		t.baseSize = stream.Size{Cols: record.Cols, Rows: record.Rows}
	}
	t.pausedFor = time.Duration(record.PausedFor)
	if t.limitsBy = record.LimitsBy; t.limitsBy == byCgroup {
		t.killedBefore = r.groups.Killed(record.ID)
	}
	t.killed, t.restoreDue, t.restoreFailure = record.Killed, record.RestoreDue, record.NotRestored
	return t
}

// unload puts a terminal into the place of a deleted one that has of it what a restart would find, so that its screen,
// journal and process take no memory. The caller has locked its generations.
func (r *Registry) unload(old *Terminal) {
	if old.process == nil || old.Running() || old.failing(screenFailure) || old.failing(recordFailure) {
		return
	}
	old.setRetired(true) // a save of it that begins late would write beside the new one, or behind its purge
	old.saving.Lock()
	record := old.meta()
	old.saving.Unlock()
	t := r.fromRecord(&record, old.generations)
	t.diskBytes.Store(old.diskBytes.Load())
	t.damage = old.allDamage()
	t.restoreEnded(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID[t.ID] == old {
		r.byID[t.ID] = t
	}
	r.forget(old)
}

// restoreEnded makes the terminal an ended one, with the screen it had. One whose record says
// running is lost, unless its journal has the end. k is nil unless the keeper still holds the process.
func (t *Terminal) restoreEnded(k *keeper.Held) {
	if k != nil {
		t.registry.drop(k)
	}
	close(t.ended)
	t.loadHub = t.load
	if t.state == StateRunning || t.exit == nil {
		t.noteEnd()
	}
}

// noteEnd notes how the program has ended, as far as that is known. It has the last screen made from
// the journal, so that lists show its true state and the next server reads a snapshot.
func (t *Terminal) noteEnd() {
	switch end := t.journaledEnd(); {
	case end != nil:
		t.state, t.endedAt = StateExited, end.Time.UTC()
		t.exit = &stream.Exit{Code: end.Code, Signal: end.Signal, Reason: end.Reason}
	default:
		if t.state == StateRunning {
			t.noteCrash()
		}
		t.state, t.exit, t.endedAt = StateLost, &stream.Exit{Reason: "lost"}, time.Now().UTC()
	}
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
func (s *screen) replayLater(replay, then func()) {
	m := s.t.registry
	s.replayed = make(chan struct{})
	m.replays.Add(1)
	m.life.Go(func() {
		if s.inTurn(replay) {
			m.changes.Notify()
			then()
		}
	})
}

// inTurn is false when the server closes before the turn.
func (s *screen) inTurn(replay func()) bool {
	m := s.t.registry
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
	s.readFrom.Store(new(time.Now()))
	close(s.replayed)
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
	t.lastDetach = time.Now()
	t.changes.Store(1)
	t.loadHub = func() *stream.Hub {
		hub := t.stayParked()
		if hub == nil {
			hub = t.replayRunning()
		}
		t.resumeHolder(hub)
		t.live.Store(hub)
		return hub
	}
	t.replayLater(t.goOn, t.run)
	return nil
}

// goOn makes the screen of a running program again, and applies the output in the pipe and a change
// of size that the previous server has not.
func (t *Terminal) goOn() {
	hub := t.Hub()
	t.registry.loose.add(t)
	t.resumeRestart()
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
	time.AfterFunc(returning, t.resizeBack)
}

// returning is how long the viewers of the server before have to come back before a terminal counts as not watched:
// they try again every few seconds.
const returning = 15 * time.Second

// replayRunning makes the screen of a running program again: the newest snapshot with the journal
// after that.
func (s *screen) replayRunning() *stream.Hub {
	start := time.Now()
	s.replaying.Store(true) // the journal has these resizes already
	past := s.replay(s.t.journal)
	s.replaying.Store(false)
	past.remember(s.restored)
	facts := past.hub.Stats()
	s.startSeq.Store(facts.Seq)
	s.noteKept(past.from)
	s.setReported(facts.Cwd)
	s.t.noteDamage(past.damage...)
	s.t.input.reply(past.unanswered, s.t.journal.End(), groupNow)
	s.t.registry.cfg.Metrics.Recovery.Observe(time.Since(start).Seconds())
	return past.hub
}

// noteKept notes the position of the snapshot on disk.
func (s *screen) noteKept(seq uint64) {
	s.t.saving.Lock()
	s.t.kept = [2]uint64{seq, seq}
	s.t.saving.Unlock()
	s.t.savedSeq.Store(seq)
}

// setReported notes which directory the program has reported under the previous server.
func (s *screen) setReported(dir string) {
	cwd := newCwd(s.t.Cwd(), dir)
	s.t.mu.Lock()
	s.t.cwd = cwd
	s.t.mu.Unlock()
}

// positionUnknown reports whether the journal has no file that tells a position: the terminal was
// created while the disk was full, or all files were removed. A record or a snapshot tells one that
// was true when it was written; the output after that was shown too.
func (f *files) positionUnknown() bool {
	s := f.t.registry.cfg.Store
	if _, known := journal.Issued(s, f.t.ID); known {
		return false
	}
	j, err := journal.Read(s, f.t.ID)
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
func (s *screen) load() *stream.Hub {
	start := time.Now()
	j, _ := s.t.Journal() // nil with an error
	s.t.saving.Lock()
	past := s.replay(j)
	s.t.saving.Unlock()
	s.t.noteDamage(past.damage...)
	past.remember(s.restored)
	past.hub.Finish(*s.t.exit)
	s.t.registry.cfg.Metrics.Recovery.Observe(time.Since(start).Seconds())
	return past.hub
}

// noteDamage adds to the damage of the terminal's files. New damage is logged and counted.
func (f *files) noteDamage(damage ...error) {
	err := errors.Join(damage...)
	if err == nil {
		return
	}
	f.t.mu.Lock()
	before := f.t.damage
	f.t.damage = addLines(before, err)
	added := f.t.damage != before
	f.t.mu.Unlock()
	if added {
		f.t.registry.cfg.Metrics.FailedRecoveries.Inc()
		f.t.registry.cfg.Log.Warn("a terminal's files are damaged", "id", f.t.ID, "error", err)
	}
}
