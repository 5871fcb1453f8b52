package shell

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// scriptBash is the bash as package script needs it.
func (s *Shell) scriptBash() script.Bash {
	s.mu.Lock()
	defer s.mu.Unlock()
	return script.Bash{Dir: s.spec.Dir, Snapshot: s.snapshot, Aliases: s.mayAlias, List: s.listOn, Relayed: s.remote()}
}

// unreachable reports whether the shell can no longer be told to read a file.
func (s *Shell) unreachable() bool { b := s.scriptBash(); return b.Snapshot.Builtin(".") == "" }

// noteList notes the option history after a command.
func (s *Shell) noteList(e *Exec) {
	if e == nil || e.internal() {
		return
	}
	_, err := os.Lstat(filepath.Join(e.dir, script.ListSign))
	now := err == nil
	s.mu.Lock()
	changed := s.listOn != now
	s.listOn = now
	s.mu.Unlock()
	if !changed {
		return
	}
	if path := filepath.Join(s.spec.Dir, script.ListFile); now {
		err = shelldir.Touch(path)
	} else {
		err = os.Remove(path)
	}
	if err != nil {
		s.config.Log.Warn("whether a shell keeps a list of commands is not known to the next server",
			"shell", s.spec.ID, "err", err)
	}
}

// list reads what noteList wrote.
func (r *recovery) list() {
	s := r.shell
	_, err := os.Lstat(filepath.Join(s.spec.Dir, script.ListFile))
	s.listOn = err == nil
}

// noteLast notes how a command in the foreground ended, for $? and PIPESTATUS in the next one.
func (e *Exec) noteLast(r *Result) {
	s := e.shell
	if last, ok := e.lastOf(r); ok {
		s.mu.Lock()
		before := s.last
		s.last = last
		s.mu.Unlock()
		before.Forget()
	}
}

// lastOf is what noteLast notes; ok is false of a command that has not run in the foreground.
func (e *Exec) lastOf(r *Result) (last script.Last, ok bool) {
	e.mu.Lock()
	i, spec := e.entry.Info, e.entry.Spec
	e.mu.Unlock()
	if e.internal() || r == nil || i.StartedAt.IsZero() || spec.Isolated || spec.TTY || spec.Background {
		return last, false
	}
	if r.TimedOut || r.Cancelled {
		return script.Last{Code: r.ExitCode}, true
	}
	return script.Told(e.dir).Last(r.ExitCode), true
}

// lastEnded finds what an earlier server has noted: the newest command of the queue that has begun tells it. It
// returns that one if it has ended in the foreground.
func (r *recovery) lastEnded() *Exec {
	s := r.shell
	for _, e := range slices.Backward(s.all) {
		i := e.Info() // a QueueTimeout may end one that waits meanwhile
		if i.Background && !i.StartedAt.IsZero() {
			break
		}
		if last, ok := e.lastOf(i.Result); ok {
			s.last = last
			return e
		}
	}
	return nil
}
