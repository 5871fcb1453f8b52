package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/wire"
)

const (
	// minPrefix is how many characters of an id may stand for it: with fewer a mistyped name would often be one.
	minPrefix = 4
	// maxChoices bounds how many terminals a refusal names.
	maxChoices = 8
)

// Ambiguous is ErrAmbiguous with what the reference may mean: SESSION/NAME of each terminal, or its id.
type Ambiguous struct {
	what    string
	Choices []string // at most maxChoices
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrAmbiguous, e.what, strings.Join(e.Choices, ", "))
}

// Unwrap returns ErrAmbiguous.
func (e *Ambiguous) Unwrap() error { return ErrAmbiguous }

// ambiguous is Ambiguous for a reference that several terminals match.
func ambiguous(format, ref string, found []*Terminal, choice func(*Terminal) string) error {
	e := &Ambiguous{what: fmt.Sprintf(format, ref)}
	for _, t := range found {
		e.Choices = append(e.Choices, choice(t))
	}
	slices.Sort(e.Choices)
	if more := len(e.Choices) - maxChoices; more > 0 {
		e.Choices = append(e.Choices[:maxChoices], fmt.Sprintf("and %d more", more))
	}
	return e
}

// Find returns the terminal of a session with that id or name; session "" is all sessions.
// Errors: ErrNotFound, *Ambiguous.
func (r *Registry) Find(session, ref string) (*Terminal, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(session, ref)
}

// find is Find with the lock held.
func (r *Registry) find(session, ref string) (*Terminal, error) {
	if t := r.byID[ref]; t != nil && t.In(session) {
		return t, nil
	}
	found := r.matching(session, func(t *Terminal) bool { return ref != "" && t.Spec().Name == ref })
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q", ErrNotFound, ref)
	case 1:
		return found[0], nil
	}
	return nil, ambiguous("%q names terminals of several sessions; use the id, or one of", ref, found,
		func(t *Terminal) string { return t.spec.Session + "/" + ref })
}

// Resolve is Find for a person: ref may also be SESSION/NAME, or a prefix of an id of at least minPrefix characters
// that no other listed terminal has; in a user's space SESSION is what the user calls it. An id wins over a name, a
// name over a prefix. Errors: ErrNotFound, *Ambiguous.
func (r *Registry) Resolve(session, ref string) (*Terminal, error) {
	given := ref
	if of, name, ok := strings.Cut(ref, "/"); ok && of != "" {
		if of = owner.Space(session) + of; owner.In(of, session) {
			session, ref = of, name
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.find(session, ref)
	if !errors.Is(err, ErrNotFound) {
		return t, err
	}
	found := r.matching(session, func(t *Terminal) bool {
		return len(ref) >= minPrefix && strings.HasPrefix(t.ID, ref)
	})
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q", ErrNotFound, given)
	case 1:
		return found[0], nil
	}
	return nil, ambiguous("%q begins several ids; use more of one of", ref, found,
		func(t *Terminal) string { return t.ID })
}

// List returns the terminals of a session, all for "", oldest first. Deleted
// ones are left out.
func (r *Registry) List(session string) []*Terminal {
	return slices.DeleteFunc(r.All(), func(t *Terminal) bool { return !t.In(session) || t.Deleted() })
}

// matching are the listed terminals of a session that fit, in no order. The lock is held.
func (r *Registry) matching(session string, fits func(*Terminal) bool) (found []*Terminal) {
	for _, t := range r.byID {
		if fits(t) && t.In(session) && !t.Deleted() {
			found = append(found, t)
		}
	}
	return found
}

// Filter says which terminals a list has. The zero value is all that are listed.
type Filter struct {
	Session, Name, State string      // "" is any
	Labels               wire.Labels // all of them
	Refs                 []string    // only these, in this order, each as Resolve finds it; nil is all
}

// fits reports whether a list has a terminal of its session.
func (f Filter) fits(t *Terminal) bool {
	s := t.Spec()
	for k, v := range f.Labels {
		if has, ok := s.Labels[k]; !ok || has != v {
			return false
		}
	}
	return (f.Name == "" || f.Name == s.Name) && (f.State == "" || f.State == t.State())
}

// Part is the list behind the terminal with the id after, from the first for "", at most limit terminals; 0 is all.
// Without Refs the oldest is first, and deleted ones are left out. next is the after of the next part, "" at the end.
// Errors: ErrNotFound, when after is no terminal of the session, also no deleted one that is kept, or a reference is
// none; *Ambiguous.
func (r *Registry) Part(f Filter, after string, limit int) (list []*Terminal, next string, err error) {
	for _, ref := range f.Refs {
		t, err := r.Resolve(f.Session, ref)
		if err != nil {
			return nil, "", err
		}
		list = append(list, t)
	}
	if f.Refs == nil {
		list = r.All()
	}
	if after != "" {
		i := slices.IndexFunc(list, func(t *Terminal) bool { return t.ID == after && t.In(f.Session) })
		if i < 0 {
			return nil, "", fmt.Errorf("%w: after %q; begin without it", ErrNotFound, after)
		}
		list = list[i+1:]
	}
	list = slices.DeleteFunc(list, func(t *Terminal) bool {
		return !t.In(f.Session) || t.Deleted() && f.Refs == nil || !f.fits(t)
	})
	if limit > 0 && len(list) > limit {
		return list[:limit], list[limit-1].ID, nil
	}
	return list, "", nil
}
