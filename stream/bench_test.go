package stream_test

import (
	"bytes"
	"testing"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// BenchmarkWrite is output on its way through a hub to a viewer that takes each piece:
// that of a flood, and the echo of one key.
func BenchmarkWrite(b *testing.B) {
	flood := bytes.Repeat([]byte("\x1b[32mok\x1b[0m  package/of/a/build  0.123s\r\n"), 1600)
	for name, p := range map[string][]byte{"flood": flood, "echo": []byte("x")} {
		b.Run(name, func(b *testing.B) {
			h := stream.New(stream.Options{ID: "a", Engine: vt.NewEngine,
				Config: vt.Config{Cols: 80, Rows: 24, Scrollback: vt.DefaultScrollback}})
			s := h.Subscribe(stream.Viewing{Scrollback: -1})
			defer s.Close()
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				h.Write(p)
				if _, err := s.Poll(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
