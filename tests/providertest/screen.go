package providertest

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/tests/polling"
)

// Screen reads a terminal all the time.
type Screen struct {
	provider.PTY
	mu   chan struct{} // holds one value
	text strings.Builder
	end  chan error
}

// OpenScreen opens a terminal. It skips the test where the provider says that it has none.
func (s Instance) OpenScreen(t *testing.T, r provider.PTYRequest) *Screen {
	t.Helper()
	p, err := s.OpenPTY(Within(t), s.ID, r)
	if !s.Capabilities().PTY {
		if !errors.Is(err, provider.ErrUnsupported) {
			t.Fatalf("no terminals, but %v", err)
		}
		t.Skip("it has no terminals")
	}
	if err != nil {
		t.Fatal(err)
	}
	sc := &Screen{PTY: p, mu: make(chan struct{}, 1), end: make(chan error, 1)}
	go func() {
		buf := make([]byte, 1000)
		for {
			n, err := p.Read(buf)
			sc.mu <- struct{}{}
			sc.text.Write(buf[:n])
			<-sc.mu
			if err != nil {
				sc.end <- err
				return
			}
		}
	}()
	t.Cleanup(func() { _ = p.Close() })
	return sc
}

// String is all that was printed.
func (sc *Screen) String() string {
	sc.mu <- struct{}{}
	defer func() { <-sc.mu }()
	return sc.text.String()
}

// Wait waits until a pattern was printed.
func (sc *Screen) Wait(t *testing.T, pattern string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	if !polling.Until(Limit, func() bool { return re.MatchString(sc.String()) }) {
		t.Fatalf("no %s in %q", pattern, sc)
	}
}

// Send types a text.
func (sc *Screen) Send(t *testing.T, text string) {
	t.Helper()
	if n, err := sc.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("%d bytes written, %v", n, err)
	}
}

// End waits for the end of the output.
func (sc *Screen) End(t *testing.T) error {
	t.Helper()
	select {
	case err := <-sc.end:
		return err
	case <-time.After(Limit):
		t.Fatalf("the terminal did not end: %q", sc)
		return nil
	}
}

func terminal(t *testing.T, s Instance) {
	sc := s.OpenScreen(t, provider.PTYRequest{Cols: 83, Rows: 27, Cwd: s.Dir, Env: map[string]string{"OF_PTY": "mine"}})
	if _, known := sc.Exit(); known {
		t.Error("it has an exit code already")
	}
	sc.Send(t, "echo $((6*7))-$OF_PTY-$TERM; stty size\r")
	sc.Wait(t, `42-mine-xterm-256color\r\n27 83\r\n`)
	if err := sc.Resize(Within(t), 101, 33); err != nil {
		t.Fatal(err)
	}
	sc.Send(t, "stty size; pwd -P\r")
	sc.Wait(t, `33 101\r\n`)
	sc.Send(t, "printf 'größe ✓ %s\\n' end\r")
	sc.Wait(t, `[\r\n]größe ✓ end\r\n`)
	sc.Send(t, "seq 1 20000; echo all\"\"printed\r")
	sc.Wait(t, `19999\r\n20000\r\nallprinted\r\n`)
	sc.Send(t, "exit 3\r")
	if err := sc.End(t); !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v", err)
	}
	if code, known := sc.Exit(); code != 3 || !known {
		t.Errorf("exit %d, %v", code, known)
	}
	if _, err := sc.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a further read: %v", err)
	}
}

func terminalProgram(t *testing.T, s Instance) {
	sc := s.OpenScreen(t, provider.PTYRequest{Argv: []string{"bash", "-c",
		"tty >/dev/null && printf 'it is <%s>' \"$1\"; exit 4", "x", "a 'b' $c"}, Cols: 80, Rows: 24})
	if err := sc.End(t); !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v", err)
	}
	if code, known := sc.Exit(); code != 4 || !known || !strings.HasSuffix(sc.String(), "it is <a 'b' $c>") {
		t.Errorf("exit %d, %v, %q", code, known, sc)
	}
}

// terminalClosed: the program gets a hangup, and nothing of it stays.
func terminalClosed(t *testing.T, s Instance) {
	file := s.Dir + "/pty.pid"
	sc := s.OpenScreen(t, provider.PTYRequest{Cols: 80, Rows: 24})
	sc.Send(t, "sleep 300 & echo $! >"+file+"; sleep 300\r")
	Becomes(t, "the program has told its process id", func() bool {
		data, err := s.ReadFile(context.Background(), s.ID, file, 100)
		return err == nil && len(data) > 1
	})
	if err := sc.Close(); err != nil {
		t.Error(err)
	}
	_ = sc.End(t)
	s.Gone(t, file)
	if err := sc.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
}
