package stream_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// BenchmarkHub is output on its way through a hub to viewers that take each piece: a flood, the echo of one
// key, and a new title with each piece.
func BenchmarkHub(b *testing.B) {
	flood := bytes.Repeat([]byte("\x1b[32mok\x1b[0m  package/of/a/build  0.123s\r\n"), 1600)
	for _, viewers := range []int{0, 1, 16} {
		for name, p := range map[string][]byte{
			"flood": flood, "echo": []byte("x"), "title": []byte("\x1b]0;a\ax"),
		} {
			b.Run(name+"/"+strconv.Itoa(viewers), func(b *testing.B) {
				h := stream.New(stream.Options{ID: "a", Engine: vt.NewEngine,
					Config: vt.Config{Cols: 80, Rows: 24, Scrollback: vt.DefaultScrollback}})
				subs := make([]*stream.Subscription, viewers)
				for i := range subs {
					subs[i] = h.Subscribe(stream.SubscribeOptions{Scrollback: -1})
					defer subs[i].Close()
				}
				b.SetBytes(int64(len(p)))
				b.ReportAllocs()
				for b.Loop() {
					h.Write(p)
					for _, s := range subs {
						if _, err := s.Poll(); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
