package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// phone opens an empty page on a touch screen.
func phone(t *testing.T, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	b := browse(t, 420, 700, more...)
	b.run(chromedp.EmulateViewport(420, 700, chromedp.EmulateMobile, chromedp.EmulateTouch))
	return b
}

// touch moves the one finger: down and elsewhere with a place, up without one.
func (b *tab) touch(kind input.DispatchTouchEventType, at ...spot) {
	b.t.Helper()
	p := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
	for _, s := range at {
		p.TouchPoints = append(p.TouchPoints, &input.TouchPoint{X: s.x, Y: s.y})
	}
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, p)
		return err
	}))
}

const (
	down   = input.DispatchTouchEventTypeTouchStart
	across = input.DispatchTouchEventTypeTouchMove
	up     = input.DispatchTouchEventTypeTouchEnd
)

// tap is a finger on an element, which for the browser is something that the user did.
func (b *tab) tap(selector string) {
	b.t.Helper()
	b.sees("something to tap at "+selector, `document.querySelector('`+selector+`') !== null`, isTrue)
	at := b.middle(selector)
	b.touch(down, at)
	b.touch(up)
}

// taps taps a place n times, again and again until that shows. On a busy machine a tap may take so
// long that it is a long press, and two taps may not be a double one.
func (b *tab) taps(n int, place func() spot, what string, shows func() bool) {
	b.t.Helper()
	eventually(b.t, what, func() bool {
		at := place()
		for range n {
			b.touch(down, at)
			b.touch(up)
		}
		return shows()
	})
}

// canCopy says whether the key bar has a way to copy.
const canCopy = `[...document.querySelectorAll(".keybar button")].some(e => e.innerText === "Copy")`

func isTrue(s string) bool { return s == "true" }

// spot is a place on the page, in CSS pixels.
type spot struct{ x, y float64 }

// places evaluates an expression that gives two numbers.
func (b *tab) places(expression string) spot {
	b.t.Helper()
	var s []float64
	if err := json.Unmarshal([]byte(b.eval(`JSON.stringify(`+expression+`)`)), &s); err != nil || len(s) != 2 {
		b.t.Fatalf("%s gives %v, %v", expression, s, err)
	}
	return spot{s[0], s[1]}
}

// middle is the middle of an element.
func (b *tab) middle(selector string) spot {
	b.t.Helper()
	return b.places(`(r => [r.left + r.width / 2, r.top + r.height / 2])(document.querySelector('` + selector +
		`').getBoundingClientRect())`)
}

// cell is the middle of a cell of the terminal on display, from 0; halves are its edges.
func (b *tab) cell(x, y float64) spot {
	b.t.Helper()
	return b.places(fmt.Sprintf(`((r, s) => [r.left + r.width * %g / s.cols, r.top + r.height * %g / s.rows])(`+
		shown+`.querySelector(".xterm-screen").getBoundingClientRect(), window.evertty.size())`, x+0.5, y+0.5))
}

// permit sets what a page may do.
func (b *tab) permit(setting browser.PermissionSetting, names ...string) {
	b.t.Helper()
	for _, name := range names {
		p := browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: name}, Setting: setting}
		b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, browser.SetPermission, p)
			return err
		}))
	}
}

// button is the selector of a button of the key bar by its place among those that stay in view.
const (
	keyCopy  = ".keybar-pinned button:nth-last-child(2)"
	keyPaste = ".keybar-pinned button:last-child"
)

// offersCopy waits until the key bar has a way to copy, or none.
func (b *tab) offersCopy(want bool) {
	b.t.Helper()
	b.has("a button to copy", canCopy, fmt.Sprint(want))
}

// recorder is a program that keeps what it reads in a file.
type recorder struct {
	id   string
	file string
}

// records starts a program that prints something and then keeps what it reads.
func (s *server) records(prints string, more wire.CreateTerminal) recorder {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "read")
	more.Cmd = []string{"sh", "-c", `stty raw -echo; printf '` + prints + `'; printf ready; exec cat > ` + file}
	id := s.createWith(more).ID
	s.await(id, `ready`)
	return recorder{id: id, file: file}
}

// until waits for the end of what the program reads and returns all of it.
func (r recorder) until(t *testing.T, end string) string {
	t.Helper()
	var read []byte
	eventually(t, "the program reads "+end, func() bool {
		read, _ = os.ReadFile(r.file)
		return strings.HasSuffix(string(read), end)
	})
	return strings.TrimSuffix(string(read), end)
}

// TestBrowserScrollsAsFarAsTheFinger: however few events a drag has, each row of it is a step of the wheel, or a row of
// the history.
func TestBrowserScrollsAsFarAsTheFinger(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	for _, test := range []struct{ name, prints, step string }{
		{"cursor keys", `\033[?1049h`, "\x1b[A"},
		{"application cursor keys", `\033[?1049h\033[?1h`, "\x1bOA"},
		{"reports", `\033[?1049h\033[?1002;1006h`, "\x1b[<64;"},
		{"old reports", `\033[?1049h\033[?1000h`, "\x1b[M\x60"},
		{"reports beside history", `\033[?1003;1006h`, "\x1b[<64;"},
	} {
		for _, events := range []int{3, 24} {
			r := s.records(test.prints, wire.CreateTerminal{})
			b.open(s, r.id)
			b.shows("ready")
			b.drag(3, 12.2, events)
			b.keys("~")
			if got := strings.Count(r.until(t, "~"), test.step); got != 12 {
				t.Errorf("%s: %d steps of a drag over 12 rows in %d events", test.name, got, events)
			}
		}
	}
	long := s.create("sh", "-c", "seq 500; exec cat").ID
	b.open(s, long)
	b.shows("500")
	top := `+` + shown + `.querySelector(".xterm-rows").innerText.match(/\d+/)?.[0]`
	b.has("the last row as it is drawn", inView("500"), "true") // a frame after the page has its text
	before := b.eval(top)
	b.drag(3, 12.2, 3)
	b.has("the history by 12 rows", before+` - `+top, "12")
}

// drag moves a finger down from a row, by rows. It measures before, since a finger that rests is a long press.
func (b *tab) drag(row, by float64, events int) {
	b.t.Helper()
	from, to := b.cell(3, row), b.cell(3, row+by)
	b.touch(down, from)
	for i := range events {
		b.touch(across, spot{from.x, from.y + (to.y-from.y)*float64(i+1)/float64(events)})
	}
	b.touch(up)
}

// TestBrowserSelectsByTouch: a long press and a double tap take the word, a finger extends it, also by its handles, a
// tap takes it back; on either screen, in the history, and while a program reads the mouse.
func TestBrowserSelectsByTouch(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	b.permit(browser.PermissionSettingGranted, "clipboard-read", "clipboard-write")
	for _, test := range []struct{ name, script string }{
		{"normal", `printf 'one two-words(three)\r\n'; exec cat`},
		{"alternate", `printf '\033[?1049h\033[Hone two-words(three)\r\n'; exec cat`},
		{"mouse", `printf '\033[?1003;1006hone two-words(three)\r\n'; exec cat`},
		{"history", `seq 300; for i in $(seq 100); do echo 'one two-words(three)'; done; exec cat`},
	} {
		id := s.create("sh", "-c", test.script).ID
		b.open(s, id)
		b.shows("two-words")
		if test.name == "history" {
			b.drag(3, 8, 4)
		}
		b.offersCopy(false)
		size := b.eval(`JSON.stringify(window.evertty.size())`)
		b.touch(down, b.cell(6, 0))
		b.offersCopy(true)
		b.touch(up)
		b.shoot()
		b.copies(test.name+": the word", "two-words")

		b.touch(down, b.cell(6, 0))
		b.offersCopy(true)
		b.touch(across, b.cell(10, 0))
		b.touch(across, b.cell(18.2, 0))
		b.touch(up)
		b.has("handles", count(".grip:not([hidden])"), "2")
		grip := b.middle(".grip.from")
		b.touch(down, spot{grip.x + 15, grip.y - 15})
		for cells := range 4 { // by four
			b.touch(across, spot{grip.x + 15 + b.cell(0, 0).x - b.cell(float64(cells+1), 0).x, grip.y - 15})
		}
		b.touch(up)
		b.copies(test.name+": extended", "one two-words(three")

		if test.name != "mouse" { // there taps are the program's
			b.taps(2, func() spot { return b.cell(1, 0) }, "a word", func() bool { return b.eval(canCopy) == "true" })
			b.copies(test.name+": the word of a double tap", "one")
		}
		b.touch(down, b.cell(6, 0))
		b.offersCopy(true)
		b.touch(up)
		row := 3.0
		b.taps(1, func() spot { row = 13 - row; return b.cell(1, row) }, "no selection", func() bool {
			return b.eval(canCopy) == "false"
		})
		if got := b.eval(`JSON.stringify(window.evertty.size())`); got != size {
			t.Errorf("%s: the size went from %s to %s", test.name, size, got)
		}
	}
}

// copy copies what is selected by the key bar. A tap that a busy machine makes a long press is tried again, a while
// later: where the key was is another one then.
func (b *tab) copy() {
	b.t.Helper()
	b.offersCopy(true)
	eventually(b.t, "nothing selected", func() bool {
		b.tap(keyCopy)
		return polling.Until(5*time.Second, func() bool { return b.eval(canCopy) == "false" })
	})
}

// copies copies what is selected by the key bar and waits until the clipboard has it.
func (b *tab) copies(what, want string) {
	b.t.Helper()
	b.copy()
	b.eval(`(navigator.clipboard.readText().then(t => window.clip = t, e => window.clip = e.message), "")`)
	b.has(what, `window.clip`, want)
}

// TestBrowserCopiesWrappedLinesAsOne: rows that the margin broke are one line, a line feed is one, and what is selected
// stays while the program prints.
func TestBrowserCopiesWrappedLinesAsOne(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	b.permit(browser.PermissionSettingGranted, "clipboard-read", "clipboard-write")
	word := strings.Repeat("long", 30)
	id := s.create("sh", "-c", "echo "+word+"; echo next; while read x; do echo $x; done; seq 3; sleep 1; exit").ID
	b.open(s, id)
	b.shows("next")
	b.touch(down, b.cell(2, 0))
	b.offersCopy(true)
	b.touch(up)
	s.input(id, "more\n")
	b.shows("more\nmore")
	b.copies("a word of three rows", word)

	b.touch(down, b.cell(2, 1))
	b.offersCopy(true)
	b.touch(across, b.cell(1, 2))
	b.touch(across, b.cell(3.2, 3))
	b.touch(up)
	b.copies("two lines", word+"\nnext")

	s.input(id, "\x04")
	b.reads(".banner", "Exited")
	b.touch(down, b.cell(2, 0))
	b.sees("a way to copy from a program that has ended", `document.querySelector(".keybar button").disabled`,
		func(s string) bool { return s == "false" })
	b.touch(up)
	b.tap(".keybar button")
	b.eval(`(window.clip = "", navigator.clipboard.readText().then(t => window.clip = t), "")`)
	b.has("the word", `window.clip`, word)
}

// TestBrowserPastesByTouch: the key bar pastes the clipboard where the page may read it, and else opens a field.
func TestBrowserPastesByTouch(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	b.permit(browser.PermissionSettingGranted, "clipboard-read", "clipboard-write")
	r := s.records(`\033[?2004htwo\r\nlines\r\n`, wire.CreateTerminal{})
	b.open(s, r.id)
	b.shows("ready")
	b.offersCopy(false)
	for _, key := range []string{keyPaste, ".keybar button"} {
		if got := b.eval(`(r => Math.min(r.width, r.height) >= 44)(document.querySelector("` + key +
			`").getBoundingClientRect())`); got != "true" {
			t.Errorf("%s is too small for a finger", key)
		}
	}
	b.touch(down, b.cell(1, 0))
	b.offersCopy(true)
	b.touch(across, b.cell(2, 1))
	b.touch(across, b.cell(4, 1))
	b.touch(up)
	b.copy()
	b.tap(keyPaste)
	if got := r.until(t, "\x1b[201~"); got != "\x1b[200~two\nlines" {
		t.Errorf("pasted %q", got)
	}

	b.permit(browser.PermissionSettingDenied, "clipboard-read")
	b.tap(keyPaste)
	b.reads("dialog", "does not let this page read the clipboard")
	b.shoot()
	const focus = `document.activeElement.matches(".xterm-helper-textarea")`
	const inField = `document.activeElement.matches("dialog textarea")`
	b.has("the focus in the field", inField, "true")
	b.eval(`document.execCommand("insertText", false, "by hand")`)
	b.tap("dialog .primary")
	if got := r.until(t, "by hand\x1b[201~"); !strings.HasSuffix(got, "\x1b[200~") {
		t.Errorf("pasted %q", got)
	}
	b.has("no dialog", count("dialog"), "0")

	b.taps(1, func() spot { return b.cell(1, 6) }, "the focus in the terminal", func() bool {
		return b.eval(focus) == "true"
	})
	b.tap(keyPaste)
	b.reads("dialog", "does not let this page read the clipboard")
	b.has("the focus in the field", inField, "true") // a key pressed before goes to what had it
	b.presses("v", "paste")
	if got := r.until(t, "two\nlines\x1b[201~"); !strings.HasSuffix(got, "\x1b[200~") {
		t.Errorf("pasted %q", got)
	}
	b.has("no dialog", count("dialog"), "0")
	b.has("the focus in the terminal again", focus, "true")
}

// presses presses a key whose editing command the browser carries out, as of a chord with Ctrl.
func (b *tab) presses(key, command string) {
	b.t.Helper()
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: input.DispatchKeyEventTypeRawKeyDown, Key: key, Commands: []string{command}})
		return err
	}))
}
