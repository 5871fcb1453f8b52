package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// openAt is open by another way to the server, which is at host there.
func (b *tab) openAt(s *server, host, id string) {
	b.t.Helper()
	b.run(chromedp.Navigate(strings.Replace(s.link(), strings.TrimPrefix(s.url, "http://"), host, 1)))
	b.state("open")
	b.attach(id)
}

// asksFor counts the messages of a page that ask for the history of a terminal.
func asksFor(id string) string {
	return `window.sent.filter((m) => m.includes('"history","pty":"` + id + `"')).length`
}

// visibleRows is what the terminal on display shows of its screen and history.
const visibleRows = shown + `.querySelector(".xterm-rows").innerText`

// looksBack turns the wheel until a text of the history shows.
func (b *tab) looksBack(text string) {
	b.t.Helper()
	eventually(b.t, text+" in the history", func() bool {
		b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, DeltaX: 1, DeltaY: -400},
			b.cell(5, 5))
		return strings.Contains(b.eval(visibleRows), text)
	})
}

// pageUp is Shift and the key that scrolls up.
func (b *tab) pageUp() {
	b.t.Helper()
	b.eval(`[...document.querySelectorAll(".xterm-helper-textarea")].find(e => e.checkVisibility()).focus()`)
	p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "PageUp", Code: "PageUp",
		WindowsVirtualKeyCode: 33, Modifiers: 8}
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p)
		return err
	}))
}

// TestBrowserOnASlowLineBeginsWithTheScreen: the history comes when the user looks back or searches, or when nothing
// else comes, and what the user has scrolled to stays. On a fast line it is there at once.
func TestBrowserOnASlowLineBeginsWithTheScreen(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	const busy = `seq -f "line %.0f" 3000; i=0; while sleep 0.3; do echo now $((i+=1)); done`
	one := s.create("sh", "-c", busy).ID
	quiet := s.create("sh", "-c", `seq -f "line %.0f" 3000; exec cat`).ID
	ended := s.create("sh", "-c", `seq -f "line %.0f" 3000`).ID
	b := browse(t, 900, 600)
	b.noteSent()
	b.openAt(s, slowLine(t, "127.0.0.1:"+s.port(), 100*time.Millisecond, 1<<20), one)
	b.shows("now ")
	b.run(chromedp.Reload())
	b.state("open")
	b.shows("now ")
	b.has("what it says first",
		`window.sent.slice(0, 3).map((m) => JSON.parse(m)).map((m) => [m.type, m.history]).join()`, "auth,,ping,,attach,lazy")
	b.has("how often it has attached", `window.sent.filter((m) => JSON.parse(m).type === "attach").length`, "1")
	b.has("no history that it has asked for", asksFor(one), "0")
	b.looksBack("line 28")
	b.has("how often it has asked", asksFor(one), "1")
	before := b.eval(visibleRows)
	text := b.screen()
	b.sees("more output", `window.evertty.text()`, func(s string) bool { return s != text })
	b.has("what the user has scrolled to", visibleRows, before)
	b.shoot()

	for way, look := range map[string]func(id string){
		"the search": func(string) { b.click(`[aria-label^="Search"]`) },
		"a key":      func(string) { b.pageUp() },
		"a finger": func(id string) {
			b.run(chromedp.EmulateViewport(420, 700, chromedp.EmulateMobile, chromedp.EmulateTouch))
			eventually(t, "a finger scrolls", func() bool { // on a busy machine it may rest so long that it selects
				b.drag(3, 9, 3)
				return b.eval(asksFor(id)) != "0"
			})
			b.run(chromedp.EmulateViewport(900, 600))
		},
	} {
		id := s.create("sh", "-c", busy).ID
		b.attach(id)
		b.shows("now ")
		b.has("no history that it has asked for before "+way, asksFor(id), "0")
		look(id)
		b.sees("that it has asked because of "+way, asksFor(id), func(s string) bool { return s == "1" })
	}

	b.attach(quiet)
	b.shows("line 3000")
	b.sees("that it asks by itself", asksFor(quiet), func(s string) bool { return s == "1" })

	b.attach(ended)
	b.shows("line 3000")
	b.looksBack("line 28")

	fast := b.stranger()
	fast.noteSent()
	fast.open(s, one)
	fast.shows("now")
	fast.looksBack("line 28")
	fast.has("how often it has asked", asksFor(one), "0")
}
