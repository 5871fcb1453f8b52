//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// TestUserClipboard: a write never comes in the middle of a sequence or character.
func TestUserClipboard(t *testing.T) {
	const hi = "\x1b]52;c;aGk=\x1b\\"
	write := wire.Clipboard{Selection: "c", DataB64: []byte("hi")}
	for _, tt := range []struct{ name, before, between, want string }{
		{"at once", "text", "", "text" + hi},
		{"behind a control sequence", "\x1b[1;3", "1mred", "\x1b[1;31mred" + hi},
		{"behind a title", "\x1b]2;ti", "tle\a", "\x1b]2;title\a" + hi},
		{"behind a character", "\xe2\x82", "\xac", "\xe2\x82\xac" + hi},
		{"while nothing ends", "\x1b]2;ti", "t", "\x1b]2;tit"},
	} {
		u := newUserClipboard()
		got := string(u.behind([]byte(tt.before))) + string(takenBy(u, write)) + string(u.behind([]byte(tt.between)))
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	var none *userClipboard
	if got := string(none.behind([]byte("x"))); got != "x" {
		t.Errorf("without a clipboard %q", got)
	}
	u := newUserClipboard()
	if got := takenBy(u, wire.Clipboard{Selection: "c;?\x1b", DataB64: []byte("x")}); len(got) > 0 {
		t.Errorf("a selection that is none gave %q", got)
	}
}

// takenBy is what goes out at once for a write.
func takenBy(u *userClipboard, c wire.Clipboard) []byte {
	u.take(c)
	return u.behind(nil)
}

// TestAttachClipboard: only with --clipboard the user's terminal gets what the program
// writes to the clipboard.
func TestAttachClipboard(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keys that are held back")
	}
	for _, flag := range []string{"", "--clipboard"} {
		s, u := newFakeServer(t), newUserTTY(t)
		args := []string{"attach", "t1"}
		if flag != "" {
			args = append(args, flag)
		}
		code, _ := u.evertty(args...)
		v := s.viewer()
		v.snapshot(40, 8, "shell")
		v.data("\x1b[3")
		v.control("meta", map[string]any{"clipboard": map[string]any{"selection": "c", "data_b64": "aGk="}})
		v.data("1mred")
		u.sees("red")
		v.exit(0)
		within(t, code, "the end")
		want := 0
		if flag != "" {
			want = 1
		}
		if got := strings.Count(u.written(), "\x1b[31mred\x1b]52;c;aGk=\x1b\\"); got != want ||
			strings.Contains(u.written(), "]52;") != (want == 1) {
			t.Errorf("with %q the clipboard was written %d times in %q", flag, got, u.written())
		}
	}
	u := newUserTTY(t)
	code, stderr := u.evertty("attach", "t1", "--clipboard", "--read-only")
	if got := within(t, code, "the refusal"); got != 2 || !strings.Contains(stderr.String(), "exclude each other") {
		t.Errorf("ended with %d: %s", got, stderr)
	}
}
