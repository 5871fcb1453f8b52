package vt_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// hostile makes output that takes as much memory as it can, part i of it.
var hostile = map[string]func(i int) string{
	"links":             func(i int) string { return fmt.Sprintf("\x1b]8;;http://%0900d\ax", i) },
	"links with ids":    func(i int) string { return fmt.Sprintf("\x1b]8;id=%02000d;http://%02000d\axy", i, i) },
	"links that repeat": func(i int) string { return fmt.Sprintf("\x1b]8;;http://%02000d\ax", i%2) },
	"parameters":        func(i int) string { return fmt.Sprintf("\x1b]8;a=%060000d:id=%d;http://%d\ax", i, i, i) },
	"truecolours": func(i int) string {
		return fmt.Sprintf("\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dmx", i%256, i/256%256, i%251, i%249, i%247, i%241)
	},
	"marks": func(i int) string {
		return "a" + strings.Repeat("\U0001d165", 20) + strings.Repeat("\u0301", i%3)
	},
	"marks in cells": func(i int) string {
		return "\x1b[" + fmt.Sprint(i%999+1) + "Ga" + strings.Repeat("\u0301", 20) + "\b"
	},
	"titles": func(i int) string { return fmt.Sprintf("\x1b]2;%065000d\a\x1b]1;%065000d\a", i, i+1) },
	"cells":  func(i int) string { return fmt.Sprintf("\x1b[%d;%dHx", i%1000+1, 1000-i%977) },
	"both screens": func(i int) string {
		return fmt.Sprintf("\x1b[?%dh\x1b[38;2;%d;%d;1mxyz", 1047+i/5000%2, i%256, i/256%256)
	},
	"repeated": func(i int) string { return fmt.Sprintf("\x1b]8;;http://%01000d\ax\x1b[999999b", i) },
	"plain":    func(i int) string { return fmt.Sprintf("%0200d\r\n", i) },
}

// cellsOf is what plain cells of both screens take at most, in bytes: they always stay.
func cellsOf(cols, rows int) int { return 2 * (cols*rows*32 + rows*256) }

// TestMemoryIsBounded: whatever a program prints, the state stays below the bound, and
// what the engine says of it is true.
//
// Each is given one and a half to three times what its bound is, so all that is let go
// for want of memory is. Under the race detector the large one is half as large.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("fills the memory of a terminal")
	}
	large := few(2, 1)
	for engine, newEngine := range bothEngines {
		for name, part := range hostile {
			for _, c := range []struct{ cols, rows, limit, size int }{{80, 24, 1 << 20, few(3, 2) << 20},
				{500 * large, 50 * large, large * 4 << 20, large * 6 << 20}} {
				if engine == "vt10x" && c.cols > 80 {
					continue // slow
				}
				if name == "repeated" {
					c.size /= 16
				}
				what := fmt.Sprintf("%s, %s on %dx%d in %d MiB", engine, name, c.cols, c.rows, c.limit>>20)
				bounded(t, what, newEngine(vt.Config{Cols: c.cols, Rows: c.rows, Scrollback: vt.MaxScrollback,
					Memory: c.limit}),
					part, c.size, max(c.limit, cellsOf(c.cols, c.rows)))
			}
		}
	}
}

// bounded writes size bytes and looks at the memory.
func bounded(t *testing.T, what string, e vt.Engine, part func(i int) string, size, limit int) {
	t.Helper()
	before := heap()
	var out bytes.Buffer
	for i, n := 0, 0; n < size; {
		for out.Len() < 16<<10 {
			out.WriteString(part(i))
			i++
		}
		n += out.Len()
		if e.Write(out.Bytes()); e.Memory() > limit {
			t.Errorf("%s: after %d bytes of output the state has %d, more than %d", what, n, e.Memory(), limit)
			return
		}
		out.Reset()
	}
	out = bytes.Buffer{}
	if n, really := e.Memory(), int(heap()-before); really > n+n/2+(1<<20) || n > really+really/2+(1<<20) {
		t.Errorf("%s: the state says %d bytes and takes %d", what, n, really)
	}
	if f := e.Freeze(); f.Memory() > 3*limit+(8<<20) {
		t.Errorf("%s: a frame of it has %d bytes", what, f.Memory())
	}
	e.Resize(30, 10)
	e.Resize(90, 30)
	if n := e.Memory(); n > limit {
		t.Errorf("%s: after a resize the state has %d bytes", what, n)
	}
	runtime.KeepAlive(e)
}

// heap is the memory in use, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHistoryGoesFirst: with little memory the newest lines and all links of the screen
// stay; without enough for the screen its links lose their targets, and no text does.
// vt10x keeps links in the history alone (ADR 94).
func TestHistoryGoesFirst(t *testing.T) {
	for engine, newEngine := range bothEngines {
		e := newEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 5000, Memory: 1 << 20})
		for i := range 5000 {
			fmt.Fprintf(writerOf{e}, "\x1b]8;;http://%0800d\aline %d\x1b]8;;\a\r\n", i, i)
		}
		f := e.Freeze()
		lines := append(f.History.Slice(), f.Main.Lines...)
		if n := f.History.Len(); n < 200 || n > 1200 {
			t.Errorf("%s: %d lines of history in 1 MiB", engine, n)
		}
		for i, l := range lines[:len(lines)-1] {
			want := fmt.Sprintf("line %d", 5000-len(lines)+1+i)
			linked := engine != "vt10x" || i < f.History.Len()
			if l.Text() != want || strings.Contains(l.Packed(), "http://") != linked {
				t.Fatalf("%s: line %d of %d is %q, want %q with a link", engine, i, len(lines), l.Text(), want)
			}
		}
		e = newEngine(vt.Config{Cols: 200, Rows: 60, Scrollback: 5000, Memory: 1 << 20})
		for i := range 200 * 59 {
			fmt.Fprintf(writerOf{e}, "\x1b]8;;http://%0800d\ax", i)
		}
		f = e.Freeze()
		text := snapshot.Text(f, 0)
		if strings.Count(text, "x") != 200*59 {
			t.Errorf("%s: %d characters are left", engine, strings.Count(text, "x"))
		}
		if size := f.Memory(); size > 3<<20 {
			t.Errorf("%s: the frame has %d bytes", engine, size)
		}
	}
}

// writerOf is an engine as an io.Writer.
type writerOf struct{ vt.Engine }

func (w writerOf) Write(p []byte) (int, error) {
	w.Engine.Write(p)
	return len(p), nil
}

// TestSavedCursorWithoutHistory: lines that go for want of memory move the saved cursor
// up, as in a viewer, whose history goes on.
func TestSavedCursorWithoutHistory(t *testing.T) {
	for engine, newEngine := range bothEngines {
		e := newEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 5000, Memory: 1 << 20})
		viewer := newEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 5000, Memory: 64 << 20})
		for i := range 3000 {
			line := fmt.Appendf(nil, "\x1b]8;;http://%0800d\aline %d\x1b7\r\n", i, i)
			viewer.Write(e.Write(line))
		}
		viewer.Write(e.Write([]byte("\x1b8here")))
		a, b := e.Freeze(), viewer.Freeze()
		a.History, b.History = vt.Lines{}, vt.Lines{}
		if engine == "vt10x" { // REP repeats a cell of the pen's style, and no cell of its screen has the pen's link
			a.LastChar, b.LastChar = 0, 0
		}
		if d := snapshot.Differences(b, a); len(d) > 0 {
			t.Errorf("%s: %s", engine, strings.Join(d, "\n"))
		}
	}
}
