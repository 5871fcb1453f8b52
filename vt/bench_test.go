package vt_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/evertty/evertty/vt"
)

// benchEngine is a native engine as a session has it.
func benchEngine(cols, rows int) vt.Engine {
	return vt.NewEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: vt.DefaultScrollback})
}

// benchWrite writes data in pieces of n bytes, as reads of a PTY give it.
func benchWrite(e vt.Engine, data []byte, n int) {
	for len(data) > 0 {
		k := min(n, len(data))
		e.Write(data[:k])
		data = data[k:]
	}
}

// fills are the histories of the benchmarks that are not about writing.
var fills = []struct {
	name string
	part func(w *output)
}{{"plain", (*output).logLine}, {"colour", (*output).colouredLine}, {"mixed", (*output).command}}

// full is an engine with all the history it may have.
func full(b *testing.B, part func(w *output)) vt.Engine {
	e := benchEngine(benchCols, benchRows)
	for size := 1 << 20; e.Freeze().History.Len() < vt.DefaultScrollback; size *= 2 {
		if size > 64<<20 {
			b.Fatal("the history does not fill")
		}
		benchWrite(e, benchInput(part, size), 4096)
	}
	return e
}

// BenchmarkWrite is the time from bytes to state and viewers' text, in one
// terminal that goes on.
func BenchmarkWrite(b *testing.B) {
	for _, w := range workloads {
		b.Run(w.name, func(b *testing.B) {
			data := benchInput(w.part, 256<<10)
			e := benchEngine(benchCols, benchRows)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				benchWrite(e, data, w.write)
			}
		})
	}
}

// BenchmarkFreeze is what a snapshot costs the terminal that goes on.
func BenchmarkFreeze(b *testing.B) {
	for _, f := range fills {
		b.Run(f.name, func(b *testing.B) {
			e := full(b, f.part)
			b.ReportAllocs()
			for b.Loop() {
				e.Write([]byte("x\r\n")) // another line, else the frame could be the same
				e.Freeze()
			}
		})
	}
}

// BenchmarkResize reflows the whole history there and back.
func BenchmarkResize(b *testing.B) {
	for _, f := range fills {
		b.Run(f.name, func(b *testing.B) {
			e := full(b, f.part)
			b.ReportAllocs()
			for b.Loop() {
				e.Resize(benchCols+20, benchRows)
				e.Resize(benchCols, benchRows)
			}
		})
	}
}

// BenchmarkMemory reports the bytes of heap of one terminal, and what Memory
// says about it. Its time is the time to make and fill one.
func BenchmarkMemory(b *testing.B) {
	b.Run("idle", func(b *testing.B) { benchMemory(b, nil) })
	for _, f := range fills {
		b.Run(f.name, func(b *testing.B) { benchMemory(b, benchInput(f.part, 2<<20)) })
	}
}

func benchMemory(b *testing.B, data []byte) {
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the first may only finish what had begun
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	made := func() vt.Engine {
		e := benchEngine(benchCols, benchRows)
		benchWrite(e, data, 4096)
		return e
	}
	var some [8]vt.Engine
	before := heap()
	for i := range some {
		some[i] = made()
	}
	size := float64(heap()-before) / float64(len(some))
	for b.Loop() {
		some[0] = made()
	}
	b.ReportMetric(size, "heap-B")
	b.ReportMetric(float64(some[0].Memory()), "Memory-B")
}

// BenchmarkTracker is what it costs to be told of each line, next to a terminal that
// tells nobody.
func BenchmarkTracker(b *testing.B) {
	var in []byte
	for i := range 100_000 {
		in = fmt.Appendf(in, "%d\r\n", 1_000_000+i)
	}
	c := vt.Config{Cols: 80, Rows: 24, Scrollback: 1000}
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		e := vt.NewEngine(c)
		for b.Loop() {
			e.Write(in)
		}
	})
	b.Run("watched", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		w, found := vt.NewTracker(c), 0
		w.Begin(0, vt.TrackerHooks{Line: func(l vt.TextLine) {
			if bytes.Contains(l.Text, []byte("never")) {
				found++
			}
		}})
		for b.Loop() {
			w.Write(in)
		}
	})
}
