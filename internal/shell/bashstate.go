package shell

import (
	"cmp"
	"regexp"
	"slices"
	"sync"

	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/state"
)

// bashFacts is the state of the bash as the server knows it, for the next command and the next bash.
type bashFacts struct {
	cwd      string          // of a remote shell too
	snapshot *state.Snapshot // what the last capture found; nil before the first
	// captured is closed after the capture of the newest command in the foreground, or of the start.
	captured chan struct{}
	mayAlias bool // aliases may have been defined since the last capture
	// uncaptured names the changes that the next bash lacks, because they could not be captured.
	uncaptured []string
	// listOn reports that the user has the option history on; it is off while control lines are read.
	listOn  bool
	last    script.Last   // how the newest command of the queue ended, for $? in the next one
	pending restartNotice // of a shell that was started again, for the next command
}

// bashState has the facts, which the goroutine of the queue changes. All methods may be called at the same time from
// several goroutines.
type bashState struct {
	mu    sync.Mutex // guards facts; a leaf
	facts bashFacts
}

// now are the facts as they are now.
func (b *bashState) now() bashFacts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.facts
}

// change changes the facts under the lock.
func (b *bashState) change(f func(*bashFacts)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.facts)
}

// directory is the shell's directory, as last known.
func (b *bashState) directory() string { return b.now().cwd }

func (b *bashState) setDirectory(cwd string) { b.change(func(f *bashFacts) { f.cwd = cwd }) }

// beginCapture makes a new channel for the next capture. The caller closes it.
func (b *bashState) beginCapture() chan struct{} {
	captured := make(chan struct{})
	b.change(func(f *bashFacts) { f.captured = captured })
	return captured
}

// adopt makes the newest capture in dir the state. Errors: as state.Adopt.
func (b *bashState) adopt(dir string) error {
	found, err := state.Adopt(dir)
	if err == nil {
		b.change(func(f *bashFacts) { f.snapshot, f.mayAlias, f.uncaptured = found, false, nil })
	}
	return err
}

// maxUncaptured bounds the notes of uncaptured commands: of a shell whose state is too large, each command is one.
const maxUncaptured = 16

// noteUncaptured notes that the state after a command was not captured, and why: the next bash has an earlier state.
// e is nil without a command.
func (b *bashState) noteUncaptured(e *Exec, why string) {
	what := "the last command"
	if e != nil && !e.internal() {
		what = "command " + e.id
	}
	what = "what " + what + " changed in the shell (directory, variables, functions, aliases, options): " + why
	b.change(func(f *bashFacts) {
		if len(f.uncaptured) < maxUncaptured {
			f.uncaptured = append(f.uncaptured, what)
		}
	})
}

// endingCommand matches one simple command that ends a shell and does nothing else to it.
var endingCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t\n]*(exit|logout|kill|exec)((?:[ \t]+[-A-Za-z0-9_./,:@%+$]+)*)[ \t\n]*;?[ \t\n]*$`)
})

// onlyEnds reports whether a text ends the shell and changes nothing before.
func (b *bashState) onlyEnds(text string) bool {
	found, now := endingCommand().FindStringSubmatch(text), b.now().snapshot
	return found != nil && !now.HasFunction(found[1]) && !now.HasAlias(found[1])
}

// restartNotice is what the next command's result reports of a restart.
type restartNotice struct {
	recreated bool
	lost      []string
	fallback  string
}

// takeRestart gives a command the notice of its shell, with pending ones. An internal change reports nothing: its
// notice stays pending.
func (b *bashState) takeRestart(n restartNotice, e *Exec) (taken restartNotice) {
	b.change(func(f *bashFacts) {
		all := f.pending.merge(n)
		if e.internal() {
			taken, f.pending = n, all
		} else {
			taken, f.pending = all, restartNotice{}
		}
	})
	return taken
}

// returnRestart keeps the notice of a command whose result lacks it, because it was cancelled or could not begin.
func (b *bashState) returnRestart(n restartNotice, e *Exec) {
	r := e.row().Info.Result
	if !e.internal() && n.recreated && (r == nil || !r.Recreated) {
		b.change(func(f *bashFacts) { f.pending = n.merge(f.pending) })
	}
}

// merge is a notice with a later one.
func (n restartNotice) merge(later restartNotice) restartNotice {
	n.recreated = n.recreated || later.recreated
	n.lost = append(slices.Clip(n.lost), later.lost...)
	n.fallback = cmp.Or(later.fallback, n.fallback)
	return n
}
