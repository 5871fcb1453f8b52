package tests

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// slowRate is what a slow line carries from the server, in bytes a second.
	slowRate = 1_000_000
	// lineDelay is that of one way: a round trip takes twice as long.
	lineDelay = 250 * time.Millisecond
)

// watchPredictions notes in a page how long each typed character takes to be seen, and what was predicted.
//
// predicted counts cells that were shown before the terminal had them, wrong those among them that it never had, and
// left those among these that were shown for more than a second. ms has the time of each character that was predicted.
const watchPredictions = `(() => {
	const seen = window.predictions = {keys: 0, predicted: 0, wrong: 0, left: 0, ms: []};
	const shown = new Map();
	let key = null;
	const layer = () => [...document.querySelectorAll(".predicted")].find((e) => e.checkVisibility());
	const look = () => {
		const now = performance.now(), cells = new Map(), el = layer();
		if (el) {
			const row = Math.round(parseFloat(el.style.top) / parseFloat(el.style.height));
			let at = Math.round(parseFloat(el.style.left) / parseFloat(el.firstChild.style.width));
			for (const cell of el.children) {
				if (cell.classList.contains("typed")) cells.set(row + ":" + at + ":" + cell.textContent, [row, at]);
				at++;
			}
		}
		const text = window.evertty.text().split("\n");
		for (const [name, [since, row, at]] of shown) {
			if (cells.has(name)) continue;
			shown.delete(name);
			if ((text[row]?.[at] ?? " ") === name.slice(-1)) continue;
			seen.wrong++;
			if (now - since > 1000) seen.left++;
		}
		for (const [name, [row, at]] of cells) {
			if (shown.has(name)) continue;
			shown.set(name, [now, row, at]);
			seen.predicted++;
			if (key && key.text === name.slice(-1)) seen.ms.push(now - key.at);
			key = null;
		}
	};
	window.addEventListener("keydown", (e) => {
		if (e.key.length === 1) key = {text: e.key, at: performance.now()}, seen.keys++;
		if (e.key === "Backspace") shown.delete([...shown.keys()].pop());
	}, true);
	const frame = () => (look(), requestAnimationFrame(frame));
	requestAnimationFrame(frame);
	return "";
})()`

// predictions is what watchPredictions has noted.
type predictions struct {
	Keys, Predicted, Wrong, Left int
	MS                           []float64
}

// slowly has the page on a line with a delay of each way, on a terminal that runs cmd.
func slowly(t *testing.T, delay time.Duration, cmd ...string) (*server, string, *tab) {
	t.Helper()
	s := start(t, launch{auth: "token"})
	id := s.create(cmd...).ID
	b := browse(t, 1000, 600)
	b.openAt(s, slowLine(t, strings.TrimPrefix(s.url, "http://"), delay, slowRate), id)
	return s, id, b
}

// enters types a line like a person, who waits for the prompt.
func (b *tab) enters(line, prompt string) {
	b.t.Helper()
	b.sees("a prompt", `window.evertty.text().trimEnd()`, func(s string) bool {
		return strings.HasSuffix(s, strings.TrimRight(prompt, " "))
	})
	time.Sleep(200 * time.Millisecond) // a person sees it first
	for _, r := range line {
		b.keys(string(r))
		time.Sleep(60 * time.Millisecond)
	}
	b.keys(enter)
}

// noted are the predictions a second behind the last key.
func (b *tab) noted(t *testing.T) (p predictions) {
	t.Helper()
	time.Sleep(time.Second)
	if err := json.Unmarshal([]byte(b.eval(`JSON.stringify(window.predictions)`)), &p); err != nil {
		t.Fatal(err)
	}
	slices.Sort(p.MS)
	t.Logf("%d keys, %d predicted, %d wrong for a moment, %d left after a second; seen after %.1f ms (median), "+
		"%.1f ms (95 %%), %.1f ms (most)", p.Keys, p.Predicted, p.Wrong, p.Left, p.at(0.5), p.at(0.95), p.at(1))
	return p
}

// at is a quantile of MS; -1 when there is none.
func (p predictions) at(q float64) float64 {
	if len(p.MS) == 0 {
		return -1
	}
	return p.MS[int(q*float64(len(p.MS)-1))]
}

// sameAsServer waits until the page shows the server's screen, and nothing predicted over it.
func (b *tab) sameAsServer(s *server, id string) {
	b.t.Helper()
	b.sees("nothing predicted", `[...document.querySelectorAll(".predicted")].some((e) => e.checkVisibility())`,
		func(s string) bool { return s == "false" })
	b.sees("the server's screen", `window.evertty.text().trimEnd()`, func(text string) bool {
		return text != "" && strings.HasSuffix("\n"+trimmed(s.text(id)), "\n"+trimmed(text)) // that has the history too
	})
}

// trimmed is text without blanks at the ends of its lines, and without empty lines at its end.
func trimmed(text string) string {
	return strings.TrimRight(blanksAtEnd.ReplaceAllString(text, ""), "\n")
}

var blanksAtEnd = regexp.MustCompile(`(?m) +$`)

// shellsThatPredict are shells on whose line typed text is predicted.
var shellsThatPredict = []struct {
	name, prompt string
	cmd          []string
}{
	{"bash", "me$ ", []string{"env", "PS1=me$ ", "bash", "--norc", "--noprofile"}},
	{"fish", "me> ", []string{"sh", "-c", `TMPDIR=$PWD exec fish --no-config -C "function fish_prompt; ` +
		`echo -n 'me> '; end"`}},
}

// TestBrowserPredicts: what is typed into a shell on a line with a round trip of 500 ms is on the screen at once, and
// nothing wrong stays there.
func TestBrowserPredicts(t *testing.T) {
	t.Parallel()
	lines := []string{"echo one two three", "true && ecg" + backspace + "ho four", "printf five; echo"}
	for _, shell := range shellsThatPredict {
		t.Run(shell.name, func(t *testing.T) {
			if _, err := exec.LookPath(shell.name); err != nil {
				t.Skipf("%s is not installed", shell.name)
			}
			s, id, b := slowly(t, lineDelay, shell.cmd...)
			b.eval(watchPredictions)
			for i := range times(len(lines), 57) { // 1000 keys
				b.enters(lines[i%len(lines)], shell.prompt)
				if i == 1 {
					b.shoot()
				}
			}
			p := b.noted(t)
			b.sameAsServer(s, id)
			seen, left := float64(times(200, 20)), times(2, 0) // a busy machine draws few frames
			if p.Predicted < p.Keys*3/4 || p.Wrong > 0 || p.Left > left || p.at(0.5) > seen {
				t.Errorf("that is not good enough")
			}
		})
	}
}

// TestBrowserPredictsNothing in an editor, of a secret, which neither the program nor the page shows, and where the
// user does not want it.
func TestBrowserPredictsNothing(t *testing.T) {
	t.Parallel()
	s, id, b := slowly(t, lineDelay, "env", "PS1=me$ ", "HISTFILE=", "bash", "--norc", "--noprofile")
	b.eval(watchPredictions)
	b.enters("stty -a | grep -c icanon", "me$ ") // from here on the prompt is known
	for _, secret := range []struct{ command, asks string }{
		{"read -sp 'me$ ' x", "read -sp 'me$ ' x\nme$ "}, // which looks like the prompt
		{"read -sn 6 -p 'Six: ' x", "Six: "},
		{"stty -echo; read -p 'Word: ' x; stty echo", "Word: "},
	} {
		b.enters(secret.command, "me$ ")
		before := b.noted(t)
		b.enters("hunter", secret.asks)
		if after := b.noted(t); after.Predicted != before.Predicted || after.Keys != before.Keys+6 {
			t.Errorf("%s: predicted %d of %d keys", secret.command, after.Predicted-before.Predicted,
				after.Keys-before.Keys)
		}
		if strings.Contains(b.screen(), "hunter") {
			t.Errorf("%s: the page shows it", secret.command)
		}
	}
	b.eval(`(document.querySelector("[aria-controls=sizes]").click(), "")`)
	b.sees("the choice", `document.querySelector("#sizes input[type=checkbox]")?.checked`, func(s string) bool {
		return s == "true"
	})
	b.shoot()
	b.eval(`(document.querySelector("#sizes input[type=checkbox]").click(), "")`)
	off := b.noted(t)
	b.enters("echo unseen", "me$ ")
	if now := b.noted(t); now.Predicted != off.Predicted || now.Keys != off.Keys+len("echo unseen") {
		t.Errorf("switched off: predicted %d", now.Predicted-off.Predicted)
	}
	b.eval(`(document.querySelector("#sizes input[type=checkbox]").click(), "")`)
	b.enters("vim -u NONE -N", "me$ ")
	b.shows("~")
	before := b.noted(t)
	for range times(1, 44) { // 1000 keys
		b.enters("inew text of an editor\x1b", "")
	}
	p := b.noted(t)
	b.sameAsServer(s, id)
	if p.Predicted != before.Predicted {
		t.Errorf("vim: predicted %d", p.Predicted-before.Predicted)
	}
}
