package snapshot

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// shrinker makes a failing trial small: it keeps every change after which the
// same kind of complaint remains.
type shrinker struct {
	t       testing.TB
	j       *judge
	engine  vt.EngineFunc
	check   check
	best    trial
	why     *complaint
	ends    time.Time
	attempt int
	rows    int // the fewest that the trial began with: one row is a case of its own
}

// maxShrink bounds the time to shrink one case.
const maxShrink = 30 * time.Second

func shrink(t testing.TB, j *judge, newEngine vt.EngineFunc, try check, tr trial, why *complaint) (trial, *complaint) {
	s := &shrinker{t: t, j: j, engine: newEngine, check: try, best: tr, why: why, ends: time.Now().Add(maxShrink)}
	s.rows = tr.rows
	for _, tok := range tr.tokens {
		if tok.rows > 0 {
			s.rows = min(s.rows, tok.rows)
		}
	}
	for _, p := range []pieces{wholeRuns, eachToken} {
		c := tr
		if c.pieces = p; s.keep(c) {
			break
		}
	}
	for before := -1; before != s.attempt && time.Now().Before(s.ends); {
		before = s.attempt
		size := s.size()
		s.removeTokens()
		s.shortenTokens()
		s.lowerSizes()
		if s.size() == size {
			break
		}
	}
	return s.best, s.why
}

// size reports whether something became smaller.
func (s *shrinker) size() (n int) {
	for _, tok := range s.best.tokens {
		n += 10 + len(tok.text) + tok.cols + tok.rows
	}
	return n + s.best.cols + s.best.rows + s.best.scrollback
}

// keep takes c as the best when it still fails.
func (s *shrinker) keep(c trial) bool {
	least := c.rows
	for _, tok := range c.tokens {
		if tok.rows > 0 {
			least = min(least, tok.rows)
		}
	}
	if least < 2 && least < s.rows || c.scrollback == 0 && least < 2 {
		return false
	}
	if time.Now().After(s.ends) {
		return false
	}
	s.attempt++
	why := s.check(s.t, s.j, s.engine, c, c.pieces != eachByte)
	if why == nil || why.kind != s.why.kind {
		return false
	}
	s.best, s.why = c, why
	return true
}

func (s *shrinker) removeTokens() {
	for n := max(1, len(s.best.tokens)/2); n > 0; n /= 2 {
		for i := len(s.best.tokens) - n; i >= 0; i-- {
			if i+n > len(s.best.tokens) {
				continue
			}
			c := s.best
			c.tokens = slices.Delete(slices.Clone(c.tokens), i, i+n)
			s.keep(c)
		}
	}
}

// shortenTokens removes characters and whole parameters, and makes letters,
// wide characters and numbers plain ones.
func (s *shrinker) shortenTokens() {
	for i := 0; i < len(s.best.tokens); i++ {
		for n := len(s.best.tokens[i].text) / 2; n > 0; n /= 2 {
			for at := 0; at+n <= len(s.best.tokens[i].text); {
				text := s.best.tokens[i].text
				if !s.replace(i, text[:at]+text[at+n:]) {
					at++
				}
			}
		}
		for at := 0; at < len(s.best.tokens[i].text); at++ {
			text := s.best.tokens[i].text
			r, size := utf8.DecodeRuneInString(text[at:])
			for _, plain := range []string{"a", "1"} {
				if r > ' ' && r != '\u007f' && (r < '@' || strings.HasPrefix(plain, "a")) && text[at:at+size] > plain &&
					!strings.Contains(text, "\x1b") && s.replace(i, text[:at]+plain+text[at+size:]) {
					break
				}
			}
		}
		s.lowerResize(i)
	}
}

func (s *shrinker) replace(i int, text string) bool {
	if text == "" {
		return false
	}
	c := s.best
	c.tokens = slices.Clone(c.tokens)
	c.tokens[i].text = text
	return s.keep(c)
}

func (s *shrinker) lowerResize(i int) {
	for s.best.tokens[i].cols > 0 {
		ok := false
		for _, by := range []struct{ cols, rows int }{{1, 0}, {0, 1}} {
			c := s.best
			c.tokens = slices.Clone(c.tokens)
			c.tokens[i].cols -= by.cols
			c.tokens[i].rows -= by.rows
			ok = c.tokens[i].cols >= 2 && c.tokens[i].rows >= 1 && s.keep(c) || ok
		}
		if !ok {
			return
		}
	}
}

func (s *shrinker) lowerSizes() {
	lower := func(get func(*trial) *int, least int) {
		for n := *get(&s.best) - least; n > 0; n /= 2 {
			for *get(&s.best)-n >= least {
				c := s.best
				if *get(&c) -= n; !s.keep(c) {
					break
				}
			}
		}
	}
	lower(func(c *trial) *int { return &c.cols }, 2)
	lower(func(c *trial) *int { return &c.scrollback }, 0)
	lower(func(c *trial) *int { return &c.rows }, 1)
}
