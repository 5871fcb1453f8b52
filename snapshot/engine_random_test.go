package snapshot

import (
	"bytes"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first case of the tests with random streams")
	cases     = flag.Int("cases", 0, "cases of the tests with random streams; 0 means a fixed number that takes some seconds")
	without   = flag.String("without", "", "regular expression of tokens that random streams leave out, such as known differences")
	failures  = flag.Int("failures", 5, "different failing cases after which a test of random streams stops")
)

// pieces says where the writes of a stream are cut.
type pieces int

// A whole run of text in one write, a token each, a byte each; anything above
// is the seed of random places.
const (
	wholeRuns pieces = iota
	eachToken
	eachByte
	randomPieces
)

// steps are the writes and resizes that tokens come to.
func (p pieces) steps(tokens []token) (out []step) {
	var run []byte
	flush := func() {
		out = append(out, p.cut(run)...)
		run = nil
	}
	for _, tok := range tokens {
		if tok.cols > 0 || p == eachToken {
			flush()
		}
		if tok.cols > 0 {
			out = append(out, step{cols: tok.cols, rows: tok.rows})
		} else {
			run = append(run, tok.text...)
		}
	}
	flush()
	return out
}

func (p pieces) cut(run []byte) (out []step) {
	most := len(run)
	switch {
	case p == eachByte:
		most = 1
	case p >= randomPieces:
		most = 40
	}
	for piece := range p.ofSize(run, most) {
		out = append(out, step{write: piece})
	}
	return out
}

// ofSize cuts run into pieces of at most most bytes: exactly so many, or a
// random number from randomPieces on.
func (p pieces) ofSize(run []byte, most int) iter.Seq[[]byte] {
	r := rand.New(rand.NewPCG(uint64(p), 3))
	return func(yield func([]byte) bool) {
		for len(run) > 0 {
			n := min(len(run), most)
			if p >= randomPieces {
				n = 1 + r.IntN(n)
			}
			if !yield(run[:n]) {
				return
			}
			run = run[n:]
		}
	}
}

// trial is a stream to try, as tokens.
type trial struct {
	stream
	tokens []token
	pieces pieces
}

// complaint is what is wrong with an engine in a trial.
type complaint struct {
	kind string // "state", "pieces", "text" or "snapshot"
	at   string // where
	what []string
}

// A check tells what is wrong with a trial, nil when nothing is. everywhere: look
// after each step, not only now and then.
type check func(t testing.TB, j *judge, newEngine vt.New, tr trial, everywhere bool) *complaint

// checkEngine checks all that an engine promises about a trial: it is equal to an
// xterm.js that gets its text, it does not depend on where writes are cut, and
// the text is what was written.
func checkEngine(t testing.TB, j *judge, newEngine vt.New, tr trial, everywhere bool) *complaint {
	s := tr.stream
	s.steps = tr.pieces.steps(tr.tokens)
	last := len(s.steps) - 1
	at, out := differenceAt(t, j, newEngine, s, func(i int) bool { return everywhere || i == last || i%8 == 7 })
	if out != nil {
		return &complaint{"state", fmt.Sprintf("after step %d of %d (%s), got is the engine, want is xterm.js", at+1, len(s.steps), showStep(s.steps[at])), out}
	}
	whole := s
	whole.steps = wholeRuns.steps(tr.tokens)
	a, b := follow(newEngine, s, func(i int) bool { return i == last }), follow(newEngine, whole, func(i int) bool { return i == len(whole.steps)-1 })
	if last >= 0 && !reflect.DeepEqual(a[last].frame, b[len(b)-1].frame) {
		return &complaint{"pieces", "at the end", []string{fmt.Sprintf("in pieces %+v", a[last].frame), fmt.Sprintf("in one    %+v", b[len(b)-1].frame)}}
	}
	if slices.ContainsFunc(tr.tokens, func(tok token) bool { return tok.cut }) {
		return nil
	}
	var in, text []byte
	for i, m := range a {
		in, text = append(in, s.steps[i].write...), append(text, m.text...)
	}
	if want := repaired(in); !bytes.Equal(text, want) {
		return &complaint{"text", "in sum", []string{fmt.Sprintf("viewers got %+q", text), fmt.Sprintf("want        %+q", want)}}
	}
	return nil
}

func showStep(s step) string {
	if s.cols > 0 {
		return fmt.Sprintf("resize %dx%d", s.cols, s.rows)
	}
	return fmt.Sprintf("write %+q", s.write)
}

// shrinker makes a failing trial small: it keeps every change after which the
// same kind of complaint remains.
type shrinker struct {
	t       testing.TB
	j       *judge
	engine  vt.New
	check   check
	best    trial
	why     *complaint
	ends    time.Time
	attempt int
	rows    int // the fewest that the trial began with: one row is a case of its own
}

// maxShrink bounds the time to shrink one case.
const maxShrink = 30 * time.Second

func shrink(t testing.TB, j *judge, newEngine vt.New, try check, tr trial, why *complaint) (trial, *complaint) {
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

// size tells whether something became smaller.
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
				if r > ' ' && r != '\u007f' && (r < '@' || strings.HasPrefix(plain, "a")) && text[at:at+size] > plain && !strings.Contains(text, "\x1b") && s.replace(i, text[:at]+plain+text[at+size:]) {
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

// String is a trial in the language of the engine's own scripts.
func (tr trial) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "size %dx%d\nscrollback %d\nunicode %s\n", tr.cols, tr.rows, tr.scrollback, tr.unicode)
	for _, s := range tr.pieces.steps(tr.tokens) {
		if s.cols > 0 {
			fmt.Fprintf(&b, "resize %dx%d\n", s.cols, s.rows)
		} else {
			fmt.Fprintf(&b, "in %s\n", quoteScript(s.write))
		}
	}
	return b.String()
}

// TestRandomStreamsEqualXterm: whatever a program sends, the engine is what
// xterm.js is. A failing case is made small and printed as a script. More cases:
//
//	go test ./snapshot -run RandomStreams -cases 20000 -seed 1 -timeout 2h -v
func TestRandomStreamsEqualXterm(t *testing.T) {
	randomTrials(t, 6000, checkEngine)
}

// randomTrials tries n cases, or -cases of them, and makes small what fails.
func randomTrials(t *testing.T, n int, try check) {
	j := startJudge(t)
	if *cases > 0 {
		n = *cases
	}
	leave, err := regexp.Compile(*without)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := *firstSeed; seed < *firstSeed+uint64(n) && len(seen) < *failures; seed++ {
		s, tokens := randomStream(seed)
		if *without != "" {
			tokens = slices.DeleteFunc(tokens, func(tok token) bool { return leave.MatchString(tok.text) })
		}
		tr := trial{stream: s, tokens: tokens, pieces: pieces(seed % 7)}
		why := try(t, j, engineUnderTest, tr, false)
		if why == nil {
			continue
		}
		small, why := shrink(t, j, engineUnderTest, try, tr, why)
		if seen[small.String()] {
			continue
		}
		seen[small.String()] = true
		t.Errorf("seed %d, %s: %s\n%s%s", seed, why.kind, why.at, small, strings.Join(why.what, "\n"))
	}
	t.Logf("%d comparisons ended at a resize after which viewers get a new snapshot", j.replays)
}

// calm are numbers that freeze an xterm.js. An engine clamps them.
var calm = regexp.MustCompile(`[0-9]{5,}`)

// TestFramesSayXterm: the comparison itself is right. What an xterm.js is in the
// middle of a random stream becomes a frame, and the frame says the same state.
func TestFramesSayXterm(t *testing.T) {
	j := startJudge(t)
	for seed := range uint64(300) {
		s, tokens := randomStream(seed)
		jb := job{Cols: s.cols, Rows: s.rows, Scrollback: s.scrollback, Unicode: string(s.unicode)}
		var heads [][]byte
		for _, st := range eachToken.steps(tokens) {
			text := calm.ReplaceAll(repaired(st.write), []byte("999"))
			jb.Steps = append(jb.Steps, xstep{Write: text, Cols: st.cols, Rows: st.rows})
			heads = append(heads, text)
		}
		states := j.ask(t, jb)
		for i, x := range states {
			if x.broken() {
				break
			}
			head := bytes.Join(heads[:i+1], nil)
			x.Data, x.Colors, x.PendingParser = nil, nil, x.Sequence
			f := frameOf(t, x, head)
			f.Unicode = s.unicode
			if x.Repeats {
				f.LastChar, _ = utf8.DecodeRuneInString(x.Repeat) // frameOf looks only before the cursor
			}
			if out := compare(moment{frame: f, bells: x.Bells}, x); out != nil {
				t.Errorf("seed %d, %dx%d, after %+q:\n%s", seed, s.cols, s.rows, head, strings.Join(out, "\n"))
				break
			}
		}
	}
}
