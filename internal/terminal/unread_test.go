package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/wire"
)

// TestCtrlCBeforeManyAnswers: ^C reaches a program that asks and asks, while nobody can tell whether it reads
// the answers.
func TestCtrlCBeforeManyAnswers(t *testing.T) {
	m := openNative(t)
	term := supervisortest.Start(t, m, "bash", "-c", `i=0
		while :; do printf '\e[6n'; ((++i == 500)) && echo ready; done`)
	see(t, term, "ready")
	supervisortest.TypeIn(t, term, "\x03")
	select {
	case <-term.Done():
	case <-time.After(10 * time.Second):
		t.Error("10 s later it goes on")
	}
}

// TestUnreadAnswersDelayNoError: input for a program that reads neither it nor the answers to its queries fails
// when its time is over, however many calls there are.
func TestUnreadAnswersDelayNoError(t *testing.T) {
	t.Parallel()
	m := openNative(t)
	term := supervisortest.Start(t, m, "bash", "-c", `stty raw -echo; i=0
		while :; do printf '\e[6n'; ((++i == 5000)) && echo ready; done`)
	see(t, term, "ready")
	more := bytes.Repeat([]byte("x"), 128<<10) // than a PTY holds: the answers need not have filled it yet
	start := time.Now()
	failed := make(chan error)
	for range 3 {
		go func() {
			_, err := term.Input(context.Background(), more)
			failed <- err
		}()
	}
	for range 3 {
		if err := <-failed; !errors.Is(err, pty.ErrBlocked) {
			t.Errorf("got %v, want %v", err, pty.ErrBlocked)
		}
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %v, more than the 10 s of one call", took)
	}
}

func TestInputToAProgramThatDoesNotRead(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "stty raw -echo; printf ready; exec sleep 1000")
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "ready"})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := term.Input(ctx, make([]byte, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "of 1048576 bytes were taken") {
		t.Errorf("%v, want how many bytes were taken", err)
	}
	if err := m.Terminals.Delete(context.Background(), term, true); err != nil {
		t.Error(err)
	}
}
