package catalog_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// gated is a writer that takes nothing until it is opened.
type gated struct {
	bytes.Buffer
	open chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(p)
}

// A command has written its last output before it ended, however late somebody takes it, and whoever holds the pipe then.
func TestLocalOutputTakenLate(t *testing.T) {
	var want strings.Builder // more than one read of a copy, less than a pipe
	for i := range 10_000 {
		fmt.Fprintln(&want, i+1)
	}
	for name, to := range map[string]string{"stdout": "", "stderr": " >&2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, word := rent(t, onThisMachine(t)), seconds()
			defer killSleep(t, word)
			late := &gated{open: make(chan struct{})}
			var prompt bytes.Buffer
			outputs := map[string][2]io.Writer{"stdout": {late, &prompt}, "stderr": {&prompt, late}}[name]
			pid := s.dir + "/pid"
			done := make(chan struct{})
			ctx := within(t)
			go func() {
				defer close(done)
				r, err := s.Exec(ctx, s.id, provider.ExecRequest{Command: "echo $$ >" + pid + "; sleep " + word + " & seq 10000" + to + "; exit 3"}, outputs[0], outputs[1])
				if err != nil || r.ExitCode != 3 {
					t.Errorf("%+v, %v", r, err)
				}
			}()
			becomes(t, "the bash has ended", func() bool {
				var n int
				text, _ := os.ReadFile(pid)
				_, err := fmt.Sscan(string(text), &n)
				return err == nil && syscall.Kill(n, 0) != nil
			})
			<-time.After(time.Second) // four times what output is waited for after that
			close(late.open)
			<-done
			if late.String() != want.String() || prompt.Len() > 0 {
				t.Errorf("%d bytes of %d came, and %q besides", late.Len(), want.Len(), prompt.String())
			}
		})
	}
}

// What a command leaves in the background can neither hold its end by writing on and on, nor by holding input that nobody reads.
func TestLocalBusyBackground(t *testing.T) {
	for name, c := range map[string]struct {
		left  string
		stdin []byte
	}{
		"writes":       {left: "yes &"},
		"holds input":  {left: "sleep SECONDS <&0 >/dev/null 2>&1 &", stdin: make([]byte, 1<<20)},
		"holds all":    {left: "sleep SECONDS <&0 &", stdin: make([]byte, 1<<20)},
		"reads nobody": {stdin: make([]byte, 1<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, word := rent(t, onThisMachine(t)), seconds()
			defer killSleep(t, word)
			_, stderr, r := s.do(t, provider.ExecRequest{Command: strings.ReplaceAll(c.left, "SECONDS", word) + "\necho end >&2; exit 3", Stdin: c.stdin})
			if r.ExitCode != 3 || stderr != "end\n" {
				t.Errorf("%+v, %q", r, stderr)
			}
		})
	}
}
