package tests

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// TestClipboardAndWindowsOfPrograms: what a program writes to the clipboard is told to
// those who may type, and no viewer gets it or a window operation as a sequence.
func TestClipboardAndWindowsOfPrograms(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	secret := base64.StdEncoding.EncodeToString([]byte("xxxxxx"))
	const program = `read x; printf '\033]52;c;'; head -c 1048576 /dev/zero | tr '\0' x | base64 -w0; printf ` +
		`'\a\033[8;50;200t\033]52;c;?\adone'; read x`
	id := s.create("sh", "-c", program).ID
	viewers := map[string]*viewer{}
	for _, role := range []string{"read", "write"} {
		k, err := s.Ticket(s.ctx(), wire.TicketRequest{PTY: id, Role: role})
		s.must(err)
		conn, err := s.dialWith(s.ctx(), &websocket.Dialer{}, "/pty/"+id+"/ws?ticket="+k.Ticket, nil)
		s.must(err)
		viewers[role] = &viewer{t: t, kind: wsJSON, events: conn}
		defer viewers[role].close()
	}
	sse, err := s.Stream(s.ctx(), id)
	s.must(err)
	defer sse.Close()
	s.input(id, "\n")
	want := strings.Repeat("x", 1<<20)
	for role, v := range viewers {
		told := ""
		var out strings.Builder
		v.until("the end of the output", func() bool {
			if v.last.Kind == client.KindData {
				out.Write(v.last.Data)
			}
			if v.last.Meta != nil && v.last.Meta.Clipboard != nil {
				told = v.last.Meta.Clipboard.Selection + string(v.last.Meta.Clipboard.DataB64)
			}
			return strings.Contains(out.String(), "done") && (role == "read" || told != "")
		})
		if role == "write" && told != "c"+want {
			t.Errorf("who may type was told %.40q", told)
		}
		if role == "read" && told != "" {
			t.Errorf("who may look was told %.40q", told)
		}
		if got := out.String(); strings.Contains(got, secret) || strings.Contains(got, "52;") ||
			strings.Contains(got, "200t") || len(got) > 4096 {
			t.Errorf("the viewer with the role %s got %d bytes: %.200q", role, len(got), got)
		}
	}
	for {
		e, err := sse.Next()
		s.must(err)
		if e.Meta != nil && e.Meta.Clipboard != nil {
			if string(e.Meta.Clipboard.DataB64) != want {
				t.Errorf("on the event stream %d bytes came", len(e.Meta.Clipboard.DataB64))
			}
			break
		}
	}
	if i := s.info(id); i.Cols != 80 || i.Rows != 24 {
		t.Errorf("the terminal has %dx%d", i.Cols, i.Rows)
	}
}

// TestPageAsksForTheClipboard: once a terminal, and a no is remembered over a reload.
func TestPageAsksForTheClipboard(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const program = `while read x; do printf '\033]52;c;%s\a%s-' "$(printf %s "$x" | base64)" "$x"; done`
	first, second := s.create("sh", "-c", program).ID, s.create("sh", "-c", program).ID
	b := browse(t, 1000, 700)
	const watch = `(window.copied = "", navigator.clipboard.writeText = (t) => { window.copied += t + ";"; return ` +
		`Promise.resolve(); })`
	const asked = `document.querySelector(".clipboard-bar")?.innerText ?? ""`
	none := func(s string) bool { return s == "" }
	b.open(s, first)
	b.eval(watch)
	s.input(first, "one\n")
	b.sees("the question", asked, func(s string) bool { return strings.Contains(s, "3 characters") })
	if got := b.eval("window.copied"); got != "" {
		t.Errorf("before the answer %q was copied", got)
	}
	b.click(".clipboard-bar .primary")
	b.sees("no question", asked, none)
	s.input(first, "two\n")
	b.sees("both", "window.copied", func(s string) bool { return s == "one;two;" })
	b.attach(second)
	s.input(second, "three\n")
	b.sees("a question of the other", asked, func(s string) bool { return strings.Contains(s, "5 characters") })
	b.click(".clipboard-bar button:nth-of-type(2)") // no
	b.sees("no question", asked, none)
	b.open(s, second)
	b.eval(watch)
	s.input(second, "four\n")
	b.shows("four-")
	s.input(first, "five\n")
	b.attach(first)
	b.shows("five-")
	s.input(first, "six\n")
	b.sees("what was allowed", "window.copied", func(s string) bool {
		return strings.HasSuffix(s, "six;") && !strings.Contains(s, "four")
	})
	b.sees("no question", asked, none)
}
