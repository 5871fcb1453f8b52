package tests

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// chrome is the browser: $EVERTTY_TEST_CHROME, else the first one installed. Without any its tests are skipped.
func chrome(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("EVERTTY_TEST_CHROME"); name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("EVERTTY_TEST_CHROME: %v", err)
		}
		return path
	}
	for _, name := range []string{"google-chrome", "google-chrome-stable", "chromium", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("the browser tests need Chrome or Chromium: install one (Debian: apt-get install chromium), or set " +
		"EVERTTY_TEST_CHROME to its path")
	return ""
}

// tab is a page in a real browser. Its methods fail the test.
type tab struct {
	t       *testing.T
	ctx     context.Context
	dialogs chan string
}

// browsers has a place for each browser that runs: each takes some hundred megabytes.
var browsers = make(chan struct{}, 2)

// browse opens an empty page in a browser of its own, with more options if there are any.
func browse(t *testing.T, width, height int, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	program := chrome(t)
	browsers <- struct{}{}
	t.Cleanup(func() { <-browsers })
	dir, err := os.MkdirTemp("", "b") // short: a browser has sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true),
		// Its profile is chromedp's, who waits for all of the browser to be gone.
		chromedp.Env("TMPDIR="+dir), chromedp.WindowSize(width, height))
	o = append(o, more...)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), o...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts the browser, which ends with this context
		t.Fatalf("browser: %v", err)
	}
	b := &tab{t: t, ctx: ctx, dialogs: make(chan string, 8)}
	b.run(chromedp.EmulateViewport(int64(width), int64(height)))
	if err := chromedp.Listen(ctx, b.noteDialog); err != nil {
		t.Fatalf("browser: %v", err)
	}
	return b
}

func (b *tab) noteDialog(event any) {
	if d, ok := event.(*page.EventJavascriptDialogOpening); ok {
		b.dialogs <- d.Message
	}
}

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// eval is what a JavaScript expression gives, as a string.
func (b *tab) eval(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string](`String(`+expression+`)`))
	if err != nil {
		b.t.Fatalf("browser: %s: %v", expression, err)
	}
	return s
}

// sees waits until the expression gives something that fits.
func (b *tab) sees(what, expression string, fits func(string) bool) string {
	b.t.Helper()
	var last string
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if last = b.eval(expression); fits(last) {
			return last
		}
		select {
		case <-tick.C:
		case <-limit.C:
			b.shoot()
			b.t.Fatalf("the page does not show %s; %s is\n%s", what, expression, last)
		}
	}
}

// shoot keeps a picture where EVERTTY_TEST_SHOTS says, for a person to look at.
func (b *tab) shoot() {
	dir := os.Getenv("EVERTTY_TEST_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
	name := strings.ReplaceAll(b.t.Name(), "/", "-") + "-" + time.Now().Format("150405.000") + ".png"
	if err := os.WriteFile(dir+"/"+name, png, 0o644); err != nil {
		b.t.Error(err)
	}
}

func (b *tab) screen() string { return b.eval(`window.evertty.text()`) }

func (b *tab) state(want string) {
	b.t.Helper()
	b.sees("the state "+want, `window.evertty ? window.evertty.state() : "loading"`, func(s string) bool {
		return s == want
	})
}

// shows waits for a text on the visible screen.
func (b *tab) shows(text string) string {
	b.t.Helper()
	return b.sees(text, `window.evertty.text()`, func(s string) bool { return strings.Contains(s, text) })
}

// open logs in by a new one-time link and goes to a terminal. The link that the server
// has printed may have expired before the browser is there.
func (b *tab) open(s *server, id string) {
	b.t.Helper()
	b.run(chromedp.Navigate(s.link()))
	b.state("open")
	b.attach(id)
}

func (b *tab) attach(id string) {
	b.t.Helper()
	b.eval(`location.hash = "#/pty/` + id + `"`)
	b.sees("the terminal "+id, `window.evertty.id()`, func(s string) bool { return s == id })
}

// browsed is a server with a token, and a terminal of it in a browser. The terminal prints text, then it echoes.
func browsed(t *testing.T, text string) (s *server, id string, b *tab) {
	t.Helper()
	s = start(t, launch{auth: "token"})
	id = s.create("sh", "-c", "echo "+text+"; exec cat").ID
	b = browse(t, 1200, 700)
	b.open(s, id)
	b.shows(text)
	return s, id, b
}

// keys types into the terminal like a person.
func (b *tab) keys(text string) {
	b.t.Helper()
	b.eval(`[...document.querySelectorAll(".xterm-helper-textarea")].find(e => e.checkVisibility()).focus()`)
	for _, r := range text {
		b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { return press(ctx, t, string(r)) }))
	}
}

// press is one key down and up. The text belongs to the key going down; a
// browser makes the character of it.
func press(ctx context.Context, t *chromedp.Target, text string) error {
	p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: text, Text: text}
	switch text {
	case enter:
		p.Key, p.Code, p.WindowsVirtualKeyCode = "Enter", "Enter", 13
	case backspace:
		p.Key, p.Code, p.WindowsVirtualKeyCode, p.Text = "Backspace", "Backspace", 8, ""
	}
	if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p); err != nil {
		return err
	}
	p.Type, p.Text = input.DispatchKeyEventTypeKeyUp, ""
	_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p)
	return err
}

// What the Enter and the Backspace key write.
const (
	enter     = "\r"
	backspace = "\x7f"
)

// TestBrowserSeesTheSameScreenAfterAKill types a command in a real browser,
// kills and restarts the server, and reads the same screen again.
func TestBrowserSeesTheSameScreenAfterAKill(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", flags: []string{"--snapshot-interval", "200ms"}})
	id := s.create("bash", "--norc").ID
	s.await(id, `[$#] ?$`)
	b := browse(t, 1200, 700)
	b.open(s, id)
	b.keys(`printf '\033[1;31mred%s\033[0m\n' $((6*7))` + enter)
	b.shows("\nred42")
	s.await(id, `^red42$`)
	before := b.screen()
	b.shoot()
	s.savedNow(id)

	s.kill()
	b.state("reconnecting")
	if got := b.screen(); got != before {
		t.Errorf("while the server is away the page shows\n%s\nwant\n%s", got, before)
	}
	b.shoot()
	s.again()
	b.state("open")
	after := b.sees("the same screen", `window.evertty.text()`, func(s string) bool { return s == before })
	if !strings.Contains(after, "red42") {
		t.Errorf("the screen after the restart\n%s", after)
	}
	b.keys("echo still $((40+2)) here" + enter)
	b.shows("\nstill 42 here")
	b.shoot()

	s.stop()
	b.state("reconnecting")
	s.again()
	b.state("open")
	b.keys("exit 3" + enter)
	b.sees("how it ended", `document.body.innerText`, func(s string) bool {
		return strings.Contains(s, "Exited with code 3.")
	})
	b.shoot()
	b.eval(`(Array.from(document.querySelectorAll("button")).find((b) => b.textContent.trim() === ` +
		`"Restart").click(), "")`)
	b.shows("restarted")
	b.keys("echo once more $((40+2))" + enter)
	b.shows("\nonce more 42")
	b.shoot()
}

// savedNow waits until the terminal's present screen is on disk.
func (s *server) savedNow(id string) {
	s.t.Helper()
	want := strings.TrimSpace(s.text(id))
	eventually(s.t, "the screen is on disk", func() bool {
		files, err := filepath.Glob(filepath.Join(s.how.dir, "terminals", id, "screen.*"))
		s.must(err)
		return slices.ContainsFunc(files, func(name string) bool {
			b, err := os.ReadFile(name) // it may just have been replaced
			return err == nil && strings.Contains(render(s.t, string(b), "text"), want)
		})
	})
}

// TestBrowserSwitchesTerminals: one page, several terminals, nothing missed
// while another one is shown.
func TestBrowserSwitchesTerminals(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	one, two := s.create("sh", "-c", "echo first; exec cat").ID, s.create("sh", "-c", "echo second; exec cat").ID
	b := browse(t, 1200, 700)
	b.open(s, one)
	b.shows("first")
	b.attach(two)
	b.shows("second")
	b.keys("typed here" + enter)
	b.shows("typed here\ntyped here")
	b.attach(one)
	b.shows("first")
	s.input(two, "meanwhile\n")
	b.attach(two)
	b.shows("meanwhile\nmeanwhile")
	if n := s.info(two).Viewers; n != 1 {
		t.Errorf("%d viewers of the second terminal, want the page alone", n)
	}
	s.input(two, "\x04")
	b.sees("that the program has ended", `document.body.innerText`, func(s string) bool {
		return strings.Contains(strings.ToLower(s), "exited")
	})
}

// TestBrowserShowsHostileTextAsText: titles and names never become markup, and
// nothing that a program prints makes the page answer.
func TestBrowserShowsHostileTextAsText(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	const evil = `<img src=x onerror=alert(1)>`
	id := s.create("sh", "-c", `printf '\033]2;`+evil+`\007'; printf 'ready\033[6n\033[c\033]10;?\007'; exec cat -v`).ID
	s.await(id, `ready`)
	b := browse(t, 1200, 700)
	b.open(s, id)
	b.shows("ready")
	b.sees("the title", `document.title`, func(s string) bool { return strings.Contains(s, evil) })
	b.sees("the title in the list", `document.body.innerText`, func(s string) bool { return strings.Contains(s, evil) })
	if n := b.eval(`document.querySelectorAll("img").length`); n != "0" {
		t.Errorf("%s images on the page", n)
	}
	s.input(id, "end\n")
	b.shows("end")
	select {
	case d := <-b.dialogs:
		t.Errorf("a dialog opened: %s", d)
	default:
	}
	// The tty echoes the server's one answer, and the program shows it.
	text := s.await(id, `end\n.*end$`)
	if c := strings.Count(text, "^[[1;6R"); c != 2 {
		t.Errorf("the cursor position report shows %d times, want 2:\n%s", c, text)
	}
}

// TestBrowserOnAPhone: nothing is wider than the screen, and the list opens.
func TestBrowserOnAPhone(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("sh", "-c", "echo small; exec cat").ID
	b := browse(t, 390, 844)
	b.open(s, id)
	b.shows("small")
	b.sees("a terminal as narrow as the phone", `window.evertty.size().cols`, func(s string) bool {
		return len(s) == 2 && s < "80"
	})
	if w := b.eval(`document.documentElement.scrollWidth <= innerWidth`); w != "true" {
		t.Error("the page is wider than the phone")
	}
	b.shoot()
}

// TestBrowserWithoutLogin says what to do and shows nothing.
func TestBrowserWithoutLogin(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	s.create("sh", "-c", "echo secret; exec cat")
	b := browse(t, 1200, 700)
	b.run(chromedp.Navigate(s.url + "/"))
	b.sees("how to log in", `document.body.innerText`,
		func(s string) bool { return strings.Contains(s, "evertty url") })
	if strings.Contains(b.eval(`document.body.innerText`), "secret") {
		t.Error("the page shows a terminal to somebody who is not logged in")
	}
}
