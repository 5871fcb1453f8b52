package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// soon is how fast the page has to show what happens to a thread, on a machine that does nothing else.
const soon = 2 * time.Second

// click clicks the first element that a selector finds, as soon as there is one.
func (b *tab) click(selector string) {
	b.t.Helper()
	find := `document.querySelector('` + selector + `')`
	b.sees("something to click at "+selector, find+` !== null`, func(s string) bool { return s == "true" })
	b.eval(`(` + find + `.click(), "")`)
}

// inner is the text of the first element that a selector finds, "" without one.
func inner(selector string) string {
	return `(document.querySelector('` + selector + `')?.innerText ?? "")`
}

// reads waits until an element's text contains something.
func (b *tab) reads(selector, want string) {
	b.t.Helper()
	b.sees(want+" at "+selector, inner(selector), func(s string) bool { return strings.Contains(s, want) })
}

// live is reads of what has just happened: the page shows it by itself, and soon.
func (b *tab) live(selector, want string) {
	b.t.Helper()
	began := time.Now()
	b.reads(selector, want)
	if took := time.Since(began); took > soon && full() {
		b.t.Errorf("%s took %v to show", want, took)
	} else {
		b.t.Logf("%s shows after %v", want, took.Round(time.Millisecond))
	}
}

// dot is the colour of a badge.
func (b *tab) dot(selector string) string {
	b.t.Helper()
	return b.eval(`getComputedStyle(document.querySelector('` + selector + `'), "::before").borderColor`)
}

const (
	panelHeader = ".session-status-header"
	panelStatus = panelHeader + " .status-badge:not(.provider-badge)"
	panelLease  = panelHeader + " .provider-badge"
	panelCwd    = ".session-status-body .cwd"
	panelOther  = ".status-others button"
	panelAction = ".status-section header .small"
)

// execs runs a command in a session's shell.
func (s *server) execs(session, command string) {
	s.t.Helper()
	r, err := s.Exec(s.ctx(), session, "", client.ExecRequest{Command: command})
	s.must(err)
	if r.ExitCode != 0 {
		s.t.Fatalf("%s: exit code %d\n%s", command, r.ExitCode, r.Stderr)
	}
}

// TestBrowserShowsTheSession: the status panel opens over the terminal without changing its size, shows changes of
// directories while they happen, hides the values of variables, and pauses and resumes.
func TestBrowserShowsTheSession(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("bash", "--norc")
	s.await(pty.ID, `[$#] ?$`)
	b := browse(t, 1200, 700)
	b.open(s, pty.ID)
	b.reads(panelStatus, "active")
	b.reads(panelLease, "local")
	b.shoot()
	size := b.eval(`JSON.stringify(window.evertty.size())`)
	if got := b.eval(`document.querySelector("` + panelHeader + `").getAttribute("aria-expanded")`); got != "false" {
		t.Errorf("the panel begins with aria-expanded %s", got)
	}
	b.click(panelHeader)
	b.reads(".session-status-body", "Expires")
	for _, card := range []string{"Session", "Terminal", "Lease"} {
		b.has("the card of the "+card, `[...document.querySelectorAll(".session-status-panel .status-section")]`+
			`.filter(e => e.querySelector("h2").innerText === "`+card+`" && `+
			`e.querySelectorAll(".status-grid dt").length > 1)`+
			`.length`, "1")
	}
	b.reads(".session-status-body .left", "in ")
	if got := b.eval(`JSON.stringify(window.evertty.size())`); got != size {
		t.Errorf("the open panel makes the terminal %s instead of %s", got, size)
	}

	b.keys("cd /usr" + enter)
	b.live(panelCwd, "/usr")
	s.execs(pty.Session, "cd /tmp; export COLOUR=teal4711 SECRET=hunter2")
	b.live(panelOther, "/tmp")
	s.execs(pty.Session, "cd /var")
	b.live(panelOther, "/var")

	b.click(panelOther)
	b.live(panelCwd, "/var")
	b.reads(".env-delta", "SECRET")
	if strings.Contains(b.eval(`document.documentElement.outerHTML`), "teal4711") {
		t.Error("the value of a variable is in the page before anybody asked for it")
	}
	b.click(".env-delta .small")
	b.reads(".env-delta", "teal4711")
	b.reads(".env-delta", "***")
	if strings.Contains(b.eval(`document.documentElement.outerHTML`), "hunter2") {
		t.Error("the value of a variable that is named like a secret is in the page")
	}
	b.shoot()

	running := b.dot(panelStatus)
	b.click(panelAction)
	b.live(panelStatus, "paused")
	if paused := b.dot(panelStatus); paused == running {
		t.Errorf("active and paused have the same colour %s", running)
	}
	b.reads(panelAction, "Resume")
	b.shoot()
	b.click(panelAction)
	b.live(panelStatus, "active")

	b.click(panelHeader)
	if got := b.eval(`document.querySelector(".session-status-body") === null`); got != "true" {
		t.Error("the panel does not close")
	}
}

// TestBrowserShowsTheSessionOnAPhone: nothing of the panel is wider than the screen.
func TestBrowserShowsTheSessionOnAPhone(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo small; exec cat")
	s.execs(pty.Session, `cd /tmp; export LONG_NAME_OF_A_VARIABLE=$(printf %0200d 7)`)
	b := browse(t, 360, 740)
	b.open(s, pty.ID)
	b.shows("small")
	b.reads(panelStatus, "active")
	b.shoot()
	b.click(panelHeader)
	b.click(panelOther)
	b.click(".env-delta .small")
	b.reads(".env-delta", "0007")
	b.shoot()
	wide := `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(".side,` +
		`.screen") && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className).join()`
	if got := b.eval(wide); got != "" {
		t.Errorf("wider than the phone: %s", got)
	}
	if w := b.eval(`document.querySelector(".head-title").getBoundingClientRect().width > 40`); w != "true" {
		t.Error("there is no room for the terminal's name")
	}
}

// TestBrowserAnnouncesTheEndOfASession: a warning with the time that is left, which a touch ends, and the end itself.
// Who looks at a running terminal keeps its session alive, so that the terminal on display is one that has ended.
func TestBrowserAnnouncesTheEndOfASession(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo over")
	s.exit(pty.ID)
	s.execs(pty.Session, "cd /tmp")
	b := browse(t, 1200, 700)
	b.open(s, pty.ID)
	b.shows("over")
	b.reads(panelStatus, "active")
	s.execs(pty.Session, "true") // the time runs from now
	// A third of it is announced, and has to be long enough to look at it.
	_, err := s.SetThreadPolicy(s.ctx(), pty.Session, wire.SetPolicy{IdleSeconds: new(30.0)})
	s.must(err)
	b.reads(".expiry", "0:")
	b.reads(panelStatus, "idle")
	b.shoot()
	b.click(".expiry .primary")
	b.live(panelStatus, "active")
	b.sees("no notice", inner(".expiry"), func(s string) bool { return s == "" })

	_, err = s.DestroySandbox(s.ctx(), pty.Session)
	s.must(err)
	b.live(panelStatus, "closed")
	b.reads(".expiry", "The next command starts a new one in the same directory.")
	b.click(panelHeader)
	b.reads(".note", "The next command")
	b.shoot()
	s.execs(pty.Session, `test "$PWD" = /tmp`)
	b.live(panelStatus, "active")
	b.sees("no notice", inner(".expiry"), func(s string) bool { return s == "" })
}

// TestBrowserWithoutAnAnswerAboutTheSession: there is no panel, and the terminal is as usable as ever.
func TestBrowserWithoutAnAnswerAboutTheSession(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo here; exec cat")
	b := browse(t, 1200, 700)
	b.run(chromedp.Func(blockThreads))
	b.open(s, pty.ID)
	b.shows("here")
	b.keys("typed" + enter)
	b.shows("typed\ntyped")
	if got := b.eval(inner(panelHeader)); got != "" {
		t.Errorf("a panel without anything to show: %s", got)
	}
}

// blockThreads makes all requests about threads fail.
func blockThreads(ctx context.Context, t *chromedp.Target) error {
	if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	_, err := cdp.Call(ctx, t, network.SetBlockedURLs,
		network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/api/threads/*",
			Block: true}}})
	return err
}
