package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
)

const (
	// idleBuffer is the buffer of a silent terminal, in bytes: a pseudo-terminal has no
	// more at once.
	idleBuffer = 4 << 10
	// floodBuffer is the buffer of a terminal that filled idleBuffer, in bytes.
	floodBuffer = 64 << 10
	// cwdInterval is the least time between two reads of the program's directory because of
	// output. Output is the last moment to read it: after the end of the program it is unknown.
	cwdInterval = 20 * time.Millisecond
	// floodLasts is how long after a full read the terminal counts as flooded.
	floodLasts = 100 * time.Millisecond
	// restWithin is how much output of a flood may come, in bytes, before it is read in small pieces. Behind each of
	// them the screen is as far as the journal, which notes only there where a sequence has ended, see journal.Rested.
	restWithin = 512 << 10
)

// Buffers are held while there is output alone: a silent terminal needs none.
var (
	idleBuffers  = sync.Pool{New: func() any { return new([idleBuffer]byte) }}
	floodBuffers = sync.Pool{New: func() any { return new([floodBuffer]byte) }}
)

// run moves the program's output into the journal and then to the hub, until the program or
// the server ends, or the terminal is silent and parked or at rest, see runAgain. It is the only reader of the terminal
// and the only caller of Append; the hub is written to by it or, in a flood, by the goroutine of ahead.
func (p *program) run() {
	size := idleBuffer
	var err error
	for err == nil {
		var n int
		n, err = p.process.Fill(p.pipe, size)
		if errors.Is(err, pty.ErrInterrupted) {
			p.ahead.settle()
			if (p.t.Parked() || p.resting.Load()) && p.process.Master().Await(p.runAgain) == nil {
				return
			}
			err = nil
		}
		if n >= idleBuffer {
			p.flooded.Store(time.Now().UnixNano())
		}
		if n > 0 {
			p.applyBuffered(n)
		}
		switch {
		case n < idleBuffer || p.restless():
			size = idleBuffer
		case n == idleBuffer:
			size = floodBuffer
		}
	}
	p.ahead.settle()
	if p.t.registry.ctx.Err() != nil && errors.Is(err, pty.ErrClosed) {
		return // the server ends, the program goes on
	}
	if !errors.Is(err, io.EOF) {
		p.t.registry.cfg.Log.Warn("terminal output ended early", "id", p.t.ID, "error", err)
	}
	p.finish()
}

// restless reports whether no piece has ended at rest for restWithin.
func (p *program) restless() bool { return p.t.journal.End()-p.rested.Load() >= restWithin }

// rest ends run until there is output: a goroutine would keep its stack.
func (p *program) rest() {
	p.resting.Store(true)
	p.process.Master().Interrupt()
}

// runAgain goes on with run, which has ended because the terminal is parked or at rest.
func (p *program) runAgain() {
	p.resting.Store(false)
	p.t.registry.life.TryGo(p.run)
}

// Flooded reports whether the program prints faster than its output is read.
func (p *program) Flooded() bool { return time.Since(time.Unix(0, p.flooded.Load())) <= floodLasts }

// noteAnswered notes in the journal that queries before seq get their answers now, so that the
// next server does not answer them again. If this one is killed in between, the program gets
// no answer: better than a second one, which it would take for input.
func (p *program) noteAnswered(seq uint64) {
	if err := p.t.journal.Answered(seq); err != nil {
		p.t.failed(journalFailure, err)
	}
	p.t.raise(&p.t.unsynced, p.t.registry.syncs.due)
}

// applyBuffered is apply with a buffer of its own. In a flood the next piece is read while this one is shown.
func (p *program) applyBuffered(n int) {
	if n <= idleBuffer {
		b := idleBuffers.Get().(*[idleBuffer]byte)
		defer idleBuffers.Put(b)
		p.apply(n, b[:])
		return
	}
	b := floodBuffers.Get().(*[floodBuffer]byte)
	group, _ := p.process.Foreground() // 0 with an error
	data := p.keep(n, b[:])
	p.ahead.put(p.t.registry.life.TryGo, func() {
		p.show(data, group)
		floodBuffers.Put(b)
	})
}

// apply moves n bytes from the pipe into the journal and then to the screen and the viewers.
func (p *program) apply(n int, buf []byte) {
	data := p.keep(n, buf)
	p.ahead.settle()
	p.show(data, groupNow)
}

// keep moves n bytes from the pipe into the journal, and returns them in buf.
func (p *program) keep(n int, buf []byte) []byte {
	began := time.Now()
	data, err := p.t.journal.Append(p.pipe, n, buf)
	p.t.registry.cfg.Metrics.JournalAppend(time.Since(began), err)
	if err != nil {
		p.t.failed(journalFailure, err)
	}
	p.t.enforceQuota()
	return data
}

// show brings output from the journal to the screen and the viewers. group was in the foreground when it was read, or
// groupNow.
func (p *program) show(data []byte, group int) {
	p.noteEmptyLine()
	p.t.Hub().WriteFunc(data, func(answers []byte, seq uint64) { p.input.reply(answers, seq, group) })
	if seq, ok := p.t.Hub().AtRest(); ok {
		p.t.journal.Rested(seq)
		if seq == p.t.journal.End() {
			p.rested.Store(seq)
		}
	}
	p.t.Hub().InputMayChange()
	p.t.changed()
	p.grew(len(data))
	p.keepTypedSoon()
	if now := time.Now(); now.Sub(p.cwdChecked) > cwdInterval && !isEcho(data) {
		p.cwdChecked = now
		p.t.readCwd()
	}
}

// isEcho reports whether output is so little that it is the echo of a key, behind which no program changes its
// directory.
func isEcho(p []byte) bool { return len(p) <= utf8.UTFMax && !bytes.ContainsRune(p, '\n') }

// catchUp applies the output in the pipe: the previous server took it from the terminal and
// did not write it to the journal.
func (p *program) catchUp() error {
	buf := make([]byte, idleBuffer)
	for {
		n, err := p.pipe.Buffered()
		if err != nil || n == 0 {
			return err
		}
		p.apply(min(n, len(buf)), buf)
	}
}

// changed notes a change that is worth a snapshot.
func (f *files) changed() {
	f.changes.Add(1)
	f.raise(&f.active, f.t.registry.upkeep.due)
	f.raise(&f.unsynced, f.t.registry.syncs.due)
	f.raise(&f.grown, f.t.registry.grown)
	f.raise(&f.printed, f.t.registry.printed)
}

// finish notes the end of the program after its last output. The keeper drops the process
// only when its end is on disk.
func (p *program) finish() {
	status, _ := p.process.Wait(context.Background()) // fails with its context only
	_ = p.process.Close()
	_ = p.pipe.Close()
	e := p.exitOf(status)
	_ = p.t.registry.groups.Remove(p.t.ID) // else when all of its processes have gone
	p.t.mu.Lock()
	p.t.state, p.t.exit = StateExited, &e
	p.t.endedAt = time.Now().UTC()
	p.t.mu.Unlock()
	p.t.registry.notRunning(p.t)
	p.t.changes.Add(1)
	if err := p.t.journal.Exit(endOf(e, p.t.endedAt)); err != nil {
		p.t.failed(journalFailure, err)
	}
	p.t.Hub().Finish(e)
	p.saveFinished()
	if err := p.t.journal.Close(); err != nil {
		p.t.failed(journalFailure, err)
	}
	p.t.awaitCwd()
	p.t.registry.hooks.Moved(p.t, p.t.Cwd())
	p.t.registry.hooks.Exited(p.t, e)
	if p.t.spec.Provider != "" {
		p.t.registry.hooks.DropProgram(p.t)
	}
	close(p.ended)
	p.t.registry.changes.Notify()
}

// saveFinished writes the last screen and the end of the program, unless they are about to be removed. Where that
// is given up, the next checkpoint of all terminals writes them.
func (p *program) saveFinished() {
	if p.t.generations.purges.Load() > 0 {
		return
	}
	if p.t.saveChanged() {
		p.t.worked(journalFailure) // no output comes that could be lost
	}
	if p.t.generations.deletes.Load() == 0 { // else remove does
		p.t.saveRecord()
		p.t.saveRecord() // again: a damaged record is read from the one before, which has the end then
	}
}

// exitOf is the Exit for a status of the process. An unknown status has no code.
func (p *program) exitOf(status pty.Exit) stream.Exit {
	e := stream.Exit{Signal: status.Signal, Reason: "exit", Code: &status.Code}
	if status.Signal != "" {
		e.Reason = "signal"
	}
	if status.Signal == "KILL" && p.endedByMemory() {
		e.Reason = "memory"
	}
	if status.Code < 0 {
		e.Code, e.Reason = nil, "lost"
	}
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if p.t.killed {
		e.Reason = "killed"
	}
	return e
}
