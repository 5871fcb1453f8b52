package tests

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/wire"
)

// shown is the element of the terminal that the page shows.
const shown = `document.querySelector(".screen:not([hidden])")`

// TestBrowserChoosesTheRenderer: this browser has no graphics hardware, so WebGL would
// draw a few frames a second; the setting overrules that.
func TestBrowserChoosesTheRenderer(t *testing.T) {
	t.Parallel()
	_, _, b := browsed(t, "plain")
	if canvas := b.eval(shown + `.querySelector("canvas") === null`); canvas != "true" {
		t.Error("drawn with WebGL, which is emulated here")
	}
	b.eval(`(localStorage.setItem("evertty.renderer", "webgl"), "")`)
	b.run(chromedp.Reload())
	b.sees("a canvas", `window.evertty && `+shown+` !== null &&
		`+shown+`.querySelector("canvas") !== null`, func(s string) bool {
		return s == "true"
	})
}

// TestBrowserShowsTheCursorOfALargeTerminal: a terminal that is larger than the page
// begins with its cursor in view.
func TestBrowserShowsTheCursorOfALargeTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.createWith(wire.CreateTerminal{
		Cmd:  []string{"sh", "-c", `seq 1 150; printf '%150s>' x; exec cat`},
		Cols: new(220), Rows: new(120), SizePolicy: "fixed",
	}).ID
	s.await(id, `x>`)
	b := browse(t, 900, 600)
	b.open(s, id)
	b.shows("x>")
	b.sees("the cursor inside the view", `(() => {
		const host = `+shown+`.getBoundingClientRect();
		const cells = `+shown+`.querySelector(".xterm-screen").getBoundingClientRect();
		const left = cells.left + 151 * cells.width / 220, top = cells.top + 119 * cells.height / 120;
		return left >= host.left && left + cells.width / 220 <= host.right && top >= host.top &&
			cells.bottom <= host.bottom;
	})()`, func(s string) bool { return s == "true" })
	b.shoot()
}

// TestBrowserSaysHowProgramsEnded: the list tells success, failure and signals apart,
// and the chosen row is readable (WCAG 2 asks for 4.5 to 1).
func TestBrowserSaysHowProgramsEnded(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("true").ID
	s.create("sh", "-c", "exit 3")
	s.create("sh", "-c", "kill -9 $$")
	b := browse(t, 1000, 600)
	b.open(s, id)
	for _, want := range []string{"exited 0", "exited 3", "SIGKILL"} {
		b.sees(want, `document.querySelector(".side").innerText`, func(s string) bool {
			return strings.Contains(s, want)
		})
	}
	ratio := b.sees("the chosen row", `(() => {
		const row = document.querySelector(".row.current");
		if (row === null) return 0;
		const canvas = document.createElement("canvas").getContext("2d");
		const paint = (...colors) => {
			for (const c of colors) { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); }
			return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
		};
		const light = (rgb) => rgb.map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v +
			0.055) / 1.055) ** 2.4)
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = light(paint(getComputedStyle(document.querySelector(".side")).backgroundColor,
			getComputedStyle(row).backgroundColor));
		return Math.min(...["row-detail", "badge", "viewers"].map((name) => {
			const text = light(paint(getComputedStyle(row.querySelector("." + name)).color));
			return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
		}));
	})()`, func(s string) bool { return s != "0" })
	if r, err := strconv.ParseFloat(ratio, 64); err != nil || r < 4.5 {
		t.Errorf("contrast %s, want at least 4.5", ratio)
	}
	b.shoot()
}

// TestBrowserCountsOnceWhoLooks: a terminal that the page keeps and does not show has
// no viewer.
func TestBrowserCountsOnceWhoLooks(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	one, two := s.create("sh", "-c", "echo first; exec cat").ID, s.create("sh", "-c", "echo second; exec cat").ID
	b := browse(t, 1200, 700)
	b.open(s, one)
	b.shows("first")
	b.attach(two)
	b.shows("second")
	viewers := func(id string, want int) {
		t.Helper()
		eventually(t, "the number of viewers", func() bool { return s.info(id).Viewers == want })
	}
	viewers(one, 0)
	viewers(two, 1)
	s.kill()
	b.state("reconnecting")
	s.again()
	b.state("open")
	viewers(two, 1)
	viewers(one, 0)
	b.attach(one)
	viewers(one, 1)
	viewers(two, 0)
}

// TestBrowserLeadsToTheApproval: typing where permissions ask says so and leads to the
// call that waits.
func TestBrowserLeadsToTheApproval(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("sh", "-c", "echo asks; exec cat").ID
	s.careful(s.info(id).Session, object{"mode": "prompt"})
	b := browse(t, 1200, 700)
	b.open(s, id)
	b.shows("asks")
	b.keys("x")
	b.sees("the way to the approval", `document.querySelector(".toasts").innerText`, func(s string) bool {
		return strings.Contains(s, "Review")
	})
	b.shoot()
	b.eval(`([...document.querySelectorAll(".toast button")].find((e) => e.textContent.trim() === ` +
		`"Review").click(), "")`)
	b.sees("the call that waits", `document.body.innerText`, func(s string) bool {
		return strings.Contains(s, "Calls that wait for you") && strings.Contains(s, "Approve")
	})
	b.shoot()
}
