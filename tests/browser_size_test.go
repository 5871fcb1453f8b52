package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/wire"
)

// sizes chooses what the page does about a terminal of another size than the window.
func (b *tab) sizes(mode string) {
	b.t.Helper()
	b.click(".size")
	b.sees("the choice", `document.querySelector("[name=size-mode][value=`+mode+`]") !== null`, isTrue)
	b.eval(`(document.querySelector("[name=size-mode][value=` + mode + `]").click(), "")`)
	b.has("the choice", `document.querySelector("[name=size-mode]:checked").value`, mode)
	b.shoot()
	b.eval(`document.querySelector("[name=size-mode]:checked").dispatchEvent(new KeyboardEvent("keydown",
		{ key: "Escape", bubbles: true }))`)
	b.has("no card", count("#sizes"), "0")
	b.has("the focus on its button", `document.activeElement.matches(".size")`, "true")
}

// inside says whether all cells of the terminal on display are in its window.
const inside = `((cells, host) => cells.left >= host.left && cells.right <= host.right && cells.top >= host.top &&
	cells.bottom <= host.bottom)(` + shown + `.querySelector(".xterm-screen").getBoundingClientRect(), ` + shown +
	`.getBoundingClientRect())`

// letters is the height of a row in CSS pixels.
const letters = shown + `.querySelector(".xterm-screen").getBoundingClientRect().height / window.evertty.size().rows`

// cursorInView says whether a cell of the terminal on display is in its window.
func cursorInView(x, y int) string {
	return fmt.Sprintf(`((cells, host, size) => {
		const left = cells.left + %d * cells.width / size.cols, top = cells.top + %d * cells.height / size.rows;
		return left >= host.left && left + cells.width / size.cols <= host.right && top >= host.top &&
			top + cells.height / size.rows <= host.bottom;
	})(`+shown+`.querySelector(".xterm-screen").getBoundingClientRect(), `+shown+`.getBoundingClientRect(),
		window.evertty.size())`, x, y)
}

// frames waits until the page has drawn what came before: it acts on another size one or two frames later.
func (b *tab) frames() {
	b.t.Helper()
	b.eval(`(window.drawn = 0, requestAnimationFrame(function again() {
		if (++window.drawn < 4) requestAnimationFrame(again);
	}), "")`)
	b.sees("frames", `window.drawn === 4`, isTrue)
}

// noteSent makes the next page keep what it sends, for sent.
func (b *tab) noteSent() {
	b.t.Helper()
	p := page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		const send = WebSocket.prototype.send;
		window.sent = [];
		WebSocket.prototype.send = function (text) { window.sent.push(text); send.call(this, text); };
	}`}
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, p)
		return err
	}))
}

// sentSizes are the messages of the page that have a size.
const sentSizes = `window.sent.filter((m) => JSON.parse(m).cols !== undefined).join("\n")`

// TestBrowserFitsPansAndScales: a small window takes the size of a terminal in the mode fit alone. In the others the
// larger window has its own, whatever the small one does; scaled all of it is in view, and the mouse means its cells.
// The choice survives a reload.
func TestBrowserFitsPansAndScales(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("sh", "-c", `stty -icanon -echo; printf 'ready\033[?1000h\033[?1006h'; exec cat -v`).ID
	large := browse(t, 1200, 700)
	large.open(s, id)
	large.shows("ready")
	size := func() string { return fmt.Sprint(s.info(id).Cols, "x", s.info(id).Rows) }
	var whole string
	eventually(t, "the size of the larger window", func() bool { whole = size(); return s.info(id).Cols > 100 })
	small := large.stranger()
	small.run(chromedp.EmulateViewport(320, 640))
	small.open(s, id)
	eventually(t, "the size of the smaller window", func() bool { return s.info(id).Cols < 60 })
	small.shows("ready")
	const inHeader = `[...document.querySelectorAll(".head button, .head h1")].every((e) =>
		e.getBoundingClientRect().right <= innerWidth && e.getBoundingClientRect().width >= 24)`
	small.has("a header that fits a phone", inHeader, "true")

	small.sizes("pan")
	eventually(t, "the size of the larger window again", func() bool { return size() == whole })
	_, secret := s.share(object{"pty": id})
	watcher := s.socketBy(halves{}, "/pty/"+id+"/ws?ticket="+secret)
	small.has("more than the window", inside, "false")
	s.input(id, strings.Repeat("=", s.info(id).Cols-10))
	small.sees("the cursor", cursorInView(s.info(id).Cols-5, 0), isTrue)
	small.keys("x")
	small.run(chromedp.EmulateViewport(400, 500))
	small.sees("the cursor in another window", cursorInView(s.info(id).Cols-4, 0), isTrue)
	small.frames()
	small.eval(`(` + shown + `.scrollLeft = 0, "")`)
	small.has("where the user has scrolled to", cursorInView(0, 0), "true")
	s.input(id, "y")
	large.shows("xy")
	small.shows("xy")
	small.frames()
	small.has("where the user has scrolled to, still", cursorInView(0, 0), "true")
	small.shoot()

	usual := small.eval(letters)
	small.sizes("scale")
	small.sees("all of the terminal", inside, isTrue)
	small.has("smaller letters", letters+` < `+usual, "true")
	small.shoot()
	for _, view := range []spot{{320, 640}, {640, 300}, {1100, 650}} {
		small.run(chromedp.EmulateViewport(int64(view.x), int64(view.y)))
		small.sees("all of the terminal", inside, isTrue)
		small.shoot()
	}
	s.input(id, "\n")
	small.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed,
		Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}, small.cell(70, 20))
	small.shows("^[[<0;71;21M")
	small.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased,
		Button: input.MouseButtonLeft, ClickCount: 1}, small.cell(70, 20))
	small.run(chromedp.EmulateViewport(320, 640), chromedp.Reload())
	small.state("open")
	small.shows("ready")
	small.sees("all of the terminal", inside, isTrue)
	s.input(id, "end")
	for text := ""; !strings.Contains(text, `end"`); {
		if text, _ = first(watcher); text == "" || strings.Contains(text, `"event":"resize"`) {
			t.Fatalf("the larger window has another size: %q", text)
		}
	}
	if now := size(); now != whole {
		t.Errorf("the larger window has %s, not %s any more", now, whole)
	}

	small.sizes("fit")
	eventually(t, "the size of the smaller window", func() bool { return s.info(id).Cols < 60 })
	small.sees("all of the terminal", inside, isTrue)
	small.has("letters as usual", `(`+letters+`) === `+usual, "true")
}

// TestBrowserOfAReaderAsksForNoSize: neither at the beginning nor when its window changes, in any mode.
func TestBrowserOfAReaderAsksForNoSize(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"sh", "-c", "echo shared; exec cat"}, Cols: new(100),
		Rows: new(30)}).ID
	made, _ := s.share(object{"pty": id})
	b := browse(t, 320, 640)
	b.noteSent()
	b.run(chromedp.Navigate(made.URL))
	b.state("open")
	b.shows("shared")
	b.has("more than the window", inside, "false")
	b.run(chromedp.EmulateViewport(500, 400))
	b.click(".size")
	b.has("the choice", `[...document.querySelectorAll("[name=size-mode]")].map((e) => e.value).join()`, "pan,scale")
	b.click(".size")
	b.sizes("scale")
	b.sees("all of the terminal", inside, isTrue)
	b.run(chromedp.EmulateViewport(320, 640))
	b.sees("all of the terminal", inside, isTrue)
	b.shoot()
	b.has("what it has sent with a size", sentSizes, "")
	if sent := b.eval(`window.sent.join("\n")`); !strings.Contains(sent, `"attach"`) {
		t.Errorf("it has sent %s", sent)
	}
	if i := s.info(id); i.Cols != 100 || i.Rows != 30 {
		t.Errorf("%dx%d", i.Cols, i.Rows)
	}
}
