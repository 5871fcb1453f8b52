package vt

import (
	"fmt"
	"strings"
	"testing"
)

// logged are effects that write down what happens.
func logged(add func(format string, args ...any)) Effects {
	return Effects{
		Title:     func(t string) { add("title %s", t) },
		Cwd:       func(host, p string) { add("cwd %s:%s", host, p) },
		Clipboard: func(sel string, d []byte) { add("clipboard %s %s", sel, d) },
		Notify:    func(n Notification) { add("notify %s/%s", n.Title, n.Body) },
		Prompt:    func(m PromptMark) { add("mark %c %d", m.Kind, m.Exit) },
	}
}

func TestLabels(t *testing.T) {
	tests := []struct{ in, want string }{
		{"\x1b]0;both\a", "title both"},
		{"\x1b]2;a;b\x1b\\", "title a;b"},
		{"\x1b]2;\a", "title "},
		{"\x1b]1;icon\a", ""},
		{"\x1b]7;file://host/a%20b\a", "cwd host:/a b"},
		{"\x1b]7;file:///x\a", "cwd :/x"},
		{"\x1b]7;file://H%41.example.com/a\a\x1b]7;file://[::1]/a\a", "cwd H%41.example.com:/a,cwd [::1]:/a"},
		{"\x1b]7;kitty-shell-cwd://host/a%20 b\a", "cwd host:/a%20 b"},
		{"\x1b]7;file:/x\a\x1b]7;File://H/y\a", "cwd :/x,cwd H:/y"},
		{"\x1b]7;/bare\a\x1b]7;file:x\a\x1b]7;file://host\a\x1b]7;http://h/x\a\x1b]7;file://a\x7fb/x\a", ""},
		{"\x1b]9;9;/c\a\x1b]9;9;\"/c d\"\a\x1b]9;9;\a\x1b]9;9;C:\\x\a", "cwd :/c,cwd :/c d"},
		{"\x1b]7;file://" + strings.Repeat("h", maxHost+1) + "/x\a\x1b]1337;CurrentDir=a/b\a", ""},
		{"\x1b]7;http://host/x\a\x1b]7;file://h/%1b\a\x1b]7;file://h/%ff\a\x1b]7;file://h/%\a", ""},
		{"\x1b]1337;CurrentDir=/srv\a", "cwd :/srv"},
		{"\x1b]633;P;Cwd=/a\\x3bb\\\\c\a", `cwd :/a;b\c`},
		{"\x1b]133;A\a\x1b]133;B;k=v\a\x1b]133;C\a", "mark A -1,mark B -1,mark C -1"},
		{"\x1b]133;D;7;aid=1\a\x1b]133;D\a\x1b]633;D;0\a\x1b]633;E;ls\a\x1b]133;AB\a", "mark D 7,mark D -1,mark D 0"},
		{"\x1b]9;hello; you\a", "notify /hello; you"},
		{"\x1b]9;4;1;50\a", ""},
		{"\x1b]777;notify;T;B;C\a\x1b]777;x;T\a", "notify T/B;C"},
		{"\x1b]2;void\x18\x1b]2;too\x1a", ""},
		{"\x1b]x;y\a\x1b];\a\x1b]\a\x1b]+2;x\a", ""},
	}
	for _, tt := range tests {
		var log []string
		r := newRecorder()
		r.fx = logged(func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) })
		r.feed(tt.in, 1)
		if got := strings.Join(log, ","); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
		newRecorder().feed(tt.in, len(tt.in)) // needs no effects
	}
}

func TestLabelsFreeze(t *testing.T) {
	r, f := newRecorder(), &Frame{}
	r.feed("\x1b]0;both\a\x1b]2;title\a\x1b]7;file://h/dir\a", 100)
	if r.labels.Freeze(f); f.Title != "title" || f.Icon != "both" || f.Cwd != "/dir" || f.CwdHost != "h" {
		t.Errorf("%q %q %q %q", f.Title, f.Icon, f.CwdHost, f.Cwd)
	}
}

// Nobody is told the clipboard or the font.
func TestLabelsRefuse(t *testing.T) {
	for _, in := range []string{"\x1b]52;c;?\a", "\x1b]50;?\a"} {
		r := newRecorder()
		r.fx.Reply = func(p []byte) { t.Errorf("%q is answered %q", in, p) }
		if text := r.feed(in+"b", 100); text != "b" {
			t.Errorf("%q: viewers get %q", in, text)
		}
	}
}

// TestLabelsLongLink: a link that is too long is none, and ends the one before.
func TestLabelsLongLink(t *testing.T) {
	for _, long := range []string{";" + strings.Repeat("u", maxLink+1),
		"id=" + strings.Repeat("i", maxLink+1) + ";http://h"} {
		r := newRecorder()
		r.feed("\x1b]8;;http://h\a\x1b]8;"+long+"\a", 100)
		if s := r.pen.Style(); s != (Style{}) {
			t.Errorf("%d bytes of link", len(s.Link.URI)+len(s.Link.ID))
		}
	}
}
