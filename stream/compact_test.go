package stream_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// fullTerminal is the most that a quiet terminal with 5000 coloured lines of 80 columns may take,
// in bytes of heap: 250 KB are usual.
const fullTerminal = 300 << 10

// TestMemoryOfFullTerminals: quiet terminals with a whole history take little memory, and the same
// text comes out as before.
func TestMemoryOfFullTerminals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("connect accept flush retry naïve snapshot résumé stream lease worker 日本 queue")
	var text strings.Builder
	for i := range 5100 {
		fmt.Fprintf(&text, "\x1b[2m%06d\x1b[0m \x1b[1;31mERROR\x1b[0m \x1b[38;5;%dm%s\x1b[0m", i, 16+r.IntN(200),
			words[r.IntN(len(words))])
		for range 6 {
			text.WriteString(" " + words[r.IntN(len(words))])
		}
		text.WriteString("\r\n")
	}
	engine := func(c vt.Config) vt.Engine { return vt.New(c) }
	const terminals = 20
	var hubs [terminals]*stream.Hub
	output := []byte(text.String())
	before := heap()
	for i := range hubs {
		hubs[i] = stream.New(stream.Options{Engine: engine, Config: vt.Config{Cols: 80, Rows: 24, Scrollback: 5000}})
		hubs[i].Write(output)
	}
	want := hubs[0].Snapshot().ANSI()
	loose := heap() - before
	for _, h := range hubs {
		if freed := h.Compact(); freed == 0 {
			t.Error("nothing was compressed")
		}
	}
	if each := (heap() - before) / terminals; each > fullTerminal {
		t.Errorf("%d bytes for each full terminal, %d before, more than %d", each, loose/terminals, fullTerminal)
	}
	if string(hubs[0].Snapshot().ANSI()) != string(want) {
		t.Error("the text has changed")
	}
	runtime.KeepAlive(&hubs)
	runtime.KeepAlive(output)
}

// heap is the size of what is in use, in bytes.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
