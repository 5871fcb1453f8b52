package tests

import (
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/wire"
)

// inView says whether the first row of the terminal with this text can be seen, and not what lies over it.
func inView(text string) string {
	return `(r => r !== undefined && document.elementFromPoint(r.left + 1, r.top + r.height / 2)?.closest(".xterm") ` +
		`instanceof Element)([...` + shown + `.querySelectorAll(".xterm-rows > div")].find(e => ` +
		`e.innerText.trim() === "` + text + `")?.getBoundingClientRect())`
}

// TestBrowserShowsAllOfAHighTerminal: a finger reaches every row of a terminal that is higher than its place on the
// page, and the banner covers none of the last ones.
func TestBrowserShowsAllOfAHighTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	program := []string{"sh", "-c", "seq -f row%g 69; exec cat"}
	fixed := s.createWith(wire.CreateTerminal{Cmd: program, Cols: new(60), Rows: new(70), SizePolicy: "fixed"}).ID
	b.open(s, fixed)
	b.has("the last row", inView("row69"), "true")
	for range 2 {
		b.drag(40, 24, 4)
	}
	b.has("the first row", inView("row1"), "true")
	for range 2 {
		b.drag(30, -24, 4)
	}
	b.has("the last row again", inView("row69"), "true")

	plain := s.create(program...).ID
	b.open(s, plain)
	b.has("the last row", inView("row69"), "true")
	size := b.eval(`window.evertty.size().rows`)
	b.run(chromedp.EmulateViewport(420, 400, chromedp.EmulateMobile, chromedp.EmulateTouch))
	size = b.sees("fewer rows", `window.evertty.size().rows`, func(s string) bool { return s != size })
	b.has("the last row on a page that became smaller", inView("row69"), "true")

	ended := s.create("sh", "-c", `read x; printf '\033[2J\033[3J\033[H'; seq -f row%g $x`).ID
	b.open(s, ended)
	b.has("the size of the page", `window.evertty.size().rows`, size)
	rows := b.eval(`window.evertty.size().rows - 1`)
	s.input(ended, rows+"\n")
	b.reads(".banner", "Exited")
	b.has("the last row above the banner", inView("row"+rows), "true")
	b.eval(`(document.documentElement.style.setProperty("--banner-height", "130px"), "")`)
	b.has("the last row above a banner of more lines", inView("row"+rows), "true")
	b.drag(20, 10, 4)
	b.has("the first row of a program that has ended", inView("row1"), "true")
}

// TestBrowserKeepsWhatAFingerSelected: no more than the finger meant, while it rests, while output moves the rows,
// and while a keyboard changes the size; what the history drops is selected no more.
func TestBrowserKeepsWhatAFingerSelected(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	b.permit(browser.PermissionSettingGranted, "clipboard-read", "clipboard-write")
	id := s.create("sh", "-c", "seq -f 'word%g x' 6000; while read n; do seq -f 'more%g x' $n; done").ID
	b.open(s, id)
	b.has("the last row", inView("word6000 x"), "true")
	b.drag(3, 12, 4)
	b.has("the history", inView("word6000 x"), "false")
	top := func() string { return b.eval(shown + `.querySelector(".xterm-rows").innerText.match(/word\d+/)[0]`) }
	word := top()
	b.touch(down, b.cell(2, -0.3))
	b.offersCopy(true)
	b.eval(`(window.rested = 0, setInterval(() => window.rested++, 100), "")`)
	b.sees("a finger that rests", `window.rested`, func(s string) bool { return len(s) > 0 && s >= "5" })
	b.touch(up)
	b.copies("a word of the first row", word)

	b.touch(down, b.cell(2, 0))
	b.offersCopy(true)
	s.input(id, "400\n")
	b.shows("more400")
	b.touch(across, b.cell(5, 0.6))
	b.touch(across, b.cell(20, 0))
	b.touch(up)
	b.copies("a row that the history has moved", word+" x")

	b.touch(down, b.cell(2, 0))
	b.offersCopy(true)
	b.touch(up)
	rows := b.eval(`window.evertty.size().rows`)
	b.run(chromedp.EmulateViewport(420, 400, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.sees("fewer rows", `window.evertty.size().rows`, func(s string) bool { return s != rows })
	b.copies("a word above a keyboard", word)

	b.touch(down, b.cell(2, 0))
	b.offersCopy(true)
	b.touch(up)
	s.input(id, "6000\n")
	b.offersCopy(false)

	wide := s.create("sh", "-c", "echo '日本語 x'; exec cat").ID
	b.open(s, wide)
	b.shows("日本語")
	b.touch(down, b.cell(7, 0))
	b.offersCopy(true)
	b.touch(across, b.cell(3, 0))
	b.touch(across, b.cell(1, 0))
	b.touch(up)
	b.copies("from the right half of a character", "日本語 x")
}

// TestBrowserShowsWhatAKeyDoes: keys and pastes of the key bar show the end as typing does, and no handle lies over a
// button.
func TestBrowserShowsWhatAKeyDoes(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	b := phone(t)
	b.permit(browser.PermissionSettingGranted, "clipboard-read", "clipboard-write")
	id := s.create("sh", "-c", "seq 500; while read x; do "+
		`printf '\033]52;c;aGVsbG8=\a'; done`).ID
	b.open(s, id)
	b.shows("500")
	b.touch(down, b.cell(1, 1))
	b.offersCopy(true)
	b.touch(up)
	b.copy()
	for _, key := range []string{".keybar button", keyPaste} {
		b.drag(3, 12, 4)
		b.has("the history", inView("500"), "false")
		b.tap(key)
		b.has("the end", inView("500"), "true")
	}
	b.touch(down, b.cell(1, 1))
	b.offersCopy(true)
	b.touch(up)
	s.input(id, "\n")
	b.reads(".clipboard-bar", "5 characters")
	b.shoot()
	b.has("handles that cover nothing", `(r => [...Array(100).keys()].map(i => document.elementFromPoint(`+
		`r.left + 1 + (i % 25) * (r.width - 2) / 25, r.top + 1 + Math.floor(i / 25) * (r.height - 2) / 4))`+
		`.filter(e => e.matches(".grip")).length)(document.querySelector(".clipboard-bar").getBoundingClientRect())`,
		"0")
}
