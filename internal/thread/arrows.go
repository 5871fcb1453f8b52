package thread

import (
	"fmt"
	"slices"
)

// arrows is a state machine: the states that may follow each state. Every state may also stay.
type arrows[S ~string] map[S][]S

// check refuses an arrow that the table does not have. Errors: ErrTransition.
func (a arrows[S]) check(what, id string, from, to S) error {
	if from != to && !slices.Contains(a[from], to) {
		return fmt.Errorf("%w: %s %s is %s, not to be %s", ErrTransition, what, id, from, to)
	}
	return nil
}
