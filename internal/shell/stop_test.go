package shell

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestStopAnswersChanges: changes of the state of a remote shell that wait when it is stopped are refused and do not
// happen; later ones do.
func TestStopAnswersChanges(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Remote = &Remote{Program: []string{"sh", "-c", "sleep 1000", "relay"},
		Ready:   func(context.Context, RemoteCommand) (bool, error) { return false, nil },
		Outcome: func(string) error { return nil }}
	s, err := Start(c, Spec{ID: fmt.Sprintf("t%d", shells.Add(1)), Dir: t.TempDir(), Cwd: "/there", Provider: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s) })
	e := begin(t, s, Command{Text: "echo runs"})
	answers := make(chan error, 2)
	go func() { answers <- s.SetEnv(limited(t), map[string]string{"A": "1"}, nil) }()
	go func() {
		_, err := s.Roll(limited(t), "/elsewhere", map[string]string{"B": "2"}, nil)
		answers <- err
	}()
	if !poll(func() bool { return s.Stats().Queued == 2 }) {
		t.Fatal("the changes do not wait")
	}
	if err := s.Stop(limited(t), "enough"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-answers; !errors.Is(err, ErrBadEnv) {
			t.Errorf("error %v", err)
		}
	}
	// Its relay may end with the shell before the cancel is seen.
	if r := result(t, e); !r.Cancelled && !r.ShellEnded || r.Reason != "enough" {
		t.Errorf("%+v", r)
	}
	if now := s.State(); now.Cwd != "/there" || len(now.Delta) != 0 {
		t.Errorf("%+v", now)
	}
	if err := s.SetEnv(limited(t), map[string]string{"A": "3"}, nil); err != nil || s.State().Delta["A"] != "3" {
		t.Errorf("after the stop: %v, %+v", err, s.State())
	}
}
