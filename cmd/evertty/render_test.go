//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

func TestRender(t *testing.T) {
	for _, tc := range []struct {
		name, in, args, out string
	}{
		{"text", "a\r\n\x1b[31mb", "--rows 3", "a\nb\n\n"},
		{"text is the screen alone", "1\r\n2\r\n3", "--rows 2", "2\n3\n"},
		{"all", "1\r\n2\r\n3", "--rows 2 --all", "1\n2\n3\n"},
		{"scrollback", "1\r\n2\r\n3\r\n4", "--rows 2 --scrollback 1 --all", "2\n3\n4\n"},
		{"wrap", "abcdef", "--rows 3 --cols 4", "abcd\nef\n\n"},
		{"resize", "abcdef\r\nx", "--rows 2 --cols 3 --resize-at 0:6x3", "abcdef\nx\n\n"},
		{"resize behind the end", "abcdef", "--rows 1 --cols 6 --resize-at 7:3x1", "abcdef\n"},
		{"resize at the end, out of order", "ab", "--rows 1 --cols 6 --resize-at 2:9x2 --resize-at 1:4x4", "ab\n\n"},
		{"nothing", "", "--rows 1", "\n"},
		{"standard input by name", "x", "--rows 1 -", "x\n"},
	} {
		o := evertty(t, tc.in, append([]string{"render"}, strings.Fields(tc.args)...)...)
		if o.code != 0 || o.stdout != tc.out || o.stderr != "" {
			t.Errorf("%s: %+v, want %q", tc.name, o, tc.out)
		}
	}
}

func TestRenderForms(t *testing.T) {
	in := "1\r\n2\r\n\x1b[1mbold\x1b]0;ti"
	if o := evertty(t, in, "render", "--rows", "2", "--format", "ansi"); o.code != 0 ||
		!strings.HasSuffix(o.stdout, "\x1b]0;ti") || !strings.Contains(o.stdout, "1\r\n2\r\n") {
		t.Errorf("%+v", o)
	}
	var s wire.ScreenJSON
	if o := evertty(t, in, "render", "--rows", "2", "--format", "json"); o.code != 0 ||
		json.Unmarshal([]byte(o.stdout), &s) != nil ||
		s.Rows != 2 || s.Cursor.X != 4 || len(s.Scrollback) != 1 || s.Lines[1].Runs[0].Attrs[0] != "bold" {
		t.Errorf("%+v", o)
	}
	if o := evertty(t, in, "render", "--rows", "2", "--format", "html", "--all"); o.code != 0 ||
		!strings.Contains(o.stdout, "bold") {
		t.Errorf("%+v", o)
	}
}

// TestRenderOfALongStream crosses the pieces it is fed in, with resizes at their
// borders and inside a character.
func TestRenderOfALongStream(t *testing.T) {
	line := strings.Repeat("é", 9) + "\r\n"
	in := strings.Repeat(line, 3*renderPiece/len(line))
	plain := evertty(t, in, "render", "--cols", "20", "--rows", "4", "--format", "ansi")
	resized := evertty(t, in, "render", "--cols", "20", "--rows", "4", "--format", "ansi",
		"--resize-at", "65536:20x4", "--resize-at", "65537:20x4", "--resize-at", "1:20x4")
	if plain.code != 0 || plain.stdout != resized.stdout || !strings.Contains(plain.stdout, "ééééééééé\r\n") {
		t.Errorf("%d and %d bytes", len(plain.stdout), len(resized.stdout))
	}
}

func TestRenderOfASnapshotFile(t *testing.T) {
	o := rendering{cols: 30, rows: 2, scrollback: 10, engine: defaultEngine, unicode: string(vt.Unicode11)}
	f, err := o.frame(strings.NewReader("kept\r\nscreen"), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := snapshot.Encode(snapshot.Header{Seq: 12}, f)
	name := filepath.Join(t.TempDir(), "snap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := evertty(t, "", "render", name); o.code != 0 || o.stdout != "kept\nscreen\n" {
		t.Errorf("%+v", o)
	}
	b[len(b)/2] ^= 1
	if o := evertty(t, string(b), "render"); o.code != exitFailure ||
		!strings.HasPrefix(o.stderr, "evertty: render: standard input: ") || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("a damaged one: %+v", o)
	}
}

func TestRenderErrors(t *testing.T) {
	for args, want := range map[string]string{
		"/nonexistent/file":       "1 /nonexistent/file",
		"/":                       "1 is a directory",
		"--cols 0":                `2 --cols: got "0", allowed is 1 to 1000`,
		"--rows 1001":             "2 1 to 1000",
		"--scrollback -1":         "2 0 to 100000",
		"--format pdf":            "2 ansi, text, json, html",
		"--engine ghost":          "2 vt10x",
		"--unicode 9":             "2 11, 15-graphemes",
		"--resize-at 5":           "2 OFFSET:COLSxROWS",
		"--resize-at -1:2x2":      "2 OFFSET:COLSxROWS",
		"--resize-at 1:2x1001":    "2 OFFSET:COLSxROWS",
		"--resize-at 1:x2":        "2 OFFSET:COLSxROWS",
		"one two":                 "2 ",
		"--data-dir":              "2 --data-dir",
		"--cols 80 --nonexistent": "2 --nonexistent",
	} {
		code, text, _ := strings.Cut(want, " ")
		o := evertty(t, "", append([]string{"render"}, strings.Fields(args)...)...)
		if code != string(rune('0'+o.code)) || !strings.Contains(o.stderr, text) || o.stdout != "" {
			t.Errorf("%s: %+v, want %s", args, o, want)
		}
	}
}
