package providertest

import (
	"bytes"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
)

// Shell runs commands on an instance one after the other, each in the state that the one before has left.
type Shell struct {
	Instance
	State bash.ShellState
}

// Do returns what a command printed to both outputs, and its exit code.
func (s *Shell) Do(t *testing.T, command string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	r := provider.ExecRequest{Command: command}
	res, state, err := bash.ExecIn(Within(t), s.Provider, s.ID, s.State, r, &out, &errs)
	if err != nil {
		t.Fatalf("%q: %v; stderr %q", command, err, errs.String())
	}
	s.State = state
	return out.String(), errs.String(), res.ExitCode
}

// Says fails the test unless a command prints exactly this, nothing to stderr, and succeeds.
func (s *Shell) Says(t *testing.T, command, want string) {
	t.Helper()
	if out, errs, code := s.Do(t, command); out != want || errs != "" || code != 0 {
		t.Errorf("%q: %q, %q, %d; want %q", command, out, errs, code, want)
	}
}
