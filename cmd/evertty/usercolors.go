package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evertty/evertty/wire"
)

const (
	// colorsTimeout is how long the user's terminal may take to tell its colours.
	colorsTimeout = 500 * time.Millisecond
	// answerPause is how long the beginning of an answer waits for the rest. Keys that
	// look like one come that much later.
	answerPause = 50 * time.Millisecond
	// maxAnswer bounds an answer, in bytes; a longer one is none.
	maxAnswer = 64
)

// paletteSize is how many colours of the palette are asked for.
const paletteSize = 16

// userColors are the colours of the user's own terminal: it is asked, and its answers are
// taken out of the typed input, also late ones, because nothing else asks it. All
// methods are safe for concurrent use.
type userColors struct {
	changed  func()        // called when colours are known that were not
	outdated chan struct{} // gets a value when the terminal says that its colours are others

	mu      sync.Mutex
	settled chan struct{}     // closed when no more answers are awaited; nil: none are
	asked   int               // questions whose last answer is awaited
	found   map[string]string // by what was asked: "10", "4;7"
	until   time.Time         // when no more answers are awaited
	held    []byte            // the beginning of an answer
	since   time.Time         // when held came
}

// question asks for all colours. The terminal answers DA1 (ECMA-48 8.3.24) last, whatever else
// it knows.
func (u *userColors) question() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until = time.Now().Add(colorsTimeout)
	u.asked++
	if u.settled == nil {
		u.settled = make(chan struct{})
	}
	var b strings.Builder
	for _, n := range []int{10, 11, 12} {
		fmt.Fprintf(&b, "\x1b]%d;?\x1b\\", n)
	}
	for i := range paletteSize {
		fmt.Fprintf(&b, "\x1b]4;%d;?\x1b\\", i)
	}
	b.WriteString("\x1b[c")
	return b.String()
}

// known are the colours as far as they are known; a terminal that does not say the colour
// of its text has one that can be read.
func (u *userColors) known() (c wire.CommandColors, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.Foreground, c.Background, c.Cursor = u.found["10"], u.found["11"], u.found["12"]
	if c.Background == "" {
		return c, false
	}
	if c.Foreground == "" {
		c.Foreground = "#ffffff"
		if c.Background > "#8" {
			c.Foreground = "#000000"
		}
	}
	if c.Cursor == "" {
		c.Cursor = c.Foreground
	}
	for i := range paletteSize {
		if v := u.found["4;"+strconv.Itoa(i)]; v != "" {
			c.Palette = append(c.Palette, v)
		}
	}
	if len(c.Palette) != paletteSize {
		c.Palette = nil
	}
	return c, true
}

// waiting reports whether answers are awaited.
func (u *userColors) waiting() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.settled != nil
}

// patience is how long pass may be left alone; negative: for ever.
func (u *userColors) patience() time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case len(u.held) > 0:
		return max(time.Until(u.since.Add(answerPause)), time.Millisecond)
	case u.settled != nil:
		return max(time.Until(u.until), time.Millisecond)
	}
	return -1
}

// await waits until no answers are awaited. Somebody has to read them.
func (u *userColors) await() {
	u.mu.Lock()
	settled, limit := u.settled, time.NewTimer(time.Until(u.until))
	u.mu.Unlock()
	defer limit.Stop()
	if settled == nil {
		return
	}
	select {
	case <-settled:
	case <-limit.C:
	}
}

// pass returns what of p was typed. p is empty when the time of patience is over.
func (u *userColors) pass(p []byte) (typed []byte) {
	u.mu.Lock()
	typed, fences, others := u.sort(p)
	late := u.settled != nil && !time.Now().Before(u.until)
	u.asked = max(u.asked-fences, 0)
	if u.settled != nil && (u.asked == 0 || late) {
		close(u.settled)
		u.settled, u.asked = nil, 0
	}
	u.mu.Unlock()
	if others {
		select {
		case u.outdated <- struct{}{}:
		default: // the terminal is asked already
		}
	}
	if fences > 0 || late {
		u.changed()
	}
	return typed
}

// sort parts p, behind the held bytes, into typed bytes and answers. fences: how often the
// last answer to a question is there. others: the terminal's colours are others now.
func (u *userColors) sort(p []byte) (typed []byte, fences int, others bool) {
	if len(p) == 0 && time.Since(u.since) >= answerPause {
		typed, u.held = u.held, nil
		return typed, 0, false
	}
	p = append(u.held, p...)
	u.held = nil
	for len(p) > 0 {
		i := bytes.IndexByte(p, 0x1b)
		if i != 0 {
			if i < 0 {
				i = len(p)
			}
			typed, p = append(typed, p[:i]...), p[i:]
			continue
		}
		n, whole := answerSize(p)
		switch {
		case n == 0 || !whole && n == 1 && u.settled == nil: // a key
			typed, p = append(typed, p[0]), p[1:]
		case !whole:
			u.held, u.since = bytes.Clone(p), time.Now()
			return typed, fences, others
		default:
			fence, o := u.answer(string(p[:n]))
			if fence {
				fences++
			}
			others = others || o
			p = p[n:]
		}
	}
	return typed, fences, others
}

// What the terminal answers: DA1, a change of the colour scheme (CSI ? 997 ; Ps n), a colour (OSC 4, 10, 11 or 12 up to
// BEL or ST).
var (
	wholeAnswer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\x1b(\[\?[0-9;]*c|\[\?997;[0-9;]*n|\][0-9a-fA-Frg:;/#]*(\a|\x1b\\))`)
	})
	partAnswer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\x1b(\[?|\[\?[0-9;]*|\][0-9a-fA-Frg:;/#]*\x1b?)$`)
	})
)

// answerSize is the length of the answer at the head of p, 0 when there is none. whole: its
// end is there.
func answerSize(p []byte) (n int, whole bool) {
	if at := wholeAnswer().FindIndex(p[:min(len(p), maxAnswer)]); at != nil {
		return at[1], true
	}
	if len(p) < maxAnswer && partAnswer().Match(p) {
		return len(p), false
	}
	return 0, false
}

// answer takes one answer.
func (u *userColors) answer(s string) (fence, others bool) {
	if strings.HasPrefix(s, "\x1b[") {
		return strings.HasSuffix(s, "c"), strings.HasSuffix(s, "n")
	}
	s = strings.TrimRight(strings.TrimPrefix(s, "\x1b]"), "\a\x1b\\")
	i := strings.LastIndexByte(s, ';')
	if v, ok := hexColor(s[i+1:]); ok && i > 0 {
		if u.found == nil {
			u.found = map[string]string{}
		}
		if len(u.found) < 3+paletteSize || u.found[s[:i]] != "" {
			u.found[s[:i]] = v
		}
	}
	return false, false
}

// hexColor is rgb:r/g/b, with 1 to 4 digits each (XParseColor(3)), as #rrggbb.
func hexColor(spec string) (string, bool) {
	parts := strings.Split(strings.TrimPrefix(spec, "rgb:"), "/")
	if len(parts) != 3 || !strings.HasPrefix(spec, "rgb:") {
		return "", false
	}
	out := "#"
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil {
			return "", false
		}
		out += fmt.Sprintf("%02x", v*255/(1<<(4*len(p))-1))
	}
	return out, true
}
