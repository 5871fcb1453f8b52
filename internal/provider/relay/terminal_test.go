package relay_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"

	"github.com/evertty/evertty/internal/provider/relay"
	"github.com/evertty/evertty/pty"
)

// screen is a relay on a terminal in raw mode, and what came out of that.
type screen struct {
	*pty.Master
	far     *os.File
	resized chan os.Signal
	text    *shared
	code    chan int
	hangUp  context.CancelFunc
}

// show starts the relay of a directory's job, on 83 columns and 27 rows.
func show(t *testing.T, dir string) *screen {
	t.Helper()
	m, far, err := pty.OpenPair(83, 27)
	must(t, err)
	_, err = term.MakeRaw(int(far.Fd()))
	must(t, err)
	s := &screen{Master: m, far: far, resized: make(chan os.Signal, 1), text: &shared{}, code: make(chan int, 1)}
	t.Cleanup(func() { _ = far.Close() })
	t.Cleanup(func() { _ = m.Close() }) // ends the relay's read of what is typed
	go func() { _, _ = io.Copy(s.text, m) }()
	ctx, cancel := context.WithCancel(within(t))
	s.hangUp = cancel
	t.Cleanup(cancel)
	size := func() (cols, rows int) {
		cols, rows, _ = m.Size()
		return cols, rows
	}
	go func() { s.code <- relay.Run(ctx, dir, relay.Screen{In: far, Out: far, Size: size, Resized: s.resized}) }()
	return s
}

func (s *screen) types(t *testing.T, text string) {
	t.Helper()
	_, err := s.Write(within(t), []byte(text))
	must(t, err)
}

func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	becomes(t, "it shows "+text, func() bool { return strings.Contains(s.text.String(), text) })
}

// ends waits for the relay's code.
func (s *screen) ends(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.code:
		return code
	case <-within(t).Done():
		t.Fatalf("it does not end: %q", s.text)
		return 0
	}
}

func program(script string) *relay.Terminal {
	return &relay.Terminal{Argv: []relay.Bytes{relay.Bytes("bash"), relay.Bytes("-c"), relay.Bytes(script)}}
}

func TestTerminalCodes(t *testing.T) {
	t.Parallel()
	w := rent(t)
	for script, want := range map[string]struct {
		code int
		out  string
	}{
		"exit 0":                                {},
		"printf 'last words'; exit 7":           {7, "last words"},
		"exit 255":                              {255, ""},
		"kill -9 $$":                            {137, ""},
		"kill -TERM $$":                         {143, ""},
		`printf %s "$NAME-$TERM"`:               {0, "größe-xterm-256color"},
		`tty >/dev/null && pwd -P | tr -d '\n'`: {0, w.dir},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			p := program(script)
			p.Env = relay.Environ(map[string]string{"NAME": "größe"})
			dir := w.job(t, nil, p)
			s := show(t, dir)
			if code := s.ends(t); code != want.code || untaken(dir) {
				t.Errorf("code %d, want %d; the job is there: %v", code, want.code, untaken(dir))
			}
			s.shows(t, want.out)
			if want.out == "" && s.text.String() != "" {
				t.Errorf("it shows %q", s.text)
			}
		})
	}
}

// The program has the size of the relay's terminal from its beginning, and every later one.
func TestTerminalSize(t *testing.T) {
	t.Parallel()
	w := rent(t)
	s := show(t, w.job(t, nil, program("while read -r line; do case $line in size) stty size;; end) exit 5;; esac; "+
		"done")))
	s.types(t, "size\r")
	s.shows(t, "27 83\r\n")
	for _, size := range []struct {
		cols, rows int
		shown      string
	}{{101, 33, "33 101\r\n"}, {20, 5, "5 20\r\n"}} {
		must(t, s.Resize(size.cols, size.rows))
		s.resized <- syscall.SIGWINCH
		becomes(t, "the size is "+size.shown, func() bool {
			s.types(t, "size\r")
			return strings.Contains(s.text.String(), size.shown)
		})
	}
	must(t, s.Resize(61, 22)) // the signal is late
	s.types(t, "size\r")
	s.shows(t, "22 61\r\n")
	s.types(t, "end\r")
	if code := s.ends(t); code != 5 {
		t.Errorf("code %d", code)
	}
}

// Bytes go both ways as they are.
func TestTerminalCopiesExactly(t *testing.T) {
	t.Parallel()
	w := rent(t)
	s := show(t, w.job(t, nil, program("stty raw -echo; printf READY; head -c 300000 >"+w.dir+"/typed; cat "+w.dir+
		"/typed; exit 6")))
	s.shows(t, "READY")
	var all bytes.Buffer
	for all.Len() < 300_000 {
		// every byte, Ctrl-C and NUL too, in pieces that are no characters
		all.WriteByte(byte(all.Len() * all.Len() >> 8))
	}
	s.types(t, all.String())
	if code := s.ends(t); code != 6 {
		t.Errorf("code %d", code)
	}
	want := "READY" + all.String()
	becomes(t, "all is shown", func() bool { return len(s.text.String()) >= len(want) })
	if s.text.String() != want {
		t.Error("other bytes came back")
	}
}

// A directory that is gone is no reason not to begin.
func TestTerminalWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	w := rent(t)
	p := program("printf begun; exit 4")
	p.Cwd = relay.Bytes(filepath.Join(w.dir, "none"))
	s := show(t, w.job(t, nil, p))
	if code := s.ends(t); code != 4 {
		t.Errorf("code %d", code)
	}
	s.shows(t, "evertty: "+w.dir+"/none is gone\r\nbegun")
}

// The program ends when the relay is told to end, and when its terminal goes.
func TestTerminalHangsUp(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*screen){
		"told to end":      func(s *screen) { s.hangUp() },
		"terminal is gone": func(s *screen) { _ = s.Master.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := rent(t)
			s := show(t, w.job(t, nil, program("echo $$ >"+w.dir+"/pid; exec sleep 100000")))
			w.file(t, "pid")
			end(s)
			w.gone(t, "pid")
			if code := s.ends(t); code == 0 {
				t.Error("as if the program had ended well")
			}
		})
	}
}

func TestTerminalFailures(t *testing.T) {
	t.Parallel()
	w := rent(t)
	write := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, "job"), []byte(text), 0o600)) }
	}
	for name, c := range map[string]struct {
		leave func(t *testing.T, dir string)
		want  string
	}{
		"none": {func(*testing.T, string) {}, "no such file"},
		"cut":  {write(`{"settings":{"env":{"KEY":"secret`), "the job is damaged"},
		"a command's": {func(t *testing.T, dir string) { w.leave(t, dir, w.instance, &relay.Command{}, nil) },
			"for something else"},
		"no provider": {write(`{"settings":{"provider":"nobody"},"terminal":{"argv":[]}}`), `"nobody" is no provider`},
		"no instance": {func(t *testing.T, dir string) { w.leave(t, dir, "none", nil, program("true")) },
			"no such instance"},
		"too large": {func(t *testing.T, dir string) {
			write("")(t, dir)
			must(t, os.Truncate(filepath.Join(dir, "job"), 128<<20+1))
		}, "134217729 bytes, but at most 134217728 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.leave(t, dir)
			s := show(t, dir)
			if code := s.ends(t); code != 255 {
				t.Errorf("code %d", code)
			}
			s.shows(t, c.want)
			if text := s.text.String(); !strings.HasPrefix(text,
				"\r\nevertty: the connection to the program is lost: ") || strings.Count(text, "\n") != 2 ||
				strings.Contains(text, "secret") || untaken(dir) {
				t.Errorf("it shows %q; the job is there: %v", text, untaken(dir))
			}
		})
	}
}
