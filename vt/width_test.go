package vt

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unicode"
)

// widthJudge is a Node process with a real xterm.js in it (testdata/width/judge.cjs).
type widthJudge struct {
	in  *json.Encoder
	out *bufio.Reader
}

type widthJob struct {
	Version Unicode `json:"version"`
	Text    []rune  `json:"text,omitempty"`
	After   []rune  `json:"after"`
}

// widthBefores are texts that between them leave every state a table knows.
var widthBefores = map[Unicode][]string{
	Unicode11: {"", "a", "é", "世", "a\u0301", "世\u0301", "\u0301", "👩\u200d"},
	Unicode15Graphemes: {
		"", "a", "é", "aé", "世", "a\u0301", "世\u0301", "\u0301",
		"\u0600", "\u0600世", "\U000110BD", // prepend
		"🇦", "🇦🇧", "🇦🇧🇨", "\u0600🇦",
		"\u0903", "क\u0903", "\U00016FF0",
		"\u1100", "\u1161", "\u11A8", "가", "각", "\u1100\u1161", "\u1100\u1161\u11A8",
		"\u200d", "👩", "❤", "❤\ufe0f", "👩\u200d", "世\u200d",
	},
}

// Every code point, surrogates and controls too, leaves behind each state the
// very bits that it leaves in xterm.js, and no state that is not in widthBefores.
// As these bits decide everything that comes later, the tables are equal for all texts.
func TestWidthsOfEveryCharacter(t *testing.T) {
	t.Parallel()
	j := startWidthJudge(t)
	for version, texts := range widthBefores {
		w := widthsOf(version)
		var tried, reached [128]bool // by state without joinJoins, which next does not read
		for _, text := range texts {
			want := j.ask(t, widthJob{Version: version, After: []rune(text)})
			if len(want) != unicode.MaxRune+1 {
				t.Fatalf("judge answered for %d characters", len(want))
			}
			before := lastJoin(joinsOf(w, []rune(text)))
			tried[before&^joinJoins] = true
			wrong := 0
			for r := rune(0); r <= unicode.MaxRune && wrong < 5; r++ {
				got := w.next(r, before)
				reached[got&^joinJoins] = true
				if got != want[r] {
					t.Errorf("%s: %U after %+q leaves %s, in xterm.js %s", version, r, text, describeJoin(got),
						describeJoin(want[r]))
					wrong++
				}
			}
		}
		for state := range reached {
			if reached[state] && !tried[state] {
				t.Errorf("%s: no text of widthBefores leaves %s", version, describeJoin(join(state)))
			}
		}
	}
}

func TestWidthsOfRandomText(t *testing.T) {
	t.Parallel()
	j := startWidthJudge(t)
	rnd := rand.New(rand.NewPCG(15, 11))
	for range 3000 {
		text := randomText(rnd)
		for version := range widthBefores {
			want := j.ask(t, widthJob{Version: version, Text: text})
			for i, got := range joinsOf(widthsOf(version), text) {
				if got.width() != want[i].width() || got.joins() != want[i].joins() {
					t.Fatalf("%s: character %d of %+q leaves %s, in xterm.js %s", version, i, string(text),
						describeJoin(got), describeJoin(want[i]))
				}
			}
		}
	}
}

// randomText has the characters that widthBefores has, and any others.
func randomText(rnd *rand.Rand) []rune {
	text := make([]rune, 1+rnd.IntN(40))
	for i := range text {
		switch rnd.IntN(4) {
		case 0:
			text[i] = ' ' + rnd.Int32N(0x3000)
		case 1:
			text[i] = 0x1F000 + rnd.Int32N(0x1000)
		default:
			texts := widthBefores[Unicode15Graphemes][1:]
			s := []rune(texts[rnd.IntN(len(texts))])
			text[i] = s[rnd.IntN(len(s))]
		}
	}
	return text
}

// A run of classNarrow or classWide may be printed without asking next, unless
// the character before it prepends.
func TestWidthClassKeepsItsPromise(t *testing.T) {
	t.Parallel()
	runs := [...]join{classNarrow: narrow, classWide: wide}
	for version, texts := range widthBefores {
		w := widthsOf(version)
		seen := map[widthClass]int{}
		tried := map[join]bool{}
		for _, text := range texts {
			before := lastJoin(joinsOf(w, []rune(text)))
			if tried[before] {
				continue
			}
			tried[before] = true
			for r := rune(0); r <= unicode.MaxRune; r++ {
				c := w.class(r)
				if before == 0 {
					seen[c]++
				}
				if c != classOther && !before.prepends() && w.next(r, before) != runs[c] {
					t.Fatalf("%s: %U after %+q leaves %s", version, r, text, describeJoin(w.next(r, before)))
				}
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s has classes %v", version, seen)
		}
	}
	if narrow.prepends() || wide.prepends() {
		t.Error("what a run leaves prepends")
	}
}

func TestWidthClass(t *testing.T) {
	for _, c := range []struct {
		chars   string
		eleven  widthClass
		fifteen widthClass
	}{
		{" a~éßЖ─█→√“", classNarrow, classNarrow},
		{"世界あ、。", classWide, classWide},
		{"가각", classWide, classOther},   // a vowel or a final consonant may join
		{"😀🚀", classWide, classOther},   // joins a ZWJ
		{"❤✔", classNarrow, classOther}, // U+FE0F makes them wide
		{"\u0301\u200d\ufe0f", classOther, classOther},
		{"𠀀", classWide, classWide},
		{"𝔸\ue0b0\U000F0001", classNarrow, classNarrow},
	} {
		for _, r := range c.chars {
			if got := widthsOf(Unicode11).class(r); got != c.eleven {
				t.Errorf("11: %U has class %d", r, got)
			}
			if got := widthsOf(Unicode15Graphemes).class(r); got != c.fifteen {
				t.Errorf("15-graphemes: %U has class %d", r, got)
			}
		}
	}
}

func TestWidthsOfClusters(t *testing.T) {
	for _, c := range []struct {
		text            string
		eleven, fifteen int // cells
	}{
		{"e\u0301", 1, 1},
		{"👩\u200d🚀", 4, 2},
		{"❤\ufe0f", 1, 2},
		{"🇩🇪🇫🇷", 4, 4},
		{"👍🏽", 4, 2},
		{"\u1112\u1161\u11ab", 2, 2},
		{"\u0600a", 1, 1},
		{"\u0301", 0, 1},
	} {
		if got := cellsOfText(widthsOf(Unicode11), c.text); got != c.eleven {
			t.Errorf("11: %+q takes %d cells, want %d", c.text, got, c.eleven)
		}
		if got := cellsOfText(widthsOf(Unicode15Graphemes), c.text); got != c.fifteen {
			t.Errorf("15-graphemes: %+q takes %d cells, want %d", c.text, got, c.fifteen)
		}
	}
}

func TestWidthsOfUnknownName(t *testing.T) {
	for _, u := range []Unicode{"", "6", "12", Unicode11} {
		if widthsOf(u) != &widths11 {
			t.Errorf("table %q is not the one of Unicode 11", u)
		}
	}
}

func BenchmarkWidths(b *testing.B) {
	text := []rune("grep: naïve café — 世界你好、テスト ─── 가나다 ❤\ufe0f 👩\u200d🚀 e\u0301 🇩🇪 ok")
	for _, version := range []Unicode{Unicode11, Unicode15Graphemes} {
		w := widthsOf(version)
		b.Run("class/"+string(version), func(b *testing.B) {
			var sum widthClass
			for i := 0; b.Loop(); i++ {
				sum += w.class(text[i%len(text)])
			}
			_ = sum
		})
		b.Run("next/"+string(version), func(b *testing.B) {
			var before join
			for i := 0; b.Loop(); i++ {
				before = w.next(text[i%len(text)], before)
			}
			_ = before
		})
	}
}

// joinsOf is what each character of text leaves, the first after nothing.
func joinsOf(w *widths, text []rune) []join {
	left := make([]join, len(text))
	var before join
	for i, r := range text {
		before = w.next(r, before)
		left[i] = before
	}
	return left
}

func lastJoin(left []join) join {
	if len(left) == 0 {
		return 0
	}
	return left[len(left)-1]
}

// cellsOfText counts as xterm.js prints: a joining character replaces the width of
// the one before.
func cellsOfText(w *widths, text string) int {
	n, before := 0, 0
	for _, j := range joinsOf(w, []rune(text)) {
		if j.joins() {
			n -= before
		}
		before = j.width()
		n += before
	}
	return n
}

func describeJoin(j join) string {
	b, err := json.Marshal(map[string]any{"width": j.width(), "joins": j.joins(), "break": j >> joinBreak})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// startWidthJudge starts the process; it ends with the test.
func startWidthJudge(t testing.TB) *widthJudge {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("node is required to check widths against a real xterm.js (README names the version): %v", err)
	}
	cmd := exec.Command(node, filepath.Join(widthJudgeDir(t), "judge.cjs"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("judge: %v", err)
		}
	})
	return &widthJudge{in: json.NewEncoder(in), out: bufio.NewReaderSize(out, 1<<20)}
}

// ask runs a job. The judge's bits have the meaning of join.
func (j *widthJudge) ask(t testing.TB, jb widthJob) []join {
	t.Helper()
	if err := j.in.Encode(jb); err != nil {
		t.Fatalf("judge: %v", err)
	}
	line, err := j.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("judge: %v", err)
	}
	bits, err := base64.StdEncoding.DecodeString(string(line[:len(line)-1]))
	if err != nil {
		t.Fatalf("judge: %v", err)
	}
	left := make([]join, len(bits))
	for i, b := range bits {
		left[i] = join(b)
	}
	return left
}

// widthJudgeDir is a folder with judge.cjs and the xterm.js packages of its
// lock file: testdata/width when someone ran npm ci there, else one in the
// user's cache that is filled once.
func widthJudgeDir(t testing.TB) string {
	t.Helper()
	const src = "testdata/width"
	if _, err := os.Stat(filepath.Join(src, "node_modules")); err == nil {
		return src
	}
	names := []string{"package.json", "package-lock.json", ".npmrc", "judge.cjs"}
	sum := sha256.New()
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(src, n))
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(b)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "evertty-test")
	dir := filepath.Join(cache, "width-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		installWidthJudge(t, src, names, cache, dir)
	}
	return dir
}

// installWidthJudge fills dir. It appears complete or not at all, so that
// several tests may install at once.
func installWidthJudge(t testing.TB, src string, names []string, cache, dir string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("npm, which comes with Node, is required to install xterm.js for the tests: %v", err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(src, n))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tmp, n), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci in a copy of %s (needs a package registry once): %v\n%s", src, err, out)
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, exists := os.Stat(dir); exists != nil {
			t.Fatal(err)
		}
	}
}
