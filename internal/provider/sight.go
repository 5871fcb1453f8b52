package provider

import (
	"errors"
	"fmt"
)

// sight is how a service told an instance to be.
type sight struct {
	service, id string
	word        string // the service's own for the state
	state       State
}

// ask makes the call that leads from one state to another if the instance is in the first. One that is between the two is on its way and not asked again; a call whose
// reply was lost is no failure: what it would have said is seen afterwards. Errors: ErrNotFound, ErrState (it is there already), and those of call.
func (s sight) ask(from, to State, call func() error) error {
	switch s.state {
	case Dead:
		return fmt.Errorf("%s: %w: %s", s.service, ErrNotFound, s.id)
	case to:
		return fmt.Errorf("%s: %w: %s is %s", s.service, ErrState, s.id, s.word)
	case from:
		if err := call(); err != nil && (!errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNotStarted)) {
			return err
		}
	}
	return nil
}
