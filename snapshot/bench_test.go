package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// plainFrame is an 80x24 screen with n lines of 80 plain characters above it.
func plainFrame(n int) *vt.Frame {
	f := &vt.Frame{Cols: 80, Rows: 24, Unicode: vt.Unicode11, Modes: vt.DefaultModes()}
	f.Main.Bottom = 23
	var lines []vt.Line
	for i := range n + 24 {
		var p vt.Packer
		p.ASCII([]byte(fmt.Sprintf("%07d %s", i, strings.Repeat("the quick brown fox jumps ", 3)[:72])), vt.Style{})
		lines = append(lines, p.Line(false))
	}
	f.Main.Lines, f.History = lines[n:], vt.LinesOf(lines[:n]...)
	return f
}

// colourFrame has ten styles in a line, as a compiler or ls prints them.
func colourFrame(n int) *vt.Frame {
	f := plainFrame(0)
	var lines []vt.Line
	for i := range n {
		var p vt.Packer
		for k := range 10 {
			s := vt.Style{FG: vt.PaletteColor(uint8((i + k) % 16))}
			if k%3 == 0 {
				s = vt.Style{Attr: vt.Bold, BG: vt.RGBColor(uint8(i), uint8(k), 9)}
			}
			p.ASCII([]byte("12345678"), s)
		}
		lines = append(lines, p.Line(false))
	}
	f.History = vt.LinesOf(lines...)
	return f
}

var benchFrames = []struct {
	name  string
	frame *vt.Frame
}{{"screen", plainFrame(0)}, {"plain5000", plainFrame(5000)}, {"colour5000", colourFrame(5000)}}

func bench(b *testing.B, run func(*vt.Frame) int) {
	for _, f := range benchFrames {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = run(f.frame)
			}
			b.ReportMetric(float64(n), "bytes")
		})
	}
}

func BenchmarkANSI(b *testing.B) {
	bench(b, func(f *vt.Frame) int { return len(ANSI(f, Options{Scrollback: -1})) })
}

func BenchmarkEncode(b *testing.B) {
	bench(b, func(f *vt.Frame) int { return len(Encode(Header{}, f)) })
}

func BenchmarkDecode(b *testing.B) {
	for _, f := range benchFrames {
		file := Encode(Header{}, f.frame)
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Decode(file); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(file)), "bytes")
		})
	}
}

func BenchmarkText(b *testing.B) {
	bench(b, func(f *vt.Frame) int { return len(Text(f, -1)) })
}
