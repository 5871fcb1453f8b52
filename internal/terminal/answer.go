package terminal

import (
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
)

const (
	// answerPatience bounds how long an answer waits for a program to show whether it reads: a
	// shell that runs programs for its prompt takes some 100 ms.
	answerPatience = 250 * time.Millisecond
	// answerPoll is the time between two looks at the program.
	answerPoll = time.Millisecond
	// calmLooks is at how many looks in a row a program has to sleep: one that ends sleeps for
	// moments too, for example when it writes to the terminal.
	calmLooks = 3
)

// answer is the answer to a query of a program.
type answer struct {
	p     []byte
	group int // process group in the foreground when the query was read; 0: unknown
}

// readlineShells are shells whose line editor is GNU Readline, which asks the terminal nothing:
// an answer would be typed into the line.
var readlineShells = []string{"bash", "rbash", "sh"}

// awaited reports whether the program that asked is still there to read the answer. An answer
// for one that has left the foreground would be read by the shell as if it was typed. Where
// nobody can tell it is given, as at any terminal.
func (in *input) awaited(a answer) bool {
	tick := time.NewTicker(answerPoll)
	defer tick.Stop()
	calm := 0
	for end := time.Now().Add(answerPatience); ; <-tick.C {
		wanted, known, sleeps := in.asks(a.group)
		if calm++; !sleeps {
			calm = 0
		}
		if known || calm >= calmLooks || time.Now().After(end) {
			return wanted
		}
	}
}

// asks reports whether a process group waits for an answer, or the shell that started it reads
// one itself. known is false while that is open; then wanted is what is likely, and sleeps says
// that it seems to read.
func (in *input) asks(group int) (wanted, known, sleeps bool) {
	master := in.process.Master()
	f, err := master.ForegroundProgram()
	switch {
	case err != nil || f.Group <= 0 || group <= 0:
		return true, true, false
	case f.Group != group && !slices.Contains(readlineShells, f.Name):
		return false, true, false
	case f.Name == "": // its first process has gone, perhaps the others too
		return proc.GroupLives(group), true, false
	case f.Zombie:
		return false, false, false
	}
	mode, err := master.LineMode()
	switch {
	case err != nil:
		return true, true, false
	case !mode.Canonical: // at the prompt of a shell whatever asked has gone
		return !mode.Readline || !slices.Contains(readlineShells, f.Name), true, false
	}
	// In canonical mode a program that sleeps without children reads. Another one may be about to
	// read (`printf '\e[6n'; read -d R`), or about to end.
	return f.Group == group, false, f.Group == group && f.Sleeping && !f.Parent
}
