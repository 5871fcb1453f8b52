package vt10x

import (
	"bytes"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/vt"
)

// hostile are inputs that hang, crash or starve the library or a careless adapter.
func hostile() []string {
	in := []string{
		"\x1b[2000000000I", "ab\x1b[9223372036854775807Z", "x\x1b[9223372036854775807P", "x\x1b[9223372036854775807@",
		"\x1b[-5P", "\x1b[-5@", "\x1b[-1X\x1b[-1L\x1b[-1S", "\x1b[9999999999\u4e49",
		"\x1b[5;5H\x1b[9223372036854775807C",
		"a\x1b[2147483647b", "\x1b[?7la\x1b[2147483647b", "\x1b[4ha\x1b[2147483647b",
		"\x1b]4;99999999999;rgb:1/1/1\a\x1b]4;-1;#fff\a\x1b]10;#zzz\a\x1b]4;1;rgb:\a\x1b]104;;;-1;256\a\x1b]4;?;?\a",
		"\x1b[" + strings.Repeat("9", 100_000) + "m", "\x1b[" + strings.Repeat(";", 100_000) + "H",
		"\x1b[" + strings.Repeat(":", 100_000) + "m", "\x1b[38" + strings.Repeat(":5", 5000) + "m",
		"\x1b]0;" + strings.Repeat("x", 1<<20), "\x1bP" + strings.Repeat("q", 1<<20),
		"\x1b_" + strings.Repeat("\x1b", 1<<17),
		strings.Repeat("\x1b[1;1H\x1b[2J", 1000), strings.Repeat("\xff", 1<<12),
		strings.Repeat("\x1b[?1049h\x1b[?1049l", 1000),
		strings.Repeat("\x1bc", 1000), strings.Repeat("\x1b#8", 100), strings.Repeat("\x1b[?6h\x1b[?6l\x1b[r", 1000),
	}
	for final := '@'; final <= '~'; final++ {
		for _, n := range []string{"0", "9223372036854775807", "-1", "1;2147483647"} {
			for _, pre := range []string{"", "?", " ", "'"} {
				if pre == " " || pre == "'" {
					in = append(in, "abc\x1b["+n+pre+string(final))
				} else {
					in = append(in, "abc\x1b["+pre+n+string(final))
				}
			}
		}
	}
	return in
}

// cpu is the processor time of this thread: a busy machine does not show in it.
func cpu(t *testing.T) time.Duration {
	const thread = 1 // RUSAGE_THREAD (getrusage(2))
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestHostileInput(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Some 20 ms without the race detector on an idle core; a library that hangs takes minutes.
	const limit = 10 * time.Second
	for _, size := range [][2]int{{80, 24}, {1, 50}, {200, 60}} {
		for _, in := range hostile() {
			e := newEngine(size[0], size[1], nil)
			begin := cpu(t)
			e.Write([]byte(in))
			if took := cpu(t) - begin; took >= limit {
				t.Errorf("%dx%d: %.60q takes %v", size[0], size[1], in, took)
			}
			check(t, e)
		}
	}
}

func TestHostileSizes(t *testing.T) {
	e := newEngine(80, 24, nil)
	for _, size := range [][2]int{{0, 0}, {-1, -1}, {1 << 30, 1 << 30}, {1, 1}, {2, 1000}, {1000, 2}, {80, 24}} {
		e.Resize(size[0], size[1])
		e.Write([]byte("\x1b[999;999Hx\x1b[?1049hy\n\x1b[?1049l\x1b[10;20r\x1b[3;3Hz\tw\n\n"))
		check(t, e)
		f := e.Freeze()
		if f.Cols < vt.MinSize || f.Cols > vt.MaxSize || f.Rows < vt.MinSize || f.Rows > vt.MaxSize {
			t.Errorf("%v became %dx%d", size, f.Cols, f.Rows)
		}
	}
}

// TestPanicOfTheLibrary: a count that makes the library panic costs nothing that is on the screen,
// and the engine says so once.
func TestPanicOfTheLibrary(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)

	e := newEngine(10, 3, nil)
	for range 3 {
		feed(e, "one\r\n\n\n\nabc\x1b[2D\x1b[9223372036854775807P", 100)
		e.Write([]byte("d\x1b[31me\r\nf"))
		check(t, e)
		f := e.Freeze()
		if got, want := texts(f.History.Slice()), []string{"one", "", ""}; !slices.Equal(got, want) {
			t.Errorf("history %q, want %q", got, want)
		}
		if got, want := texts(f.Main.Lines), []string{"", "ade", "f"}; !slices.Equal(got, want) {
			t.Errorf("screen %q, want %q", got, want)
		}
		e.Write([]byte("\x1bc"))
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "library panicked") {
		t.Errorf("logged %d lines: %s", n, log.String())
	}
}

func TestMemory(t *testing.T) {
	e := newEngine(80, 24, nil)
	empty := e.Memory()
	feed(e, strings.Repeat("some line of text\r\n", 1000), 4096)
	full := e.Memory()
	if full < empty+100*len("some line of text") || full > empty+100*200 {
		t.Errorf("from %d to %d bytes with 100 lines of history", empty, full)
	}
	feed(e, "\x1b[3J", 4096)
	if got := e.Memory(); got > empty+2000 {
		t.Errorf("%d bytes after ED 3, %d before", got, empty)
	}
}
