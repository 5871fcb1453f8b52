package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

func files(t *testing.T, s spot) {
	data := make([]byte, 300_001)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	for name, content := range map[string][]byte{
		"/bin": data, "/empty": {}, "/new/dir/text": []byte("größe\r\nno newline"),
		"/name 'with' \"much\" $HOME ü": []byte("x"), "/-dash": []byte("\x00"),
	} {
		path := s.dir + name
		for range 2 { // the second time it is replaced
			if err := s.WriteFile(within(t), s.id, path, content); err != nil {
				t.Fatalf("write %s: %v", name, err)
			}
		}
		got, err := s.ReadFile(within(t), s.id, path, int64(len(content))+1)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), err)
		}
	}
	if err := s.WriteFile(within(t), s.id, s.dir+"/bin", []byte("short")); err != nil {
		t.Fatal(err)
	}
	s.sh(t, "cat "+s.dir+"/bin", "short", 0)
	s.sh(t, "printf 'made inside' >"+s.dir+"/inside", "", 0)
	if got, err := s.ReadFile(within(t), s.id, s.dir+"/inside", 100); string(got) != "made inside" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func fileErrors(t *testing.T, s spot) {
	if _, err := s.ReadFile(within(t), s.id, s.dir+"/absent", 100); !errors.Is(err, provider.ErrNoFile) ||
		errors.Is(err, provider.ErrNotFound) {
		t.Errorf("read of none: %v", err)
	}
	if _, err := s.ListDir(within(t), s.id, s.dir+"/absent"); !errors.Is(err, provider.ErrNoFile) ||
		errors.Is(err, provider.ErrNotFound) {
		t.Errorf("list of none: %v", err)
	}
	if err := s.WriteFile(within(t), s.id, s.dir+"/ten", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadFile(within(t), s.id, s.dir+"/ten", 9); !errors.Is(err, provider.ErrTooLarge) {
		t.Errorf("more than allowed: %v", err)
	}
	if got, err := s.ReadFile(within(t), s.id, s.dir+"/ten", 10); err != nil || string(got) != "0123456789" {
		t.Errorf("just what is allowed: %q %v", got, err)
	}
	if err := s.WriteFile(within(t), s.id, s.dir+"/ten/below", nil); err == nil {
		t.Error("written below a file")
	}
	if _, err := s.ReadFile(within(t), s.id, s.dir, 1<<20); err == nil {
		t.Error("a directory was read")
	}
}

func list(t *testing.T, s spot) {
	s.sh(t, "mkdir -p "+s.dir+"/l/sub && printf 12345 >"+s.dir+"/l/five && printf x >'"+s.dir+"/l/a b ü' && : >"+s.dir+
		"/l/.hidden && printf x >"+s.dir+"/l/sub/below", "", 0)
	got, err := s.ListDir(within(t), s.id, s.dir+"/l")
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]provider.File{}
	for _, f := range got {
		by[f.Name] = f
		if f.Path != s.dir+"/l/"+f.Name {
			t.Errorf("the path of %s is %s", f.Name, f.Path)
		}
		if f.MTime.IsZero() || time.Since(f.MTime).Abs() > time.Hour {
			t.Errorf("%s changed at %v", f.Name, f.MTime)
		}
	}
	if len(got) != 4 || !by["sub"].Dir || by["five"].Dir || by["five"].Size != 5 || by["a b ü"].Size != 1 ||
		by[".hidden"].Name == "" {
		t.Errorf("%+v", got)
	}
	s.sh(t, "mkdir -p "+s.dir+"/nothing", "", 0)
	if got, err := s.ListDir(within(t), s.id, s.dir+"/nothing"); err != nil || len(got) != 0 {
		t.Errorf("of an empty one: %v, %v", got, err)
	}
}

func metrics(t *testing.T, s spot) {
	m, err := s.Metrics(within(t), s.id)
	if !s.Capabilities().Metrics {
		if !errors.Is(err, provider.ErrUnsupported) {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.MemoryTotalMB == nil || *m.MemoryTotalMB < 16 || m.MemoryUsedMB == nil || *m.MemoryUsedMB < 0 ||
		*m.MemoryUsedMB > *m.MemoryTotalMB {
		t.Errorf("memory %v of %v", m.MemoryUsedMB, m.MemoryTotalMB)
	}
	if m.CPUPercent == nil || *m.CPUPercent < 0 || *m.CPUPercent > 6400 {
		t.Errorf("processor %v", m.CPUPercent)
	}
	if m.DiskTotalGB == nil || *m.DiskTotalGB <= 0 || m.DiskUsedGB == nil || *m.DiskUsedGB > *m.DiskTotalGB {
		t.Errorf("disk %v of %v", m.DiskUsedGB, m.DiskTotalGB)
	}
}

// screen reads a terminal all the time.
type screen struct {
	provider.PTY
	mu   chan struct{} // holds one value
	text strings.Builder
	end  chan error
}

// open opens a terminal, or sees that there is none.
func (s spot) open(t *testing.T, r provider.PTYRequest) *screen {
	t.Helper()
	p, err := s.OpenPTY(within(t), s.id, r)
	if !s.Capabilities().PTY {
		if !errors.Is(err, provider.ErrUnsupported) {
			t.Fatalf("no terminals, but %v", err)
		}
		t.Skip("ErrUnsupported, as it says")
	}
	if err != nil {
		t.Fatal(err)
	}
	sc := &screen{PTY: p, mu: make(chan struct{}, 1), end: make(chan error, 1)}
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
	t.Cleanup(func() { p.Close() })
	return sc
}

func (sc *screen) String() string {
	sc.mu <- struct{}{}
	defer func() { <-sc.mu }()
	return sc.text.String()
}

func (sc *screen) wait(t *testing.T, pattern string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	if !poll(func() bool { return re.MatchString(sc.String()) }) {
		t.Fatalf("no %s in %q", pattern, sc)
	}
}

func (sc *screen) send(t *testing.T, text string) {
	t.Helper()
	if n, err := sc.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("%d bytes written, %v", n, err)
	}
}

// over waits for the end of the output.
func (sc *screen) over(t *testing.T) error {
	t.Helper()
	select {
	case err := <-sc.end:
		return err
	case <-time.After(limit):
		t.Fatalf("the terminal did not end: %q", sc)
		return nil
	}
}

func terminal(t *testing.T, s spot) {
	sc := s.open(t, provider.PTYRequest{Cols: 83, Rows: 27, Cwd: s.dir, Env: map[string]string{"OF_PTY": "mine"}})
	if _, known := sc.Exit(); known {
		t.Error("it has an exit code already")
	}
	sc.send(t, "echo $((6*7))-$OF_PTY-$TERM; stty size\r")
	sc.wait(t, `42-mine-xterm-256color\r\n27 83\r\n`)
	if err := sc.Resize(within(t), 101, 33); err != nil {
		t.Fatal(err)
	}
	sc.send(t, "stty size; pwd -P\r")
	sc.wait(t, `33 101\r\n`)
	sc.send(t, "printf 'größe ✓ %s\\n' end\r")
	sc.wait(t, `[\r\n]größe ✓ end\r\n`)
	sc.send(t, "seq 1 20000; echo all\"\"printed\r")
	sc.wait(t, `19999\r\n20000\r\nallprinted\r\n`)
	sc.send(t, "exit 3\r")
	if err := sc.over(t); err != io.EOF {
		t.Errorf("ended with %v", err)
	}
	if code, known := sc.Exit(); code != 3 || !known {
		t.Errorf("exit %d, %v", code, known)
	}
	if _, err := sc.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a further read: %v", err)
	}
}

func terminalProgram(t *testing.T, s spot) {
	sc := s.open(t, provider.PTYRequest{Argv: []string{"bash", "-c",
		"tty >/dev/null && printf 'it is <%s>' \"$1\"; exit 4", "x", "a 'b' $c"}, Cols: 80, Rows: 24})
	if err := sc.over(t); err != io.EOF {
		t.Errorf("ended with %v", err)
	}
	if code, known := sc.Exit(); code != 4 || !known || !strings.HasSuffix(sc.String(), "it is <a 'b' $c>") {
		t.Errorf("exit %d, %v, %q", code, known, sc)
	}
}

// terminalClosed: the program gets a hangup, and nothing of it stays.
func terminalClosed(t *testing.T, s spot) {
	file := s.dir + "/pty.pid"
	sc := s.open(t, provider.PTYRequest{Cols: 80, Rows: 24})
	sc.send(t, "sleep 300 & echo $! >"+file+"; sleep 300\r")
	becomes(t, "the program has told its process id", func() bool {
		data, err := s.ReadFile(context.Background(), s.id, file, 100)
		return err == nil && len(data) > 1
	})
	if err := sc.Close(); err != nil {
		t.Error(err)
	}
	sc.over(t)
	s.gone(t, file)
	if err := sc.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
}
