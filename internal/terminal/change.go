package terminal

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Limits of what users may give a terminal. Kubernetes has the same for names of labels, values are shown in a table.
const (
	maxLabels     = 32
	maxLabelKey   = 63   // bytes
	maxLabelValue = 255  // bytes
	maxTitle      = 1024 // bytes, as of a program's title
)

var labelKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)
})

// checkLabels reports whether a terminal may have these labels. Errors: *Invalid.
func checkLabels(labels wire.Labels) error {
	if len(labels) > maxLabels {
		return &Invalid{"labels", fmt.Errorf("%w: %d labels: at most %d are allowed", ErrInvalid, len(labels),
			maxLabels)}
	}
	for k, v := range labels {
		if err := CheckLabel(k, v); err != nil {
			return &Invalid{"labels", err}
		}
	}
	return nil
}

// CheckLabel reports whether a terminal may have a label. Errors: ErrInvalid.
func CheckLabel(key, value string) error {
	switch {
	case len(key) > maxLabelKey || !labelKey().MatchString(key):
		return fmt.Errorf("%w: label %.80q: a key is 1 to %d letters, digits, '.', '_', '-' or '/', with a letter or "+
			"a digit at both ends", ErrInvalid, key, maxLabelKey)
	case len(value) > maxLabelValue || !plain(value):
		return fmt.Errorf("%w: label %s: its value may have at most %d bytes, without control characters", ErrInvalid,
			key, maxLabelValue)
	}
	return nil
}

// plain reports whether s is text without control characters.
func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// checkNameField is CheckNewName of a terminal's name, which may be "". Errors: *Invalid.
func checkNameField(name string) error {
	if name == "" {
		return nil
	}
	if err := CheckNewName("name", name); err != nil {
		return &Invalid{"name", err}
	}
	return nil
}

// setPolicy sets the size policy, "" the usual one. Errors: *Invalid.
func (s *Spec) setPolicy(p wire.SizePolicy) error {
	policy, err := stream.ParsePolicy(string(p))
	if err != nil {
		return &Invalid{"size_policy", fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	s.SizePolicy = wire.SizePolicy(policy)
	return nil
}

// with is the spec after a change; its size is not part of it. Errors: *Invalid, pty.ErrUnsupported.
func (s Spec) with(in wire.ChangeTerminal) (Spec, error) {
	var err error
	if in.Name != nil {
		s.Name, err = *in.Name, checkNameField(*in.Name)
	}
	if in.SizePolicy != nil {
		err = cmp.Or(err, s.setPolicy(*in.SizePolicy))
	}
	if in.Labels != nil {
		s.Labels, err = in.Labels, cmp.Or(err, checkLabels(in.Labels))
	}
	if in.Restore != nil {
		s.Restore = *in.Restore
		err = cmp.Or(err, checkRestore(s.Restore), checkRestoreAt(s.Provider, s.Restore))
	}
	if in.Title == nil {
		return s, err
	}
	s.Title = *in.Title
	if len(s.Title) > maxTitle || !plain(s.Title) {
		err = cmp.Or(err, error(&Invalid{"title", fmt.Errorf("%w: the title may have at most %d bytes, without "+
			"control characters", ErrInvalid, maxTitle)}))
	}
	return s, err
}

// Change changes what users may change of a terminal: all that in has, or nothing. It is on disk when Change returns,
// and everybody who lists terminals is told. The result is the generation that has it. Errors: *Invalid, ErrNotFound
// for a deleted one, *NameTaken, ErrExited for a size, pty.ErrUnsupported, context.Cause(ctx), as the store.
func (r *Registry) Change(ctx context.Context, t *Terminal, in wire.ChangeTerminal) (*Terminal, error) {
	if err := t.AwaitScreen(ctx); err != nil {
		return nil, err
	}
	if err := t.generations.lock(ctx); err != nil {
		return nil, err
	}
	defer t.generations.unlock()
	now := r.current(t.ID)
	if now == nil || now.Deleted() {
		return nil, fmt.Errorf("%w: terminal %s was deleted", ErrNotFound, t.ID)
	}
	was, size := now.Spec(), now.sizeAfter(in)
	next, err := was.with(in)
	if err = cmp.Or(err, CheckSize(size.Cols, size.Rows)); err != nil {
		return nil, err
	}
	if err := r.exchange(now, next); err != nil {
		return nil, err
	}
	if err := now.apply(in, size); err != nil {
		r.settle(now, was)
		return nil, err
	}
	r.settle(now, next)
	return now, nil
}

// sizeAfter is the size that the terminal has after a change.
func (t *Terminal) sizeAfter(in wire.ChangeTerminal) stream.Size {
	f := t.facts()
	return stream.Size{Cols: *cmp.Or(in.Cols, &f.Cols), Rows: *cmp.Or(in.Rows, &f.Rows)}
}

// named reports whether the terminal has a name, or may get it back. Registry.mu is held.
func (t *Terminal) named(name string) bool {
	return name != "" && (t.Spec().Name == name || t.claimed == name) && !t.Deleted()
}

// exchange gives a terminal another Spec, and keeps its old name free for settle. Errors: *NameTaken.
func (r *Registry) exchange(t *Terminal, next Spec) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for o := range r.known {
		if o.ID != t.ID && o.spec.Session == next.Session && o.named(next.Name) {
			return &NameTaken{Session: next.Session, Name: next.Name, ID: o.ID}
		}
	}
	t.claimed = t.Spec().Name
	t.given.Store(&next)
	return nil
}

// settle ends what exchange began, with the Spec that the terminal has from now on.
func (r *Registry) settle(t *Terminal, s Spec) {
	r.mu.Lock()
	t.claimed = ""
	t.given.Store(&s)
	r.mu.Unlock()
	t.setPolicy(s.SizePolicy)
	r.changes.Notify()
}

// known yields the terminals that have a name to keep, in no order: those that can be found and those that start. The
// lock is held.
func (r *Registry) known(yield func(*Terminal) bool) {
	for t := range r.starting {
		if !yield(t) {
			return
		}
	}
	for _, t := range r.byID {
		if !yield(t) {
			return
		}
	}
}

// setPolicy tells the viewers' hub, if there is one.
func (t *Terminal) setPolicy(p wire.SizePolicy) {
	if h := t.now(); h != nil && h.SetPolicy(stream.Policy(p)) {
		_ = t.fit(h.EffectiveSize()) // a terminal that has ended has no size to change
	}
}

// apply makes a change of the Spec real: the size, and the record on disk. On an error the size is as before.
func (t *Terminal) apply(in wire.ChangeTerminal, size stream.Size) error {
	t.setPolicy(t.Spec().SizePolicy)
	f := t.facts()
	if in.Cols != nil || in.Rows != nil {
		if err := t.Resize(size.Cols, size.Rows); err != nil {
			return err
		}
	}
	err := t.writeRecord()
	if err != nil && t.Running() {
		_ = t.Resize(f.Cols, f.Rows) // one that ends meanwhile has no size to change
	}
	return err
}
