package vt_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// clipboards collects what an engine's programs write to the clipboard.
func clipboards(newEngine vt.EngineFunc) (e vt.Engine, writes *[]string) {
	writes = &[]string{}
	return newEngine(vt.Config{Cols: 40, Rows: 5, Effects: &vt.Effects{
		Clipboard: func(selection string, data []byte) { *writes = append(*writes, selection+" "+string(data)) },
	}}), writes
}

var bothEngines = map[string]vt.EngineFunc{"native": vt.NewEngine, "vt10x": vt10x.New}

// TestNothingActsOnAViewersWindow: however the output is split, viewers get neither
// a write to the clipboard, whole or in part, nor a window operation.
func TestNothingActsOnAViewersWindow(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString([]byte("what nobody else may see"))
	ends := []string{"\a", "\x1b\\", "\xc2\x9c", "\x18", "\x1b[1m", "\xc2\x9b1m", "\x1a", "\xc2\x84"}
	for name, newEngine := range bothEngines {
		for _, end := range ends {
			for _, begin := range []string{"\x1b]52;c;", "\xc2\x9d52;c;", "\x1b]000052;;", "\x1b]5522;"} {
				in := "a" + begin + secret + end + "b\x1b[8;50;100tc\xc2\x9b3;1;1td"
				for n := 1; n <= len(in); n++ {
					e, _ := clipboards(newEngine)
					viewer := newEngine(vt.Config{Cols: 40, Rows: 5})
					checkWithheld(t, fmt.Sprintf("%s, %q in pieces of %d", name, in, n), e, viewer, in, n, secret)
				}
			}
		}
	}
}

func checkWithheld(t *testing.T, what string, e, viewer vt.Engine, in string, n int, secret string) {
	t.Helper()
	var text []byte
	for p := []byte(in); len(p) > 0; {
		k := min(n, len(p))
		out := e.Write(p[:k])
		text = append(text, out...)
		viewer.Write(out)
		p = p[k:]
		shot := snapshot.ANSI(e.Freeze(), snapshot.Options{Scrollback: -1})
		if bytes.Contains(shot, []byte("52;")) || bytes.Contains(shot, []byte(secret[:4])) {
			t.Fatalf("%s: a snapshot is %q", what, shot)
		}
	}
	for _, bad := range []string{"52;", secret[:4], "100t", "1t"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Fatalf("%s: viewers get %q", what, text)
		}
	}
	if d := snapshot.Differences(e.Freeze(), viewer.Freeze()); len(d) > 0 {
		t.Fatalf("%s: viewers got %q: %s", what, text, strings.Join(d, "\n"))
	}
}

// TestClipboardLimits: one of MaxClipboard bytes is written, one byte more is not,
// and one without an end takes no memory worth speaking of.
func TestClipboardLimits(t *testing.T) {
	for name, newEngine := range bothEngines {
		for size, want := range map[int]int{0: 1, 1: 1, 100_000: 1, vt.MaxClipboard: 1, vt.MaxClipboard + 1: 0,
			3 * vt.MaxClipboard: 0} {
			e, writes := clipboards(newEngine)
			data := strings.Repeat("x", size)
			in := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(data)) + "\aend"
			var text []byte
			for p := []byte(in); len(p) > 0; p = p[min(len(p), 4096):] {
				text = append(text, e.Write(p[:min(len(p), 4096)])...)
			}
			if len(*writes) != want || want == 1 && (*writes)[0] != "c "+data {
				t.Errorf("%s: %d bytes were written %d times, want %d", name, size, len(*writes), want)
			}
			if string(text) != "end" {
				t.Errorf("%s: viewers get %.80q of %d bytes", name, text, size)
			}
		}
	}
	piece := bytes.Repeat([]byte("QUJD"), 16<<10)
	e, _ := clipboards(vt.NewEngine)
	e.Write([]byte("\x1b]52;c;"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 4096 { // 256 MiB
		if text := e.Write(piece); len(text) > 0 {
			t.Fatalf("viewers get %.40q", text)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.Sys - min(after.Sys, before.Sys); grown > 16<<20 {
		t.Errorf("an OSC 52 without an end took %d bytes", grown)
	}
	runtime.KeepAlive(e)
}

// TestClipboardOverARestart: a write that a snapshot for the disk cuts goes on behind
// it; one for viewers has nothing of it; a string that is void stays void.
func TestClipboardOverARestart(t *testing.T) {
	big := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 200_000))
	for name, newEngine := range bothEngines {
		for _, tt := range []struct{ head, tail, want string }{
			{"\x1b]52;c;aGVs", "bG8=\a", "c hello"},
			{"\x1b]52;c;" + big[:150_000], big[150_000:] + "\a", "c " + strings.Repeat("x", 200_000)},
			{"\x1b]52;c;" + strings.Repeat("A", vt.MaxPending), "52;c;aGk=\a", ""},
			{"\x1b]2;" + strings.Repeat("A", vt.MaxString), ";52;c;aGk=\a", ""},
			{"\x1bPq" + strings.Repeat("A", vt.MaxString), "\a;aGk=\x1b\\", ""},
		} {
			e, _ := clipboards(newEngine)
			e.Write([]byte(tt.head))
			f := e.Freeze()
			if _, again, err := snapshot.Decode(snapshot.Encode(snapshot.Header{}, f)); err != nil ||
				!bytes.Equal(again.Pending, f.Pending) {
				t.Errorf("%s: the file has %d of %d bytes: %v", name, len(again.Pending), len(f.Pending), err)
			}
			if shot := snapshot.ANSI(f, snapshot.Options{}); bytes.Contains(shot, []byte("AAAA")) || len(shot) > 1000 {
				t.Errorf("%s: the viewers' snapshot has %d bytes", name, len(shot))
			}
			next, writes := clipboards(newEngine)
			next.Write(snapshot.ANSI(f, snapshot.Options{Engine: true}))
			text := string(next.Write([]byte(tt.tail + "on")))
			if got := strings.Join(*writes, "|"); got != tt.want {
				t.Errorf("%s: %.20q: the clipboard got %.40q, want %.40q", name, tt.head, got, tt.want)
			}
			if row := next.Freeze().Main.Lines[0].Text(); row != "on" || strings.Trim(text, "\x18") != "on" {
				t.Errorf("%s: %.20q: the screen shows %.40q, viewers get %.40q", name, tt.head, row, text)
			}
		}
	}
}
