package terminal

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Restart starts the program of a terminal that has ended again, in the directory and with
// the environment of Hooks.Next. The result is a new generation under the same id. Its screen
// goes on below a line that says when and why, and positions in the output go on too.
// Errors: ErrRunning, ErrNotFound for a deleted one, ErrLimit, ErrClosing, as pty.Start.
func (r *Registry) Restart(old *Terminal) (*Terminal, error) { return r.restart(old, nil) }

// restart is Restart with another command, nil for the terminal's own.
func (r *Registry) restart(old *Terminal, cmd []string) (*Terminal, error) {
	if old.Running() {
		return nil, fmt.Errorf("%w: terminal %s: process %d", ErrRunning, old.ID, old.process.PID())
	}
	<-old.ended // its last output is on disk then
	leave, err := r.hooks.Enter(old.spec.Session)
	if err != nil {
		return nil, err
	}
	defer leave()
	release, err := r.cfg.Descriptors.Take(descriptors.Terminal)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := r.makeRoom(old.spec.Session); err != nil {
		return nil, err
	}
	t, err := r.startNext(old, cmd)
	if err != nil {
		return nil, err
	}
	t.checkpoint()
	if err := r.hooks.Authorize(r.life.Opening(), t); err != nil {
		r.cfg.Log.Warn("a restart is not in the records of its thread", "id", t.ID, "error", err)
	}
	r.changes.Notify()
	return t, nil
}

// startNext starts and publishes the next generation of old. Two restarts at once start one
// program. One during a deletion is refused, or its program is deleted too.
func (r *Registry) startNext(old *Terminal, cmd []string) (*Terminal, error) {
	if err := old.generations.lock(r.life.Opening()); err != nil {
		return nil, err
	}
	defer old.generations.unlock()
	switch now := r.current(old.ID); {
	case now == nil, old.Deleted(), old.generations.deletes.Load() > 0:
		return nil, fmt.Errorf("%w: terminal %s was deleted", ErrNotFound, old.ID)
	case now != old:
		return nil, fmt.Errorf("%w: terminal %s: somebody else has started it", ErrRunning, old.ID)
	}
	old.Hub() // of one that was lost the record may be older than the screen
	last := old.Wire()
	t := r.newTerminal(old.ID, old.Spec(), old.created, old.generation+1, old.generations)
	t.state, t.lastActivity, t.hadViewer, t.lastDetach = StateRunning, time.Now().UTC(), true, time.Now()
	t.baseSize = old.sizeUnwatched()
	t.changes.Store(1)
	if err := r.reserve(t); err != nil {
		return nil, err
	}
	defer r.release(t)
	old.setRetired(true)
	if err := t.startAfter(old, last, cmd); err != nil {
		r.abandonNext(old, t)
		return nil, err
	}
	r.publish(t)
	return t, nil
}

// setRetired gives the files of an ended terminal to the next generation: this one writes
// neither screen nor record nor journal any more. With false they are its own again.
func (f *files) setRetired(retired bool) {
	if j, err := f.Journal(); err == nil {
		j.Retire(retired)
	}
	f.saving.Lock()
	defer f.saving.Unlock()
	f.purged = retired
}

// abandonNext gives the files back to a terminal whose next generation did not start.
func (r *Registry) abandonNext(old, t *Terminal) {
	if t.journal != nil {
		_ = t.journal.Close()
	}
	old.setRetired(false)
	old.saveRecord()
}

// startAfter starts the process, with the old screen and the restart line above its output.
func (t *Terminal) startAfter(old *Terminal, last wire.Terminal, cmd []string) error {
	if err := t.openJournal(last.Cols, last.Rows, last.Seq); err != nil {
		return err
	}
	wanted, env := t.registry.hooks.Next(old)
	dir, moved := StartDir(t.spec.Provider, wanted)
	s := t.spec
	s.Env = env
	if cmd != nil {
		s.Cmd = cmd
	}
	s.Cwd, s.Cols, s.Rows = dir, &last.Cols, &last.Rows
	shot := old.Hub().Snapshot()
	f := shot.Frame
	t.cwd, t.fallback = newCwd(dir, f.Cwd), moved
	if err := t.journal.SkipTo(shot.Seq); err != nil { // a quota may have removed the journal
		return err
	}
	t.live.Store(stream.Restore(t.options(t.journal), f, t.journal.End()))
	t.registry.loose.add(t)
	t.setRestartLine(restartLine(f, last, time.Now(), moved))
	err := t.start(s)
	if errors.Is(err, pty.ErrNoCommand) { // the previous program may have changed PATH
		s.Env = t.spec.Env
		err = t.start(s)
	}
	if err != nil {
		return err
	}
	t.printRestartLine()
	t.startSeq.Store(t.facts().Seq)
	return nil
}

func (s *status) setRestartLine(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restartLine = line
}

// printRestartLine puts the line of the restart above the output of the program.
func (t *Terminal) printRestartLine() {
	t.mu.Lock()
	line := []byte(t.restartLine)
	t.mu.Unlock()
	cols, rows := t.journal.Size()
	if err := t.journal.Restart(t.generation, cols, rows); err != nil {
		t.failed(journalFailure, err)
	}
	if err := t.journal.Write(line); err != nil {
		t.failed(journalFailure, err)
	}
	t.Hub().Write(line)
	t.setRestartLine("")
}

// resumeRestart prints the line that the previous server was killed before it printed it. The program's output is not
// read yet.
func (t *Terminal) resumeRestart() {
	if line := t.restored.RestartLine; line != "" && t.journal.End() == t.restored.Seq {
		t.setRestartLine(line)
		t.printRestartLine()
		t.saveRecord()
	}
}

// resetModes resets what a program may have changed: an unfinished sequence (CAN), the
// alternate screen and its keyboard stack, margins, origin mode, LNM, all modes that
// change what input sends or what output does, keyboard protocol, character sets,
// attributes, hyperlink, reverse video and colours. History and title stay.
const resetModes = "\x18\x1b[?1047h\x1b[=0u\x1b[<99u\x1b[?1049l" +
	"\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" +
	"\x1b[?2004l\x1b[?2026l\x1b[?2031l\x1b[?5l\x1b[20l\x1b[=0u\x1b[<99u\x1b[!p\x1b[?7h\x1b[?25h" +
	"\x1b[0m\x1b]8;;\x1b\\\x1b(B\x0f" +
	"\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"

// resetTabs sets the initial tab stops, every 8 columns, when the program changed them (TBC
// and HTS, ECMA-48 8.3.155, 8.3.62).
func resetTabs(f *vt.Frame) string {
	if f.Main.Tabs == nil {
		return ""
	}
	const stop = "\x1b[8C\x1bH"
	return "\r\x1b[3g\x1bH" + strings.Repeat(stop, (f.Cols-1)/8) + "\r"
}

// restartLine is the output between two generations: it resets the modes and prints, below
// the old screen, when and why the program was restarted.
func restartLine(f *vt.Frame, last wire.Terminal, now time.Time, moved string) string {
	reason := "its process was lost"
	switch e := last.Exit; {
	case e == nil:
	case e.Signal != "":
		reason = "ended by SIG" + e.Signal
	case e.Code != nil:
		reason = fmt.Sprintf("exit code %d", *e.Code)
	}
	line := fmt.Sprintf("── %s · restarted %s ──", reason, now.UTC().Format("2006-01-02 15:04:05 UTC"))
	if moved != "" {
		line += " " + moved + whyMoved(moved)
	}
	return fmt.Sprintf("%s%s\x1b[%d;1H\r\n\x1b[2m%s\x1b[0m\r\n", resetModes, resetTabs(f), lastRow(f), line)
}

// whyMoved says why a program was not started in a directory: it does not exist, or may not be
// entered.
func whyMoved(moved string) string {
	if startdir.Exists(moved) {
		return " cannot be entered"
	}
	return " is gone"
}

// lastRow is the number, from 1, of the last row of the main screen that is not empty.
func lastRow(f *vt.Frame) int {
	for y := len(f.Main.Lines); y > 1; y-- {
		if f.Main.Lines[y-1].Text() != "" {
			return y
		}
	}
	return 1
}
