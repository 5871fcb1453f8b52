package main

import (
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/wire"
)

const (
	// slowLine is the round trip from which on keys are predicted: below it nobody sees that an echo is late.
	slowLine = 40 * time.Millisecond
	// quietTime is how long nothing has come from the server when predictions begin: what a program does with input is
	// told 20 ms behind the output that has changed it.
	quietTime = 60 * time.Millisecond
	// repaintTime is how long a row may be another one than predicted: programs repaint theirs in pieces.
	repaintTime = 30 * time.Millisecond
	// leastTimeout bounds from below how long the first echo is awaited, which is 3 round trips.
	leastTimeout = 150 * time.Millisecond
	// surely is in how many half round trips a key has surely been answered.
	surely = 3
	// maxKnown is how many prompts are remembered at which predictions were right: shells, editors, a debugger.
	maxKnown = 8
	// maxPending bounds the keys whose echo is awaited: nobody types more within 3 round trips.
	maxPending = 256
)

// predictor says what a viewer may show of the keys that are on their way, before the program shows them. It begins at
// a key behind a pause, counts keys until the row has them, and shows nothing at a prompt before it has been right
// there. It is pure: times and screens are given to it, by one caller at a time. docs/guide/viewers.md, "Slow lines".
type predictor struct {
	mode    wire.InputMode // the newest of the connection; the zero value predicts nothing
	blocked bool           // this viewer may not type now
	rtt     time.Duration  // of the line; 0 is not known

	disrupted time.Time // a key that is not predicted, or something else after which the screen is not known yet
	answered  bool      // output came after that
	entered   bool      // the last key that was not predicted was Enter
	heard     time.Time // the last event of the server

	// A burst is a run of predicted keys. Its text stands behind prompt, from column start on.
	burst     bool
	start     int
	prompt    string // what stands left of start
	confirmed string // what stands behind it
	pending   []pendingText
	closed    bool      // another key came behind it: it grows no more, and what is pending is shown until it has come
	confident bool      // predictions are shown
	wrong     time.Time // since when something else stands there; zero: it does not
	known     []knownPrompt
}

// pendingText is what is expected to stand behind the prompt after a key.
type pendingText struct {
	text string
	at   time.Time // when the key was sent
}

// knownPrompt is where a prediction was right.
type knownPrompt struct {
	prompt  string
	editing bool // as in wire.InputMode
}

// place is what a cursor has around it.
type place struct {
	left      string // the text of its row left of it, blanks as spaces
	x, cols   int    // its column, and how many there are
	pushes    bool   // text stands at it that a key would push
	alternate bool   // it is on the alternate screen
}

// prediction is what to draw over the cursor's row. The zero value is nothing.
type prediction struct {
	at     int    // column where text begins
	text   string // one ASCII character for each column; underlined
	blank  int    // columns behind it that are empty then
	cursor int    // column of the cursor
}

// measured takes a round trip time: a shorter one as it is, a quarter of what a longer one has more.
func (p *predictor) measured(took time.Duration) {
	if p.rtt == 0 || took < p.rtt {
		p.rtt = took
	} else {
		p.rtt += (took - p.rtt) / 4
	}
}

// key takes a key that was sent at a time: a prediction, or the end of all.
func (p *predictor) key(typed []byte, at, now time.Time, see func() place) {
	if !p.predicts(typed, at, now, see) {
		p.disturb(now)
		p.entered = strings.HasSuffix(string(typed), "\r")
	}
}

func (p *predictor) predicts(typed []byte, at, now time.Time, see func() place) bool {
	if len(typed) != 1 || !p.may() || len(p.pending) == maxPending || now.Sub(at) > p.rtt/2 || !p.settled(at) {
		return false
	}
	c := typed[0]
	erases := c == 0x7f || c == '\b'
	if !erases && (c < ' ' || c > '~') {
		return false
	}
	w := see()
	goesOn := p.burst && !p.closed && (len(p.pending) > 0 || p.stands(w, p.confirmed))
	if w.alternate || !goesOn && !p.begin(w) {
		return false
	}
	text := p.newest()
	switch {
	case erases && text == "", !erases && p.start+len(text) >= w.cols-1:
		return false
	case erases:
		text = text[:len(text)-1]
	default:
		text += string(c)
	}
	p.pending = append(p.pending, pendingText{text, at})
	return true
}

// may reports whether anything may be predicted: what is typed is shown, later than a person likes.
func (p *predictor) may() bool {
	return !p.blocked && (p.mode.Echo || p.mode.Editing) && p.rtt > slowLine
}

// settled reports whether the screen is known at a time.
func (p *predictor) settled(at time.Time) bool {
	since := at.Sub(p.disrupted)
	quiet := at.Sub(p.heard) >= quietTime && since >= p.rtt+quietTime
	return p.burst && !p.closed || quiet && (p.answered || since >= 3*p.rtt)
}

// begin begins a burst at the cursor, unless text stands there.
func (p *predictor) begin(w place) bool {
	if w.pushes {
		return false
	}
	p.end()
	p.burst, p.start, p.prompt, p.confirmed = true, w.x, w.left, ""
	p.confident = p.entered && p.answered && slices.Contains(p.known, p.here())
	p.entered = false
	return true
}

func (p *predictor) here() knownPrompt { return knownPrompt{p.prompt, p.mode.Editing} }

func (p *predictor) newest() string {
	if n := len(p.pending); n > 0 {
		return p.pending[n-1].text
	}
	return p.confirmed
}

// stands reports whether the cursor is behind the prompt and a text.
func (p *predictor) stands(w place, text string) bool {
	before, ok := strings.CutSuffix(w.left, text)
	return ok && w.x == p.start+len(text) && before == p.prompt
}

// output takes the screen behind a piece of output.
func (p *predictor) output(now time.Time, see func() place) {
	p.heard, p.answered = now, true
	if len(p.pending) == 0 {
		return
	}
	w := see()
	n := p.confirms(w, now)
	switch {
	case w.alternate:
		p.reset(now)
	case n > 0:
		p.confirm(n)
	case p.stands(w, p.confirmed): // nothing has happened yet
		p.wrong = time.Time{}
	case p.wrong.IsZero():
		p.wrong = now
	}
}

// confirms is how many of the pending texts have come. The same text may be there twice: it is the second one once that
// has surely come, and before that the first.
func (p *predictor) confirms(w place, now time.Time) int {
	for i, t := range slices.Backward(p.pending) {
		if p.stands(w, t.text) && now.Sub(t.at) >= p.rtt*surely/2 {
			return i + 1
		}
	}
	if p.stands(w, p.confirmed) {
		return 0
	}
	return 1 + slices.IndexFunc(p.pending, func(t pendingText) bool { return p.stands(w, t.text) })
}

// confirm notes that the first n pending texts have come.
func (p *predictor) confirm(n int) {
	text, before := p.pending[n-1].text, p.confirmed
	p.confirmed, p.wrong = text, time.Time{}
	p.pending = slices.Delete(p.pending, 0, n)
	// A program may show nothing of it, or a star for each character: that proves nothing.
	if text != before && !strings.HasSuffix(text, "*") {
		p.trust()
	}
	if p.closed && len(p.pending) == 0 {
		p.end()
	}
}

// trust notes that a prediction was right.
func (p *predictor) trust() {
	p.confident = true
	p.forget()
	if strings.TrimSpace(p.prompt) != "" { // anything may begin without one
		p.known = append(p.known, p.here())
	}
	if len(p.known) > maxKnown {
		p.known = slices.Delete(p.known, 0, 1)
	}
}

// forget forgets that predictions were right at this prompt.
func (p *predictor) forget() {
	p.known = slices.DeleteFunc(p.known, func(k knownPrompt) bool { return k == p.here() })
}

// due is when recheck has something to do; ok is false when it has not.
func (p *predictor) due() (at time.Time, ok bool) {
	if len(p.pending) == 0 {
		return time.Time{}, false
	}
	at = p.pending[0].at.Add(max(3*p.rtt, leastTimeout))
	if repainted := p.wrong.Add(repaintTime); !p.wrong.IsZero() && repainted.Before(at) {
		at = repainted
	}
	return at, true
}

// recheck drops predictions that were wrong, or whose echo does not come. Behind other keys that is no wonder.
func (p *predictor) recheck(now time.Time) {
	if at, ok := p.due(); !ok || now.Before(at) {
		return
	}
	if !p.closed {
		if p.confident {
			p.forget()
		}
		p.disturb(now)
		p.entered = false
	}
	p.end()
}

// disturb notes input that is not predicted: nothing more is, before its effect has come.
func (p *predictor) disturb(now time.Time) {
	p.closed, p.disrupted, p.answered = true, now, false
}

// reset forgets what was predicted: the screen begins anew.
func (p *predictor) reset(now time.Time) {
	if len(p.pending) > 0 {
		p.disturb(now)
		p.entered = false
	}
	p.end()
}

func (p *predictor) end() {
	p.burst, p.closed, p.confident, p.pending, p.wrong = false, false, false, nil, time.Time{}
}

// change takes what the server says of the input.
func (p *predictor) change(m wire.InputMode, now time.Time) {
	if m != p.mode {
		p.mode = m
		p.reset(now)
	}
}

// shown is what to draw over the row.
func (p *predictor) shown(see func() place) prediction {
	if !p.confident || len(p.pending) == 0 || !p.wrong.IsZero() {
		return prediction{}
	}
	w, want, have := see(), p.newest(), p.confirmed
	if !p.stands(w, have) {
		return prediction{}
	}
	n := 0
	for n < min(len(want), len(have)) && want[n] == have[n] {
		n++
	}
	return prediction{p.start + n, want[n:], max(len(have)-len(want), 0), p.start + len(want)}
}
