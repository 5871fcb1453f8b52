package shell

import (
	"regexp"
	"slices"
)

// maxUncaptured bounds the notes of uncaptured commands: of a shell whose state is too large, each command is one.
const maxUncaptured = 16

// noteUncaptured notes that the state after a command was not captured, and why: the next bash has an earlier state.
// e is nil without a command.
func (s *Shell) noteUncaptured(e *Exec, why string) {
	what := "the last command"
	if e != nil && !e.internal() {
		what = "command " + e.id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.uncaptured) < maxUncaptured {
		s.uncaptured = append(s.uncaptured,
			"what "+what+" changed in the shell (directory, variables, functions, aliases, options): "+why)
	}
}

// endedShell reports whether the shell ended with the command, after a possible change of its state.
func (e *Exec) endedShell() bool {
	e.mu.Lock()
	r, text := e.entry.Info.Result, e.entry.Info.Command
	e.mu.Unlock()
	return r != nil && r.ShellEnded && !e.shell.onlyEnds(text)
}

// endingCommand matches one simple command that ends a shell and does nothing else to it.
var endingCommand = regexp.MustCompile(
	`^[ \t\n]*(exit|logout|kill|exec)((?:[ \t]+[-A-Za-z0-9_./,:@%+$]+)*)[ \t\n]*;?[ \t\n]*$`)

// onlyEnds reports whether a text ends the shell and changes nothing before.
func (s *Shell) onlyEnds(text string) bool {
	found := endingCommand.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.snapshot
	return !i.HasFunction(found[1]) && !i.HasAlias(found[1])
}

// restartNotice is what the next command's result reports of a restart.
type restartNotice struct {
	recreated bool
	lost      []string
	fallback  string
}

// takeRestart gives a command the notice of its shell, with pending ones. An internal change reports nothing: its
// notice stays pending.
func (s *Shell) takeRestart(b readyShell, e *Exec) readyShell {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.pendingRestart.merge(b.restartNotice)
	if e.internal() {
		s.pendingRestart = all
	} else {
		b.restartNotice, s.pendingRestart = all, restartNotice{}
	}
	return b
}

// returnRestart keeps the notice of a command whose result lacks it, because it was cancelled or could not begin.
func (s *Shell) returnRestart(b readyShell, e *Exec) {
	e.mu.Lock()
	r := e.entry.Info.Result
	e.mu.Unlock()
	if e.internal() || !b.recreated || r != nil && r.Recreated {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pendingRestart = b.restartNotice.merge(s.pendingRestart)
}

// merge is a notice with a later one.
func (n restartNotice) merge(later restartNotice) restartNotice {
	n.recreated = n.recreated || later.recreated
	n.lost = append(slices.Clip(n.lost), later.lost...)
	if later.fallback != "" {
		n.fallback = later.fallback
	}
	return n
}
