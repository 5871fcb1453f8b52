package tests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/wire"
)

// siteDataBlocked is a browser that keeps nothing for pages: their storage throws.
func siteDataBlocked(t *testing.T) chromedp.ExecAllocatorOption {
	t.Helper()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "Default"), 0o755); err != nil {
		t.Fatal(err)
	}
	const block = `{"profile":{"default_content_setting_values":{"cookies":2}}}`
	if err := os.WriteFile(filepath.Join(dir, "Default", "Preferences"), []byte(block), 0o644); err != nil {
		t.Fatal(err)
	}
	return chromedp.UserDataDir(dir)
}

// TestBrowserWithSiteDataBlocked: the page shows every terminal, and what the user answers lasts as long as the page.
func TestBrowserWithSiteDataBlocked(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const program = `echo first; while read x; do printf '\033]52;c;b25l\a%s-' "$x"; done`
	one, two := s.create("sh", "-c", program).ID, s.create("sh", "-c", "echo second; exec cat").ID
	b := browse(t, 1000, 700, siteDataBlocked(t))
	b.run(chromedp.Navigate(s.url + "/#/pty/" + one))
	b.state("open")
	b.shows("first")
	if got := b.eval(
		`(() => { try { return localStorage.length } catch (e) { return e.name } })()`); got != "SecurityError" {
		t.Fatalf("the browser gives its storage: %s", got)
	}
	b.attach(two)
	b.shows("second")
	b.keys("typed" + enter)
	b.shows("typed\ntyped")
	b.attach(one)
	s.input(one, "a\n")
	b.reads(".clipboard-bar", "3 characters")
	b.click(".clipboard-bar button:nth-of-type(2)") // no
	s.input(one, "b\n")
	b.shows("b-")
	b.has("no second question", inner(".clipboard-bar"), "")
}

// fillStorage leaves no room in the storage of the page.
func (b *tab) fillStorage() {
	b.t.Helper()
	b.eval(`(() => { for (let n = 1 << 22; n >= 1; n >>= 1) {
		try { for (let i = 0; ; i++) localStorage.setItem(n + "-" + i, "x".repeat(n)); } catch {}
	} })()`)
}

// TestBrowserWithAFullStorage: an answer that does not fit is kept for the page, and no older one for the next.
func TestBrowserWithAFullStorage(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const program = `echo first; while read x; do printf '\033]52;c;b25l\a%s-' "$x"; done`
	id := s.create("sh", "-c", program).ID
	b := browse(t, 1000, 700)
	b.open(s, id)
	b.shows("first")
	b.fillStorage()
	s.input(id, "a\n")
	b.reads(".clipboard-bar", "3 characters")
	b.click(".clipboard-bar button:nth-of-type(2)") // no
	s.input(id, "b\n")
	b.shows("b-")
	b.has("no second question", inner(".clipboard-bar"), "")
}

// TestBrowserOverPlainHTTP: without the clipboard API the page asks before a program writes, and both its click and
// Ctrl+Shift+C copy; a key bar that cannot read opens a field.
func TestBrowserOverPlainHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--allowed-host", "term.test"}})
	const program = `echo some words; while read x; do printf '\033]52;c;aGVsbG8=\a%s-' "$x"; done`
	id := s.create("sh", "-c", program).ID
	b := phone(t, chromedp.Flag("host-resolver-rules", "MAP term.test 127.0.0.1"))
	b.run(chromedp.Navigate("http://term.test" + s.url[strings.LastIndex(s.url, ":"):] + "/#/pty/" + id))
	b.state("open")
	b.shows("some words")
	if got := b.eval(`isSecureContext || "clipboard" in navigator`); got != "false" {
		t.Fatal("the page counts as secure")
	}
	s.input(id, "a\n")
	b.reads(".clipboard-bar", "5 characters")
	b.shoot()
	b.tap(".clipboard-bar .primary")
	b.has("no question", inner(".clipboard-bar"), "")
	b.pasted("hello")

	b.touch(down, b.cell(1, 0))
	b.offersCopy(true)
	b.touch(up)
	b.copy()
	b.pasted("some")

	// The browser refuses a write without a click, and the page asks for one.
	b.eval(`document.execCommand = () => false`)
	s.input(id, "b\n")
	b.reads(".clipboard-bar", "writes 5 characters")
	b.tap(".clipboard-bar .primary")
	b.reads(".toasts", "does not let this page write to the clipboard")
	b.reads(".clipboard-bar", "writes 5 characters")
	b.shoot()
	b.eval(`delete document.execCommand`)
	b.tap(".clipboard-bar .primary")
	b.has("no question", inner(".clipboard-bar"), "")
	b.pasted("hello")
}

// pasted pastes into the field of the key bar and compares.
func (b *tab) pasted(want string) {
	b.t.Helper()
	b.tap(keyPaste)
	b.has("the focus in the field", `document.activeElement.closest("dialog") !== null`, "true")
	b.eval(
		`(document.activeElement.value = " ", ` +
			`document.activeElement.dispatchEvent(new Event("input", {bubbles: true})))`)
	b.presses("v", "paste")
	b.has("the clipboard", `document.activeElement.value.trim()`, want)
	b.tap("dialog button")
	b.has("no dialog", count("dialog"), "0")
}

// mouse is one event of a mouse.
func (b *tab) mouse(p input.DispatchMouseEventParams, at spot) {
	b.t.Helper()
	p.X, p.Y = at.x, at.y
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.DispatchMouseEvent, p)
		return err
	}))
}

// TestBrowserReportsThePixelsThatItsServerTells: a report of mode 1016 is in cells of 10 by 20 pixels, as XTWINOPS
// says, whatever the page draws: press, drag, release outside, wheel and touch, at several ratios of pixels.
func TestBrowserReportsThePixelsThatItsServerTells(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := browse(t, 1000, 700)
	const left = input.MouseButtonLeft
	for _, ratio := range []float64{1, 1.25, 3} {
		b.run(chromedp.EmulateViewport(1000, 700, chromedp.EmulateScale(ratio)))
		r := s.records(`\033[?1003;1016h`, wire.CreateTerminal{Cols: new(60), Rows: new(25), SizePolicy: "fixed"})
		b.open(s, r.id)
		b.shows("ready")
		b.has("its size", `window.evertty.size().cols`, "60")
		b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved}, b.cell(9, 9))
		b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, Button: left, Buttons: 1,
			ClickCount: 1}, b.cell(40, 20))
		b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: left, Buttons: 1},
			b.cell(59, 24))
		outside := b.cell(59.5, 24.5)
		b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, Button: left,
			ClickCount: 1}, spot{outside.x + 30, outside.y + 30})
		b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, DeltaX: 1,
			DeltaY: -200}, b.cell(0, 0))
		b.keys("~")
		got := r.until(t, "~")
		for _, want := range []struct {
			event string
			x, y  int // cell
		}{{"35", 9, 9}, {"0", 40, 20}, {"32", 59, 24}, {"64", 0, 0}} {
			if !reports(got, want.event, want.x, want.y) {
				t.Errorf("at a ratio of %g no event %s in cell %d,%d: %q", ratio, want.event, want.x, want.y, got)
			}
		}
		if !strings.Contains(got, "\x1b[<0;600;500m") {
			t.Errorf("at a ratio of %g the release outside is not in the last pixel: %q", ratio, got)
		}
	}
}

// reports says whether there is a report of an event in pixels of a cell.
func reports(read, event string, col, row int) bool {
	for _, report := range strings.Split(read, "\x1b[<") {
		var x, y int
		_, err := fmt.Sscanf(report, event+";%d;%d", &x, &y)
		if err == nil && (x-1)/10 == col && (y-1)/20 == row {
			return true
		}
	}
	return false
}
