package vt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// benchCols and benchRows are the screen that the benchmarks' inputs are for.
const benchCols, benchRows = 80, 24

// workloads are what programs print, by the names of the comparison of engines
// in docs/develop/benchmarks.md. Each makes a part of its output; write is the size of
// the pieces it comes in.
var workloads = []struct {
	name  string
	write int
	part  func(w *output)
}{
	{"ascii_log", 4096, (*output).logLine},
	{"sgr_dense", 4096, (*output).colouredLine},
	{"utf8_mixed", 4096, (*output).worldLine},
	{"tui_redraw", 4096, (*output).dashboard},
	{"scroll_region", 4096, (*output).editorStep},
	{"long_lines", 4096, (*output).longLine},
	{"mixed", 4096, (*output).command},
	{"small_writes", 60, (*output).session},
}

// output makes what a program prints out of random numbers.
type output struct {
	*rand.Rand
	bytes.Buffer
}

// benchInput is size bytes of a workload, or a little more; always the same.
func benchInput(part func(w *output), size int) []byte {
	w := &output{Rand: rand.New(rand.NewPCG(20261121, 1))}
	for w.Len() < size {
		part(w)
	}
	return w.Bytes()
}

func (w *output) add(format string, args ...any) { fmt.Fprintf(w, format, args...) }

var benchWords = strings.Fields(`
	accept address batch block branch cache client close commit daemon delta drop entry event fetch field
	file flag frame header index input kernel label layer limit list lock merge method model mount node
	offset order output packet panic parse patch path peer pipe pool port probe queue rate read reset retry
	route scan scope send shard signal size slot stack start state stop store stream sync table task thread
	timer token trace type unit value vector watch window worker write zone
`)

// words are n random ones.
func (w *output) words(n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = benchWords[w.IntN(len(benchWords))]
	}
	return strings.Join(s, " ")
}

// oneOf is one of the words of list.
func (w *output) oneOf(list string) string {
	all := strings.Fields(list)
	return all[w.IntN(len(all))]
}

func (w *output) logLine() {
	w.add("2026-11-%02d %02d:%02d:%02d.%06d %-5s %s[%d]: %s status=%d bytes=%d\r\n", 1+w.IntN(30), w.IntN(24),
		w.IntN(60), w.IntN(60), w.IntN(1e6),
		w.oneOf("DEBUG INFO WARN ERROR"), w.words(1), w.IntN(1e5), w.words(2+w.IntN(9)), 200+w.IntN(300), w.IntN(1e7))
}

// colouredLine has another style at each word.
func (w *output) colouredLine() {
	for range 6 + w.IntN(6) {
		switch w.IntN(5) {
		case 0:
			w.add("\x1b[38;5;%dm", w.IntN(256))
		case 1:
			w.add("\x1b[38;2;%d;%d;%dm", w.IntN(256), w.IntN(256), w.IntN(256))
		case 2:
			w.add("\x1b[%d;%d;%dm", w.IntN(2), 30+w.IntN(8), 40+w.IntN(8))
		case 3:
			w.add("\x1b[0;4;48;2;%d;%d;%dm", w.IntN(256), w.IntN(256), w.IntN(256))
		default:
			w.add("\x1b[m")
		}
		w.add("%s ", w.words(1))
	}
	w.add("\x1b[0m\r\n")
}

// worldLine mixes scripts, wide characters, marks and emoji.
func (w *output) worldLine() {
	cjk := []rune("漢字仮名交文端末画面文字幅表示試験결과출력화면中文终端测试")
	for range 5 + w.IntN(8) {
		switch w.IntN(8) {
		case 0, 1, 2:
			for range 2 + w.IntN(6) {
				w.WriteRune(cjk[w.IntN(len(cjk))])
			}
		case 3:
			w.add("%s", w.oneOf("😀 🚀 ✅ ⚠️ 👩‍🔬 👍🏾 🇪🇺 1️⃣ 👨‍👩‍👧"))
		case 4:
			w.add("%s", w.oneOf("e\u0301t\u0323 n\u0303 क्षि ด้าน u\u0308\u0304"))
		case 5, 6:
			w.add("%s", w.oneOf("größer naïve œuvre żółw вывод строка έξοδος │ ├── └── ▓▒░ → “quote”"))
		default:
			w.add("%s", w.words(1))
		}
		w.add(" ")
	}
	w.add("\r\n")
}

// dashboard draws a screen of meters and a table in place.
func (w *output) dashboard() {
	w.add("\x1b[?1049h\x1b[?25l\x1b[H")
	for y := 1; y <= 4; y++ {
		full := w.IntN(30)
		w.add("\x1b[%d;2H\x1b[1;34m%2d\x1b[0m[\x1b[32m%s\x1b[90m\x1b[%dX\x1b[%dC\x1b[m%5.1f%%]", y, y,
			strings.Repeat("|", full), 30-full, 30-full, w.Float64()*100)
	}
	w.add("\x1b[6;1H\x1b[30;42m%-*s\x1b[K\x1b[m", benchCols-1, "  PID USER       CPU%   MEM  COMMAND")
	for y := 7; y < benchRows; y++ {
		if w.IntN(4) == 0 {
			continue
		}
		w.add("\x1b[%d;1H\x1b[m%5d \x1b[90m%-8s\x1b[39m %5.1f \x1b[36m%4d\x1b[39mM \x1b[1m%s\x1b[m\x1b[K", y,
			w.IntN(1e5), w.words(1), w.Float64()*100, w.IntN(1e4), w.words(3))
	}
	for range 10 {
		w.add("\x1b[%d;%dH%d\x1b[A\x1b[2D*\x1b[B\b.", 8+w.IntN(benchRows-9), 2+w.IntN(benchCols-4), w.IntN(10))
	}
	w.add("\x1b[%d;1H\x1b[7mF1 help F10 quit\x1b[K\x1b[m\x1b[?25h", benchRows)
}

// editorStep scrolls, inserts and deletes in a window of an editor.
func (w *output) editorStep() {
	code := func() { w.add("\x1b[33m%4d \x1b[35m%s\x1b[m\t%s\x1b[K", w.IntN(9999), w.words(1), w.words(4)) }
	top := 1 + w.IntN(8)
	w.add("\x1b[%d;%dr\x1b[%d;1H", top, benchRows-1, benchRows-1)
	switch w.IntN(5) {
	case 0:
		for range 1 + w.IntN(5) {
			w.add("\r\n")
			code()
		}
	case 1:
		w.add("\x1b[%d;1H", top)
		for range 1 + w.IntN(5) {
			w.add("\x1bM\r")
			code()
		}
	case 2:
		w.add("\x1b[%d;1H\x1b[%d%s", top, 1+w.IntN(3), w.oneOf("L M"))
		code()
	case 3:
		w.add("\x1b[%d%s", 1+w.IntN(3), w.oneOf("S T"))
	default:
		w.add("\x1b[%d;9H", top+w.IntN(8))
		for _, c := range w.words(2) {
			w.add("\x1b[@%c", c)
		}
		w.add("\x1b[%dP", 1+w.IntN(8))
	}
	w.add("\x1b[r\x1b[%d;1H\x1b[7m-- INSERT -- %d,%d\x1b[K\x1b[27m", benchRows, w.IntN(999), w.IntN(80))
}

// longLine wraps over some hundred rows.
func (w *output) longLine() {
	w.add("{")
	for range 200 + w.IntN(600) {
		w.add(`"%s":"%s %d",`, w.words(1), w.words(2), w.IntN(1e6))
	}
	w.add("}\r\n")
}

// command is what one command of a developer prints.
func (w *output) command() {
	switch w.IntN(5) {
	case 0:
		w.add("\x1b[33mcommit %016x%016x\x1b[m (\x1b[1;36mHEAD\x1b[m)\r\nAuthor: %s <%s@example.org>\r\n"+
			"\r\n    %s\r\n\r\n", w.Uint64(), w.Uint64(), w.words(2), w.words(1), w.words(8))
	case 1:
		w.add("\x1b[1m%s.c:%d:%d: \x1b[31merror: \x1b[0m\x1b[1m%s\x1b[0m\r\n    %s;\r\n\x1b[1;32m    ^~~~\x1b[0m\r\n",
			w.words(1), w.IntN(900), w.IntN(80), w.words(5), w.words(4))
	case 2:
		for i := range 18 {
			w.add("\x1b[0m\x1b[01;%dm%-12s\x1b[0m%s", 31+w.IntN(6), w.words(1), map[bool]string{true: "\r\n"}[i%6 == 5])
		}
	case 3:
		for i := range 20 {
			w.add("\r\x1b[K[%s%s] %3d%% %s", strings.Repeat("█", i), strings.Repeat("░", 20-i), 5*i, w.words(1))
		}
		w.add("\r\n")
	default:
		for range 8 {
			w.add("\x1b[%dm%s\t%s\x1b[m\r\n", 31+w.IntN(2), w.oneOf("+ -"), w.words(6))
		}
	}
}

// session is a shell with a person at it: prompt, typed keys, a short answer.
func (w *output) session() {
	w.add("\x1b]0;user@host: ~/%[1]s\a\x1b[?2004h\x1b[01;32muser@host\x1b[00m:\x1b[01;34m~/%[1]s\x1b[00m$ ", w.words(1))
	for _, c := range w.words(1 + w.IntN(4)) {
		w.add("%c", c)
		if w.IntN(20) == 0 {
			w.add("x\b\x1b[K")
		}
	}
	w.add("\r\n\x1b[?2004l\r")
	w.command()
}
