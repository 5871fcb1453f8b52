package shell

import (
	"regexp"
	"slices"
)

// maxUncaptured is of how many commands it is noted that the state after them is not known: of a shell whose state is too large that is so for every one.
const maxUncaptured = 16

// missed notes that the state after a command is not known, and why: the next incarnation has that of an earlier one. e is nil when there was no command.
func (s *Shell) missed(e *Exec, why string) {
	what := "the last command"
	if e != nil && !e.hidden {
		what = "command " + e.id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.uncaptured) < maxUncaptured {
		s.uncaptured = append(s.uncaptured, "what "+what+" changed in the shell (directory, variables, functions, aliases, options): "+why)
	}
}

// endedShell tells whether the shell ended with the command, and the command may have changed something in it before.
func (e *Exec) endedShell() bool {
	e.mu.Lock()
	r, text := e.record.Info.Result, e.record.Info.Command
	e.mu.Unlock()
	return r != nil && r.ShellEnded && !e.shell.leavesAsIs(text)
}

// onlyEnds is a text of one simple command that ends a shell and does nothing else to it.
var onlyEnds = regexp.MustCompile(`^[ \t\n]*(exit|logout|kill|exec)((?:[ \t]+[-A-Za-z0-9_./,:@%+$]+)*)[ \t\n]*;?[ \t\n]*$`)

// leavesAsIs tells whether a text ends the shell and changes nothing in it before.
func (s *Shell) leavesAsIs(text string) bool {
	found := onlyEnds.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.image
	return !i.HasFunction(found[1]) && !i.HasAlias(found[1])
}

// news is what somebody has to be told of a shell that was started again: what revived has of it.
type news struct {
	recreated bool
	lost      []string
	fallback  string
}

// brief gives a command the news of the shell in which it runs, with those that were told to nobody: a change of variables is told nothing.
func (s *Shell) brief(b revived, e *Exec) revived {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.untold.and(b.news)
	if e.hidden {
		s.untold = all
	} else {
		b.news, s.untold = all, news{}
	}
	return b
}

// keep takes back news that a command was given and whose result does not have them: it was cancelled, or could not be begun.
func (s *Shell) keep(b revived, e *Exec) {
	e.mu.Lock()
	r := e.record.Info.Result
	e.mu.Unlock()
	if e.hidden || !b.recreated || r != nil && r.Recreated {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untold = b.news.and(s.untold)
}

// and is news with later ones.
func (n news) and(later news) news {
	n.recreated = n.recreated || later.recreated
	n.lost = append(slices.Clip(n.lost), later.lost...)
	if later.fallback != "" {
		n.fallback = later.fallback
	}
	return n
}
