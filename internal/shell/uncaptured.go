package shell

import (
	"regexp"
	"slices"
)

// maxUncaptured is of how many commands it is noted that the state after them is not known: of a shell whose state is
// too large that is so for every one.
const maxUncaptured = 16

// noteUncaptured notes that the state after a command is not known, and why: the next bash has that of an earlier one.
// e is nil when there was no command.
func (s *Shell) noteUncaptured(e *Exec, why string) {
	what := "the last command"
	if e != nil && !e.internal {
		what = "command " + e.id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.uncaptured) < maxUncaptured {
		s.uncaptured = append(s.uncaptured,
			"what "+what+" changed in the shell (directory, variables, functions, aliases, options): "+why)
	}
}

// endedShell tells whether the shell ended with the command, and the command may have changed something in it before.
func (e *Exec) endedShell() bool {
	e.mu.Lock()
	r, text := e.entry.Info.Result, e.entry.Info.Command
	e.mu.Unlock()
	return r != nil && r.ShellEnded && !e.shell.onlyEnds(text)
}

// endingCommand is a text of one simple command that ends a shell and does nothing else to it.
var endingCommand = regexp.MustCompile(
	`^[ \t\n]*(exit|logout|kill|exec)((?:[ \t]+[-A-Za-z0-9_./,:@%+$]+)*)[ \t\n]*;?[ \t\n]*$`)

// onlyEnds tells whether a text ends the shell and changes nothing in it before.
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

// restartNotice is what somebody has to be told of a shell that was started again.
type restartNotice struct {
	recreated bool
	lost      []string
	fallback  string
}

// takeRestart gives a command the notice of the shell in which it runs, with what nobody was told: a change of
// variables is told nothing.
func (s *Shell) takeRestart(b readyShell, e *Exec) readyShell {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.untoldRestart.merge(b.restartNotice)
	if e.internal {
		s.untoldRestart = all
	} else {
		b.restartNotice, s.untoldRestart = all, restartNotice{}
	}
	return b
}

// returnRestart takes back a notice that a command was given and whose result does not have it: it was cancelled, or
// could not be begun.
func (s *Shell) returnRestart(b readyShell, e *Exec) {
	e.mu.Lock()
	r := e.entry.Info.Result
	e.mu.Unlock()
	if e.internal || !b.recreated || r != nil && r.Recreated {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untoldRestart = b.restartNotice.merge(s.untoldRestart)
}

// merge is news with later ones.
func (n restartNotice) merge(later restartNotice) restartNotice {
	n.recreated = n.recreated || later.recreated
	n.lost = append(slices.Clip(n.lost), later.lost...)
	if later.fallback != "" {
		n.fallback = later.fallback
	}
	return n
}
