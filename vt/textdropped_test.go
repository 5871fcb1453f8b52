package vt_test

import (
	"bytes"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestTextDropped: rectangles become at most 32 bytes of viewers' text for each byte and 128 KiB
// more; the rest is dropped and reported once. Output that becomes little drops nothing.
func TestTextDropped(t *testing.T) {
	e := vt.New(vt.Config{Cols: 80, Rows: vt.MaxSize})
	in := bytes.Repeat([]byte("\x1b[65;1;2;999;40$x"), 500)
	if text := e.Write(in); len(text) > 32*len(in)+128<<10 || !e.TextDropped() {
		t.Errorf("%d bytes of text for %d, dropped without a report", len(text), len(in))
	}
	if e.TextDropped() {
		t.Error("reported twice")
	}
	for range 10 {
		e.Write(bytes.Repeat([]byte("plain text\r\n"), 10_000))
	}
	if text := e.Write(in[:18]); e.TextDropped() || len(text) < 5*vt.MaxSize {
		t.Errorf("%d bytes of text for one rectangle after much text", len(text))
	}
}
