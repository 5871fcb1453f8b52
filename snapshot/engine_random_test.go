package snapshot

import (
	"bytes"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first case of the tests with random streams")
	cases     = flag.Int("cases", 0,
		"cases of the tests with random streams; 0 means a fixed number that takes some seconds")
	without = flag.String("without", "",
		"regular expression of tokens that random streams leave out, such as known differences")
	failures = flag.Int("failures", 5,
		"different failing cases after which a test of random streams stops; -1 means only to count them by kind")
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

// complaint is the fault of an engine in a trial.
type complaint struct {
	kind string // "state", "pieces", "text" or "snapshot"
	at   string // where
	what []string
}

// A check returns the fault of a trial, nil when there is none. everywhere: look
// after each step, not only now and then.
type check func(t testing.TB, j *judge, newEngine vt.EngineFunc, tr trial, everywhere bool) *complaint

// hidden reports whether viewers do not get all of a token.
func hidden(tok token) bool {
	text := vt.NewEngine(vt.Config{}).Write([]byte(tok.text))
	return string(text) != string(repaired([]byte(tok.text)))
}

// checkEngine checks all that an engine promises about a trial: it is equal to an
// xterm.js that gets its text, it does not depend on where writes are cut, and
// the text is what was written.
func checkEngine(t testing.TB, j *judge, newEngine vt.EngineFunc, tr trial, everywhere bool) *complaint {
	s := tr.stream
	s.steps = tr.pieces.steps(tr.tokens)
	last := len(s.steps) - 1
	at, out := differenceAt(t, j, newEngine, s, func(i int) bool { return everywhere || i == last || i%8 == 7 })
	if out != nil {
		return &complaint{"state", fmt.Sprintf("after step %d of %d (%s), got is the engine, want is xterm.js", at+1,
			len(s.steps), showStep(s.steps[at])), out}
	}
	whole := s
	whole.steps = wholeRuns.steps(tr.tokens)
	a, b := follow(newEngine, s, func(i int) bool { return i == last }), follow(newEngine, whole, func(i int) bool {
		return i == len(whole.steps)-1
	})
	if last >= 0 && !same(a[last].frame, b[len(b)-1].frame) {
		return &complaint{"pieces", "at the end",
			[]string{fmt.Sprintf("in pieces %+v", a[last].frame), fmt.Sprintf("in one    %+v", b[len(b)-1].frame)}}
	}
	if slices.ContainsFunc(tr.tokens, func(tok token) bool { return tok.cut || hidden(tok) }) {
		return nil
	}
	var in, text []byte
	for i, m := range a {
		in, text = append(in, s.steps[i].write...), append(text, m.text...)
	}
	want := repaired(in)
	if !bytes.Equal(text, want) {
		text, want = unamended(text), unamended(want)
	}
	if !bytes.Equal(text, want) {
		return &complaint{"text", "in sum",
			[]string{fmt.Sprintf("viewers got %+q", text), fmt.Sprintf("want        %+q", want)}}
	}
	return nil
}

// amendments are what an engine adds to a program's output so that viewers come into
// no state that a snapshot cannot say; noAutowrap is when it leaves characters out.
var (
	amendments = regexp.MustCompile(
		"\x1b\\[\\?1047h\x1b\\[\\?1047l|\x1b\\[[0-9;]*[GH]|\x1b\\[X|\x18|\x1b\\]8;[^\a\x1b]*\x1b\\\\")
	noAutowrap = regexp.MustCompile("\x1b\\[\\?[0-9;]*7[0-9;]*l|\u009b\\?[0-9;]*7[0-9;]*l")
	beyond     = regexp.MustCompile("[^\x00-\x7f]+")
)

// unamended is text without all that could be amended.
func unamended(text []byte) []byte {
	if noAutowrap.Match(text) {
		text = beyond.ReplaceAll(text, nil)
	}
	return amendments.ReplaceAll(text, nil)
}

func showStep(s step) string {
	if s.cols > 0 {
		return fmt.Sprintf("resize %dx%d", s.cols, s.rows)
	}
	return fmt.Sprintf("write %+q", s.write)
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
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	randomTrials(t, few(5000, 300), checkEngine)
}

// randomTrials tries n cases, or -cases of them, and makes small what fails.
func randomTrials(t *testing.T, n int, try check) {
	j := startJudge(t)
	randomTrialsOf(t, j, n, randomTrial, try)
	t.Logf("%d comparisons ended at a resize after which viewers get a new snapshot", j.replays)
}

// randomTrial is case number seed of the grammar.
func randomTrial(seed uint64) trial {
	s, tokens := randomStream(seed)
	return trial{stream: s, tokens: tokens, pieces: pieces(seed % 7)}
}

// randomTrialsOf is randomTrials of the trials that of makes.
func randomTrialsOf(t *testing.T, j *judge, n int, of func(seed uint64) trial, try check) {
	if *cases > 0 {
		n = *cases
	}
	leave, err := regexp.Compile(*without)
	if err != nil {
		t.Fatal(err)
	}
	seen, kinds := map[string]bool{}, map[string][]uint64{}
	defer func() {
		for kind, seeds := range kinds {
			t.Logf("%d of kind %s, such as %d", len(seeds), kind, seeds[:min(len(seeds), 6)])
		}
	}()
	for seed := *firstSeed; seed < *firstSeed+uint64(n) && (len(seen) < *failures || *failures < 0); seed++ {
		tr := of(seed)
		if *without != "" {
			tr.tokens = slices.DeleteFunc(tr.tokens, func(tok token) bool { return leave.MatchString(tok.text) })
		}
		why := try(t, j, engineUnderTest, tr, false)
		if why == nil {
			continue
		}
		if *failures < 0 {
			kinds[why.kind] = append(kinds[why.kind], seed)
			t.Fail()
			continue
		}
		small, why := shrink(t, j, engineUnderTest, try, tr, why)
		if seen[small.String()] {
			continue
		}
		seen[small.String()] = true
		t.Errorf("seed %d, %s: %s\n%s%s", seed, why.kind, why.at, small, strings.Join(why.what, "\n"))
	}
}

// calm are numbers that freeze an xterm.js. An engine clamps them.
var calm = regexp.MustCompile(`[0-9]{5,}`)

// TestFramesSayXterm: the comparison itself is right. What an xterm.js is in the
// middle of a random stream becomes a frame, and the frame says the same state.
func TestFramesSayXterm(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	for seed := range uint64(few(300, 40)) {
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
			if x.broken() || x.neverSeen() {
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
