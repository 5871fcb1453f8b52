package lifecycle

import (
	"github.com/evertty/evertty/internal/thread"
)

// For tests of the tables.

func SessionArrow(from, to thread.Status) error {
	_, err := thread.Session{Status: from}.To(to)
	return err
}

func LeaseArrow(from, to thread.Observed) error { return thread.Lease{Observed: from}.Allowed(to) }

func RuntimeArrow(from, to thread.RuntimeState) error {
	_, err := thread.Runtime{State: from}.To(to)
	return err
}

func CommandArrow(from, to thread.CommandStatus) error {
	_, err := thread.Command{Status: from}.To(to)
	return err
}

func Steady(c thread.Clock) thread.Clock { return (&steady{clock: c}).now }
