package vt

import (
	"os"
	"testing"
)

func BenchmarkLab(b *testing.B) {
	for _, n := range []string{"ascii_log", "sgr_dense", "utf8_mixed", "tui_redraw", "scroll_region", "long_lines", "mixed", "small_writes"} {
		data, err := os.ReadFile("/tmp/eng/wl/80x24/" + n + ".bin")
		if err != nil {
			b.Skip(err)
		}
		b.Run(n, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				t := NewTerminal(Config{Cols: 80, Rows: 24, Scrollback: 5000})
				for i := 0; i < len(data); i += 4096 {
					t.Write(data[i:min(i+4096, len(data))])
				}
			}
		})
	}
}
