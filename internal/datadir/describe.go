package datadir

import (
	"errors"
	"fmt"
)

// Describe is a failure in one sentence.
func Describe(what string, err error) string {
	if errors.Is(err, ErrNoSpace) {
		return "the disk is full: cannot " + what
	}
	return fmt.Sprintf("cannot %s: %v", what, err)
}
