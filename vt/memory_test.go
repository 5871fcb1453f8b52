package vt_test

import (
	"runtime"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestIdleMemory: a terminal that shows a prompt takes little, and so does one in which an editor was open.
func TestIdleMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory for each access")
	}
	prompt := "\x1b]0;user@host: ~/src\a\x1b[?2004h\x1b[01;32muser@host\x1b[00m:\x1b[01;34m~/src\x1b[00m$ "
	for name, c := range map[string]struct {
		text string
		most int
	}{
		"prompt":      {prompt, 5 << 10},
		"editor left": {prompt + "\x1b[?1049h" + editor(24) + "\x1b[?1049l\r\n" + prompt, 10 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			if got := idleMemory([]byte(c.text)); got > c.most {
				t.Errorf("%d bytes, more than %d", got, c.most)
			} else {
				t.Logf("%d bytes", got)
			}
		})
	}
}

// editor draws a screen in place, so that all of its rows become cells.
func editor(rows int) (text string) {
	for range rows {
		text += "~ line\r\x1b[33m1\x1b[m\r\n"
	}
	return text
}

// idleMemory is what a terminal with this output takes of the heap, in bytes.
func idleMemory(output []byte) int {
	some := make([]vt.Engine, 1000)
	before := heap()
	for i := range some {
		some[i] = benchEngine(benchCols, benchRows)
		some[i].Write(output)
	}
	size := (int(heap()) - int(before)) / len(some)
	runtime.KeepAlive(some)
	return size
}

// TestRowsThatGoLeaveTheMemory: what a tall screen showed is gone when the screen is small again.
func TestRowsThatGoLeaveTheMemory(t *testing.T) {
	e := benchEngine(benchCols, benchRows)
	e.Write([]byte("\x1b[?1049h"))
	before := heap()
	for range 20 {
		e.Resize(500, 500)
		e.Write([]byte("\x1b[H" + editor(500)))
		e.Resize(500, 24)
	}
	if grown := int(heap()) - int(before); grown > 1<<20 {
		t.Errorf("%d bytes more", grown)
	}
	runtime.KeepAlive(e)
}
