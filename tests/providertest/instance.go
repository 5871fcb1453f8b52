// Package providertest is a test suite that every provider passes, and what the tests of providers share.
package providertest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Limit is for anything that a test waits for; real services start machines in it.
const Limit = 2 * time.Minute

// Within ends after Limit, or with the test.
func Within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	t.Cleanup(cancel)
	return ctx
}

// Instance is one instance and a directory of its own in it.
type Instance struct {
	provider.Provider
	ID, Dir string
}

// Create makes an instance with the variable OF_INSTANCE. The end of the test destroys it.
func Create(t *testing.T, p provider.Provider) Instance {
	t.Helper()
	i, err := p.Create(Within(t), provider.CreateRequest{Name: "lease-of-" + t.Name(),
		Env: map[string]string{"OF_INSTANCE": "it's set"}})
	if err != nil {
		t.Fatal("create:", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Limit)
		defer cancel()
		if err := p.Destroy(ctx, i.ID); err != nil {
			t.Error("destroy:", err)
		}
	})
	if i.ID == "" || i.State != provider.Running || i.Cwd == "" {
		t.Fatalf("created %+v", i)
	}
	return Instance{p, i.ID, i.Cwd}
}

// Run runs a command, and fails the test on an error.
func (s Instance) Run(t *testing.T, r provider.ExecRequest) (stdout, stderr string, res provider.ExecResult) {
	t.Helper()
	var out, err bytes.Buffer
	res, e := s.Exec(Within(t), s.ID, r, &out, &err)
	if e != nil {
		t.Fatalf("%.80q: %v", r.Command, e)
	}
	return out.String(), err.String(), res
}

// Check runs a command and compares its standard output and its code.
func (s Instance) Check(t *testing.T, command, stdout string, code int) {
	t.Helper()
	out, stderr, r := s.Run(t, provider.ExecRequest{Command: command})
	if out != stdout || r.ExitCode != code || r.TimedOut {
		t.Errorf("%s: stdout %q stderr %q %+v; want %q, %d", command, out, stderr, r, stdout, code)
	}
}

// Output is what a command prints.
func (s Instance) Output(t *testing.T, command string) string {
	t.Helper()
	out, _, _ := s.Run(t, provider.ExecRequest{Command: command})
	return out
}

// Gone fails the test when a process of the instance does not end. A file there has its id.
func (s Instance) Gone(t *testing.T, file string) {
	t.Helper()
	s.Check(t, "p=$(cat "+file+") && [ -n \"$p\" ] && for i in $(seq 600); do "+
		"kill -0 $p 2>/dev/null || { echo gone; break; }; sleep 0.1; done", "gone\n", 0)
}
