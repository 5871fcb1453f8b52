package shell

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestQueueTimeout: a command that does not get its turn in time fails and never runs; its time to run does not count
// while it waits; places are told.
func TestQueueTimeout(t *testing.T) {
	t.Parallel()
	s := start(t)
	hung := begin(t, s, Command{Text: "sleep 1000"})
	first := queueUp(t, s, Command{Text: "echo first; sleep 0.05", Timeout: 10 * time.Second})
	late := queueUp(t, s, Command{Text: "touch ran", QueueTimeout: 20 * time.Millisecond})
	last := queueUp(t, s, Command{Text: "ls ran", QueueTimeout: time.Hour})
	if a, b, c := first.Info().Position, last.Info().Position, hung.Info().Position; a != 1 || b < 2 || c != 0 {
		t.Errorf("places %d, %d, %d", a, b, c)
	}
	if r, err := late.Wait(limited(t)); !errors.Is(err, ErrQueueTimeout) {
		t.Errorf("%+v, %v", r, err)
	}
	if i := late.Info(); i.Status != Failed || !strings.Contains(i.Error, "20ms") || i.Position != 0 {
		t.Errorf("%+v", i)
	}
	if n := last.Info().Position; n != 2 {
		t.Errorf("place %d", n)
	}
	hung.Cancel()
	if r := result(t, first); r.ExitCode != 0 || r.out != "first\n" {
		t.Errorf("%+v", r)
	}
	if r := result(t, last); r.ExitCode != 2 || r.out != "" {
		t.Errorf("it has run: %+v", r)
	}
}

// TestQueueTimeoutOverServers: the bound counts from the submission, and the next server knows why a command was not
// run.
func TestQueueTimeoutOverServers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	hung := begin(t, s, Command{Text: "sleep 1000"})
	late := queueUp(t, s, Command{Text: "true", QueueTimeout: time.Millisecond})
	if _, err := late.Wait(limited(t)); !errors.Is(err, ErrQueueTimeout) {
		t.Fatal(err)
	}
	all := []*Exec{late}
	const bound = 200 * time.Millisecond
	for range 10 { // their bounds pass under no server: the next one fails them while it takes over the shell
		all = append(all, queueUp(t, s, Command{Text: "true", QueueTimeout: bound}))
	}
	newest := all[len(all)-1].Info().CreatedAt
	all = append(all, queueUp(t, s, Command{Text: "true", QueueTimeout: 600 * time.Millisecond}))
	leave()
	if !poll(func() bool { return time.Since(newest) > bound }) {
		t.Fatal("the time stands still")
	}
	s = nextServer(t, data)
	for _, e := range all {
		if r, err := same(t, s, e).Wait(limited(t)); !errors.Is(err, ErrQueueTimeout) {
			t.Errorf("%+v, %v", r, err)
		}
	}
	same(t, s, hung).Cancel()
}

// queueUp submits a command that waits.
func queueUp(t *testing.T, s *Shell, c Command) *Exec {
	t.Helper()
	e, err := s.Submit(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
