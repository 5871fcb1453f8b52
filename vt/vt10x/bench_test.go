package vt10x

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	lib "github.com/hinshun/vt10x"

	"github.com/evertty/evertty/vt"
)

// workloads are what BenchmarkWrite prints, on the engine and on the library alone.
func workloads() map[string][]byte {
	var plain, colour, cursor bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&plain, "%06d the quick brown fox jumps over the lazy dog, and again %d\r\n", i, i*i)
		fmt.Fprintf(&colour, "\x1b[%dm%06d\x1b[0m \x1b[1;3%dmbold\x1b[0m plain \x1b[48;5;%dmback\x1b[m\r\n", 30+i%8, i,
			i%8, i%256)
		fmt.Fprintf(&cursor, "\x1b[%d;%dHat\x1b[K\x1b[%dC.\x1b[2J\x1b[%dA", i%24+1, i%80+1, i%9+1, i%5+1)
	}
	return map[string][]byte{"plain": plain.Bytes(), "colour": colour.Bytes(), "cursor": cursor.Bytes()}
}

func BenchmarkWrite(b *testing.B) {
	for name, data := range workloads() {
		for subject, w := range map[string]io.Writer{
			"engine":  writer{New(vt.Config{Cols: 80, Rows: 24, Scrollback: vt.DefaultScrollback})},
			"library": lib.New(lib.WithSize(80, 24)),
		} {
			b.Run(name+"/"+subject, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for p := data; len(p) > 0; {
						n := min(len(p), 32<<10)
						_, _ = w.Write(p[:n])
						p = p[n:]
					}
				}
			})
		}
	}
}

// writer is an engine as an io.Writer.
type writer struct{ vt.Engine }

func (w writer) Write(p []byte) (int, error) {
	w.Engine.Write(p)
	return len(p), nil
}

func BenchmarkFreeze(b *testing.B) {
	e := New(vt.Config{Cols: 80, Rows: 24, Scrollback: vt.DefaultScrollback})
	for range 4 {
		e.Write(workloads()["colour"])
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Freeze()
	}
}
