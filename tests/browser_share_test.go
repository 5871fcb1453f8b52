package tests

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/wire"
)

// guest opens a link in a browser of its own, as large as a small phone.
func guest(t *testing.T, link string) *tab {
	t.Helper()
	b := browse(t, 320, 640)
	b.run(chromedp.Navigate(link))
	b.state("open")
	return b
}

// says waits until the page shows a sentence.
func (b *tab) says(sentence string) {
	b.t.Helper()
	b.sees(sentence, `document.body.innerText`, func(s string) bool { return strings.Contains(s, sentence) })
}

// TestBrowserOfAGuest: who opens a link sees that terminal and nothing to do with others; the role read does not type,
// also over a kill of the server; the secret leaves the address and the history; a revoked link ends with a sentence.
func TestBrowserOfAGuest(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("sh", "-c", "echo shared; exec cat").ID
	other := s.create("sh", "-c", "echo private; exec cat").ID
	made, secret := s.share(object{"pty": id, "uses": 1, "name": "for tea"})
	b := guest(t, made.URL)
	b.shows("shared")
	b.says("for tea")
	b.says("Shared with you: look only")
	if w := b.eval(`document.documentElement.scrollWidth <= innerWidth`); w != "true" {
		t.Error("the page is wider than the phone")
	}
	b.shoot()
	if at := b.eval(`location.href + " " + document.referrer + " " + history.length`); strings.Contains(at, secret) ||
		!strings.HasPrefix(at, s.url+"/t/"+made.ID+"/") {
		t.Errorf("the page is at %s", at)
	}
	words := b.eval(`document.body.innerHTML`)
	if regexp.MustCompile(`private|New terminal|Close |Log out|Restart|` + other).MatchString(words) {
		t.Errorf("the guest sees %s", words)
	}
	b.keys("typed" + enter)
	s.kill()
	b.state("reconnecting")
	s.again()
	b.eval(`dispatchEvent(new Event("online"))`)
	b.state("open")
	b.keys("typed" + enter)
	s.input(id, "by the owner\n")
	b.shows("by the owner")
	if text := b.screen(); strings.Contains(text, "typed") {
		t.Errorf("a reader typed: %s", text)
	}
	b.run(chromedp.Reload()) // no use
	b.state("open")
	b.shows("by the owner")
	s.with("DELETE", "/shares/"+made.ID, "", "Authorization", s.bearer()).wants(200)
	b.state("unauthorized")
	b.says("This link has ended")
	b.shoot()
	b.run(chromedp.Navigate(made.URL))
	b.sees("that the link opens nothing", `document.body.innerText`,
		func(s string) bool {
			return strings.Contains(s, "It is wrong, has expired, was used up or was revoked")
		})
}

// TestBrowserOfAGuestWhoTypes: of a session, with all its terminals, beside a login and another link in one browser,
// none of which ends or helps another.
func TestBrowserOfAGuestWhoTypes(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"sh", "-c", "echo first; exec cat"}, Name: "one"}).ID
	outside := s.createIn("other", "sh", "-c", "echo outside; exec cat").ID
	made, _ := s.share(object{"session": "test", "role": "write"})
	second, _ := s.share(object{"pty": outside})
	b := browse(t, 1000, 640)
	b.open(s, outside)
	b.shows("outside")
	typing, looking := b.tab(), b.tab()
	typing.run(chromedp.Navigate(made.URL))
	typing.state("open")
	typing.shows("first")
	typing.says("Shared with you: you may type")
	looking.run(chromedp.Navigate(second.URL))
	looking.state("open")
	looking.shows("outside")
	typing.keys("typed" + enter)
	s.await(id, "^typed\n^typed$")
	later := s.create("sh", "-c", "echo later; exec cat").ID
	typing.has("both terminals in the list", count(".row"), "2")
	typing.attach(later)
	typing.shows("later")
	typing.shoot()
	if text := typing.eval(`document.body.innerText`); strings.Contains(text, "New terminal") ||
		strings.Contains(text, "other") {
		t.Errorf("the guest sees %s", text)
	}
	s.with("DELETE", "/shares/"+made.ID, "", "Authorization", s.bearer()).wants(200)
	typing.state("unauthorized")
	looking.state("open")
	s.input(outside, "still here\n")
	looking.shows("still here")
	b.shows("still here")
	b.run(chromedp.Reload())
	b.state("open")
	s.with("DELETE", "/pty/"+outside, "", "Authorization", s.bearer()).wants(200)
	looking.says("This terminal was closed.")
}

// TestBrowserGivesAnotherPortNoShare: a page on another port of the host gets no cookie of a link.
func TestBrowserGivesAnotherPortNoShare(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	made, _ := s.share(object{"pty": s.create("cat").ID})
	b := guest(t, made.URL)
	url, cookies := neighbour(t, `<img src="/t/"><title>over</title>`)
	b.run(chromedp.Navigate(url))
	b.has("the other page", `document.title`, "over")
	for range 2 {
		if cookie := <-cookies; cookie != "" {
			t.Errorf("the other port got %q", cookie)
		}
	}
}

// stranger opens a tab of the same program that shares nothing with the others: another person's browser. A second
// program would wait for a place, which another test may have that waits too.
func (b *tab) stranger() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	b.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which ends with this context
		b.t.Fatalf("browser: %v", err)
	}
	return &tab{t: b.t, ctx: ctx, dialogs: b.dialogs}
}

// TestBrowserShares: the owner makes a link in the dialog of the page, sees its QR code and its viewers, and revokes
// it; everything is reached by the keyboard.
func TestBrowserShares(t *testing.T) {
	t.Parallel()
	s, _, b := browsed(t, "ready")
	b.click(`button[aria-label="Share"]`)
	b.sees("the dialog", inner("dialog h2"), func(s string) bool { return strings.HasPrefix(s, "Share ") })
	b.eval(`(document.querySelector("dialog [name=role]").value = "write",
		document.querySelector("dialog [name=uses]").value = 2,
		document.querySelector("dialog [name=name]").value = "for tea", "")`)
	b.click(`dialog button[type="submit"]`)
	link := b.sees("the link", `document.querySelector(".link-field")?.value ?? ""`, func(link string) bool {
		return strings.HasPrefix(link, s.url+"/t/")
	})
	b.has("the QR code", `document.querySelector(".qr").naturalWidth > 0`, "true")
	b.sees("what is left of it", inner(".link-row"), func(s string) bool {
		return strings.Contains(s, "for tea") &&
			strings.Contains(s, "may type · 59 minutes left · 2 uses left · 0 viewers")
	})
	b.shoot()
	g := b.stranger()
	g.run(chromedp.Navigate(link))
	g.state("open")
	g.shows("ready")
	g.says("Shared with you: you may type")
	g.keys("typed" + enter)
	b.shows("typed")
	b.sees("its viewer", inner(".link-row"), func(s string) bool { return strings.Contains(s, "1 use left · 1 viewer") })
	b.has("that the focus stays in the dialog", `document.querySelector("dialog").contains(document.activeElement)`,
		"true")
	b.click(`button[aria-label="Revoke for tea"]`)
	g.state("unauthorized")
	g.says("This link has ended")
	b.has("no link in the list", count(".link-row"), "0")
	b.run(chromedp.EmulateViewport(320, 640))
	b.has("a dialog that fits a phone", `[...document.querySelectorAll("dialog")].every(
		(e) => e.scrollWidth <= e.clientWidth)`, "true")
	b.shoot()
	b.click(`dialog .modal-actions button[type="button"]`)
	b.has("a header that fits a phone", `[...document.querySelectorAll(".head button")].every(
		(e) => e.getBoundingClientRect().right <= innerWidth)`, "true")
	b.shoot()
	b.has("no dialog", count("dialog"), "0")
	if shares := s.says("share", "ls"); strings.Contains(shares, "tea") {
		t.Errorf("left is %s", shares)
	}
}
