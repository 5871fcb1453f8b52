package terminal

import (
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
)

const (
	// answerPatience bounds how long answers wait together for a program to show whether it reads. On
	// a busy machine it may not run for so long.
	answerPatience = 2 * time.Second
	// typedPatience is answerPatience while somebody types: a shell that runs programs for its
	// prompt takes some 100 ms.
	typedPatience = 250 * time.Millisecond
	// answerPoll is the longest time between two looks at the program; the first is soonLook.
	answerPoll = 2 * time.Millisecond
	soonLook   = 50 * time.Microsecond
)

// answer is the answer to a query of a program.
type answer struct {
	p     []byte
	seq   uint64 // queries before it are answered then; 0: nobody asked
	group int    // process group in the foreground when the query was read; 0: unknown
}

// readlineShells are shells whose line editor is GNU Readline, which asks the terminal nothing:
// an answer would be typed into the line.
var readlineShells = []string{"bash", "rbash", "sh"}

// awaited reports whether the program that asked is still there to read the answer. An answer
// for one that has left the foreground would be read by the shell as if it was typed. Where
// that is not known when patience is over, wanted is what is likely, as at any terminal. ok is false
// when the server leaves before: the next one answers.
func (in *input) awaited(a answer, patience time.Duration) (wanted, known, ok bool) {
	start := time.Now()
	for pause := soonLook; ; pause = min(2*pause, answerPoll) {
		wanted, known := in.asks(a.group)
		if len(in.waiting) > 0 {
			patience = min(patience, typedPatience)
		}
		if known || time.Since(start) >= patience {
			return wanted, known, true
		}
		select {
		case <-in.leaving:
			return false, false, false
		case <-time.After(pause):
		}
	}
}

// asks reports whether a process group waits for an answer, or the shell that started it reads
// one itself. known is false while that is open; then wanted is what is likely.
func (in *input) asks(group int) (wanted, known bool) {
	master := in.process.Master()
	// The mode is read before and after the program: one that changes meanwhile may belong to another program.
	before, _ := master.LineMode()
	f, err := master.ForegroundProgram()
	mode, unknown := master.LineMode()
	switch {
	case err != nil || f.Group <= 0 || group <= 0:
		return true, true
	case f.Group != group && !slices.Contains(readlineShells, f.Name):
		return false, true
	case f.Name == "": // its first process has gone, perhaps the others too: then its shell is next
		lives := proc.GroupLives(group)
		return lives, lives
	case f.Zombie:
		return false, false
	case unknown != nil:
		return true, true
	case mode != before:
		return false, false
	case !mode.Canonical: // at the prompt of a shell whatever asked has gone
		return !mode.Readline || !slices.Contains(readlineShells, f.Name), true
	}
	// In canonical mode a program that sleeps without children reads. Another one may be about to
	// read (`printf '\e[6n'; read -d R`), or about to end.
	return f.Group == group, f.Group == group && f.Sleeping && !f.Parent
}
