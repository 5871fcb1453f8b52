package tests

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// named says who a page is, as its user would.
func (b *tab) named(name string) {
	b.t.Helper()
	b.eval(`(localStorage.setItem("evertty-name", "` + name + `"), "")`)
	b.run(chromedp.Reload())
	b.state("open")
}

// presses clicks the button with this text or label.
func (b *tab) button(label string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("button")].find((b) => (b.getAttribute("aria-label") ?? `+
		`b.textContent.trim()) === %q)`, label)
	b.sees("the button "+label, find+` !== undefined`, func(s string) bool { return s == "true" })
	b.eval(`(` + find + `.click(), "")`)
}

// saysNow waits until the page has a text anywhere.
func (b *tab) saysNow(text string) {
	b.t.Helper()
	b.sees(text, `document.body.innerText`, func(s string) bool { return strings.Contains(s, text) })
}

// TestBrowserViewers: two people on one terminal see each other, one locks the keyboard, gives it away when asked, and
// removes the other, who comes back only by a click.
func TestBrowserViewers(t *testing.T) {
	t.Parallel()
	s, id, ann := browsed(t, "ready")
	ann.named("Ann")
	bob := browse(t, 900, 600)
	bob.open(s, id)
	bob.named("Bob")
	const badge = `document.querySelector(".viewers-button")?.title ?? ""`
	for _, b := range []*tab{ann, bob} {
		b.sees("two viewers", badge, func(s string) bool { return s == "2 viewers" })
		b.eval(`(document.querySelector(".viewers-button").click(), "")`)
	}
	bob.saysNow("Ann")
	ann.saysNow("Bob")
	bob.keys("x")
	ann.saysNow("Bob types")
	ann.shoot()

	ann.button("Lock the keyboard")
	bob.sees("who holds it", badge, func(s string) bool { return s == "2 viewers, Ann holds the keyboard" })
	bob.keys("no")
	bob.saysNow("Another viewer holds the keyboard.")
	bob.button("Ask for the keyboard")
	ann.saysNow("asks for the keyboard")
	ann.shoot()
	ann.button("Give Bob the keyboard")
	bob.sees("that it holds it", badge, func(s string) bool { return s == "2 viewers, you hold the keyboard" })
	bob.keys("yes" + enter)
	ann.shows("xyes")

	bob.run(chromedp.Reload()) // the holder is the holder still
	bob.state("open")
	bob.sees("that it holds it", badge, func(s string) bool { return s == "2 viewers, you hold the keyboard" })
	ann.keys("no")
	bob.keys("still" + enter)
	ann.shows("still")
	if text := ann.screen(); strings.Contains(text, "no") {
		t.Errorf("a refused viewer has typed: %s", text)
	}

	ann.button("Remove Bob")
	bob.saysNow("Somebody has removed you from this terminal.")
	bob.shoot()
	ann.sees("nobody else", badge, func(s string) bool { return s == "" })
	s.with(http.MethodPost, "/pty/"+id+"/input", `{"data":"alone\n"}`, "Authorization", "Bearer "+s.token()).wants(200)
	ann.shows("alone")
	if text := bob.screen(); strings.Contains(text, "alone") {
		t.Errorf("a removed viewer sees %s", text)
	}
	bob.button("Watch again")
	bob.shows("alone")
}
