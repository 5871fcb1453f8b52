package echo

import (
	"strings"
	"testing"
)

var editor = Place{Group: 7, Editing: true}

// TestUnsubmitted: what keys leave at a prompt. The screen shows the prompt and shown.
func TestUnsubmitted(t *testing.T) {
	for name, c := range map[string]struct {
		keys  []string
		shown string
		text  bool
		want  bool
	}{
		"nothing":                 {text: true, want: false},
		"text":                    {keys: []string{"ls"}, shown: "ls", text: true, want: true},
		"text that is not shown":  {keys: []string{"ls"}, shown: "x", text: true, want: false},
		"entered":                 {keys: []string{"ls\r"}, shown: "ls", text: true, want: false},
		"entered by LF":           {keys: []string{"ls\n"}, shown: "ls", text: true, want: false},
		"interrupted":             {keys: []string{"ls\x03"}, shown: "ls", text: true, want: false},
		"erased":                  {keys: []string{"ls\x7f\b"}, shown: "", text: true, want: false},
		"one erased":              {keys: []string{"ls\x7f"}, shown: "l", text: true, want: true},
		"a word erased":           {keys: []string{"ls  x\x17"}, shown: "ls  ", text: true, want: true},
		"all words erased":        {keys: []string{"ls x\x17\x17"}, shown: "", text: true, want: false},
		"the line erased":         {keys: []string{"ls x\x15"}, shown: "", text: true, want: false},
		"shown again":             {keys: []string{"ls\x0c"}, shown: "ls", text: true, want: true},
		"blanks":                  {keys: []string{"  "}, shown: "  ", text: true, want: true},
		"EOF at the start":        {keys: []string{"\x04"}, shown: "", text: true, want: false},
		"EOF in a line":           {keys: []string{"ls\x04"}, shown: "ls", text: true, want: true},
		"history":                 {keys: []string{"\x1b[A"}, shown: "make", text: true, want: true},
		"history without any":     {keys: []string{"\x1b[A"}, shown: "", text: true, want: false},
		"history, then erased":    {keys: []string{"\x1b[A", "\x15"}, shown: "", text: true, want: false},
		"moved, then erased":      {keys: []string{"ls\x1b[D", "\x15"}, shown: "s", text: true, want: true},
		"a paste of lines":        {keys: []string{"\x1b[200~a\rb\x1b[201~"}, shown: "b", text: true, want: true},
		"a paste, entered":        {keys: []string{"\x1b[200~a\rb\x1b[201~\r"}, shown: "b", text: true, want: false},
		"what is not remembered":  {keys: []string{"ls"}, shown: "ls", text: false, want: true},
		"what an editor composes": {keys: []string{"é\x7f"}, shown: "", text: true, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			var typed Typed
			for i, k := range c.keys {
				typed.NoteLine([]byte(k), editor, c.text)
				if i == 0 && typed.LineBegun() {
					typed.Before([]byte("$ "), []byte("$ "))
				}
			}
			if typed.LineBegun() {
				t.Error("what was there before is asked for twice")
			}
			screen := []byte("$ " + c.shown)
			if got := typed.Unsubmitted(editor.Group, screen, screen); got != c.want {
				t.Errorf("%q with %q on the screen: %v", c.keys, c.shown, got)
			}
		})
	}
}

// TestUnsubmittedElsewhere: what was typed at another program counts as far as it is shown.
func TestUnsubmittedElsewhere(t *testing.T) {
	var typed Typed
	typed.NoteLine([]byte("ahead"), Place{Group: 3}, true)
	for shown, want := range map[string]bool{"$ ahead": true, "$ ": false, "": false} {
		if got := typed.Unsubmitted(editor.Group, []byte(shown), []byte(shown)); got != want {
			t.Errorf("%q: %v", shown, got)
		}
	}
	// The editor takes over what it finds, and shows it.
	typed.NoteLine([]byte("!"), editor, true)
	typed.Before([]byte("$ ahead"), []byte("$ ahead"))
	for shown, want := range map[string]bool{"$ ahead!": true, "$ ": false, "  ": true} {
		if got := typed.Unsubmitted(editor.Group, []byte(shown), []byte(shown)); got != want {
			t.Errorf("taken over, %q: %v", shown, got)
		}
	}
	// Another program begins anew, and does not.
	typed.NoteLine([]byte("x"), Place{Group: 9}, true)
	if u := typed.Unfinished(); u != (Unfinished{Ahead: "x"}) {
		t.Errorf("begun anew: %+v", u)
	}
	// What some program has read is not in the editor's line.
	typed = Typed{}
	typed.NoteLine([]byte("gone"), Place{Group: 3}, true)
	typed.NoteLine([]byte("x"), editor, true)
	typed.Before([]byte("$ "), []byte("$ "))
	if got := typed.Unsubmitted(editor.Group, []byte("$ x"), []byte("$ x")); !got {
		t.Error("the rest of a line counts as submitted")
	}
	if typed.line.text != "x" || !typed.line.sure {
		t.Errorf("the line is %+v", typed.line)
	}
}

// TestTheNextServerKnowsTheLine: of a line in an editor by how its place looked, of one typed ahead by
// its text.
func TestTheNextServerKnowsTheLine(t *testing.T) {
	var typed, next Typed
	if typed.LineOpen() || typed.Unfinished() != (Unfinished{}) {
		t.Error("a line without any key")
	}
	typed.NoteLine([]byte("ls"), editor, true)
	if !typed.LineBegun() || !typed.LineOpen() {
		t.Error("the line was not begun")
	}
	typed.Before([]byte("$  below"), []byte("$ "))
	u := typed.Unfinished()
	if want := (Unfinished{Group: 7, Empty: lookOf("$ below")}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	next.Resume(u)
	for shown, want := range map[string]bool{"$ ls": true, "$ below": false, " ": false} {
		if got := next.Unsubmitted(7, []byte(shown), []byte(shown)); got != want {
			t.Errorf("in the editor, %q: %v", shown, got)
		}
	}
	if next.LineBegun() {
		t.Error("a resumed line was begun long ago")
	}
	next = Typed{}
	next.Resume(Unfinished{Ahead: "ls"})
	if !next.LineOpen() || next.Unfinished() != (Unfinished{Ahead: "ls"}) ||
		!next.Unsubmitted(7, []byte("$ ls"), []byte("$ ls")) || next.Unsubmitted(7, []byte("$ "), []byte("$ ")) {
		t.Errorf("ahead: %+v", next.line)
	}
	next.Resume(Unfinished{})
	if next.LineOpen() {
		t.Error("a line of nothing")
	}
}

// TestEntered is the position of the last input when Enter came.
func TestEntered(t *testing.T) {
	var typed Typed
	typed.Note([]byte("a"), 5, true)
	typed.NoteLine([]byte("a"), editor, true)
	if typed.Entered() != 0 {
		t.Error("nothing was entered")
	}
	typed.Note([]byte("\r"), 9, true)
	typed.NoteLine([]byte("\r"), editor, true)
	if typed.Entered() != 9 || typed.LineOpen() {
		t.Errorf("entered at %d", typed.Entered())
	}
}

// TestALongLineIsBounded: its end is kept, and it is not all.
func TestALongLineIsBounded(t *testing.T) {
	var typed Typed
	typed.NoteLine([]byte(strings.Repeat("x", maxLineText)), editor, true)
	if !typed.line.sure || len(typed.line.text) != maxLineText {
		t.Errorf("a line that fits: %d bytes, %v", len(typed.line.text), typed.line.sure)
	}
	typed.NoteLine([]byte("yz"), editor, true)
	if l := typed.line; l.sure || len(l.text) != maxLineText || !strings.HasSuffix(l.text, "xyz") {
		t.Errorf("a longer line: %d bytes, %v", len(l.text), l.sure)
	}
}

// TestErase: how much an editor erases is sure for letters and digits of ASCII alone.
func TestErase(t *testing.T) {
	for _, c := range []struct {
		text string
		from int
		want string
		sure bool
	}{
		{"x 09azAZ", 2, "x ", true}, {"x a-b", 2, "", false}, {"x é", 2, "", false}, {"x -", 2, "x ", true},
		{"x /b", 2, "", false}, {"x :b", 2, "", false}, {"x @b", 2, "", false}, {"x [b", 2, "", false},
		{"", -1, "", true},
	} {
		l := line{text: c.text, sure: true}
		if l.erase(c.from); l.text != c.want || l.sure != c.sure {
			t.Errorf("%q from %d: %q, %v", c.text, c.from, l.text, l.sure)
		}
	}
	var typed Typed
	typed.NoteLine([]byte("\x1b[200~a\r"), editor, true)
	if !typed.line.pasting || !typed.line.open {
		t.Error("Enter in a paste submits")
	}
	typed.NoteLine([]byte("b\x1b[201~"), editor, true)
	if l := typed.line; l.pasting || !strings.HasSuffix(l.text, "b") {
		t.Errorf("after a paste: %+v", l)
	}
	if (&Typed{line: line{sure: true, text: "x"}}).Unfinished() != (Unfinished{}) {
		t.Error("a line that is not open is unfinished")
	}
}

// TestAnEditorContinuesWhatWasTypedAhead: text from before the prompt and text at it are one line. A line on which
// other text stands before the second part is not that line.
func TestAnEditorContinuesWhatWasTypedAhead(t *testing.T) {
	var typed Typed
	typed.NoteLine([]byte("ls"), Place{Group: 3}, true)
	typed.NoteLine([]byte(" -l"), editor, true)
	typed.Before([]byte("$ ls"), []byte("$ ls"))
	for shown, want := range map[string]bool{"$ ls -l": true, "$ x -l": false} {
		if got := typed.Unsubmitted(editor.Group, []byte(shown), []byte(shown)); got != want {
			t.Errorf("%q: %v, want %v", shown, got, want)
		}
	}
	if l := &typed.line; !l.open || l.text != "ls -l" || !l.atEnd {
		t.Errorf("the line is %+v", l)
	}
}
