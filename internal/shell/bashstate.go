package shell

import (
	"os"
	"path/filepath"

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
	if e == nil || e.internal {
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

// loadList reads what noteList wrote.
func (s *Shell) loadList() {
	_, err := os.Lstat(filepath.Join(s.spec.Dir, script.ListFile))
	s.listOn = err == nil
}
