package shell

import (
	"os"
	"path/filepath"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// The list of commands that bash remembers (set -o history) is the user's. bash puts every line that it reads from its input into it, so the option is off whenever
// it reads a control line: it is on in the file of a command alone, if it was on at the end of the command before, and that file adds the text as one entry.

// Names of what tells of the option.
const (
	historyFile = "history"  // in the directory of a shell: the option is on, and off while control lines are read
	historySign = "remember" // in that of a command: the option was on at its end
)

// maxEntry is the longest text that becomes an entry of the list, in bytes: longer ones are not for people.
const maxEntry = 64 << 10

// remembers tells whether the user has the option on.
func (s *Shell) remembers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remembering
}

// noteHistory takes over what a command has made of the option, when its last line has run.
func (s *Shell) noteHistory(e *Exec) {
	if e == nil || e.hidden {
		return
	}
	_, err := os.Lstat(filepath.Join(e.dir, historySign))
	now := err == nil
	s.mu.Lock()
	changed := s.remembering != now
	s.remembering = now
	s.mu.Unlock()
	if !changed {
		return
	}
	if path := filepath.Join(s.spec.Dir, historyFile); now {
		err = shelldir.Touch(path)
	} else {
		err = os.Remove(path)
	}
	if err != nil {
		s.config.Log.Warn("whether a shell remembers commands is not known to the next server", "shell", s.spec.ID, "err", err)
	}
}

// loadRemembers reads what noteHistory wrote.
func (s *Shell) loadRemembers() {
	_, err := os.Lstat(filepath.Join(s.spec.Dir, historyFile))
	s.remembering = err == nil
}

// forgetLine is the end of a control line: it takes the option away again, with a sign. With own the line may have come into the list itself, and goes if it
// is the last entry. DEBUG traps find no control lines to read. It is "" when the option cannot be looked at.
func (e *Exec) forgetLine(own bool) string {
	s := e.shell
	test, set, history := s.calls("test"), s.calls("set"), s.calls("history")
	if !s.braces() || s.remote() || e.hidden || test == "" || set == "" || history == "" {
		return ""
	}
	undo := ""
	if own {
		undo = "{ [[ $(" + history + " 1) != *" + state.Quote(e.id+"/"+historySign) + "* ]] || " + history + " -d -1; } && "
	}
	return "; { " + test + " -o history && " + undo + set + " +o history >|" + state.Quote(filepath.Join(e.dir, historySign)) + "; } </dev/null >/dev/null || { <&0; } </dev/null"
}

// recallLine is the beginning of the one line in the file of a command: it puts the option on and adds the text to the list, or "". words are the text as words of a
// builtin, "" for none. With the option on history -s would take away the entry before. Without the assignment bash would read the file of the list again each time, which posix mode does not take from a readonly variable.
func (e *Exec) recallLine(words string) string {
	s := e.shell
	shopt, history := s.calls("shopt"), s.calls("history")
	if !s.remembers() || !s.braces() || shopt == "" || history == "" {
		return ""
	}
	on := shopt + " -so history"
	s.mu.Lock()
	if s.image != nil && !s.image.HasOption("posix") {
		on = "HISTFILE= " + on + " || " + on
	}
	s.mu.Unlock()
	if words == "" || len(words) > maxEntry {
		return "{ " + on + "; } 2>/dev/null || ((1)); "
	}
	return "{ " + history + " -s -- " + words + "; " + on + "; } 2>/dev/null || ((1)); "
}

// calls is call, and "" when nothing calls the builtin.
func (s *Shell) calls(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.image.Builtin(name)
}
