package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// loadStream reads what happens to a terminal from a script of the engines:
// the lines size, scrollback, unicode, in and resize. What else such a script
// has are expectations, which are ignored here.
func loadStream(path string) (s stream, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	s = stream{cols: 80, rows: 24, scrollback: 100, unicode: vt.Unicode11}
	for i, line := range strings.Split(string(b), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var st step
		happens := false
		switch word {
		case "size":
			_, err = fmt.Sscanf(rest, "%dx%d", &s.cols, &s.rows)
		case "scrollback":
			s.scrollback, err = strconv.Atoi(rest)
		case "unicode":
			s.unicode = vt.Unicode(rest)
		case "in":
			st.write, err = scriptText(rest)
			happens = true
		case "resize":
			_, err = fmt.Sscanf(rest, "%dx%d", &st.cols, &st.rows)
			happens = true
		}
		if err != nil {
			return s, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		if happens {
			s.steps = append(s.steps, st)
		}
	}
	return s, nil
}

var (
	scriptEscape = regexp.MustCompile(`\\(?:e|u\{[0-9a-fA-F]+\}|.)`)
	goEscape     = regexp.MustCompile(`\\(?:x1b|u[0-9a-f]{4}|U[0-9a-f]{8}|.)`)
)

// scriptText reads "…" or "…" xN with the escapes \e, \u{H…} and Go's.
func scriptText(quoted string) ([]byte, error) {
	end := strings.LastIndexByte(quoted, '"')
	times := 1
	if n, ok := strings.CutPrefix(quoted[end+1:], " x"); ok {
		var err error
		if times, err = strconv.Atoi(n); err != nil {
			return nil, err
		}
	}
	text, err := strconv.Unquote(scriptEscape.ReplaceAllStringFunc(quoted[:end+1], func(e string) string {
		switch e[1] {
		case 'e':
			return `\x1b`
		case 'u':
			r, _ := strconv.ParseUint(e[3:len(e)-1], 16, 32)
			return fmt.Sprintf(`\U%08x`, r)
		}
		return e
	}))
	return []byte(strings.Repeat(text, times)), err
}

// quoteScript writes what scriptText reads.
func quoteScript(b []byte) string {
	return goEscape.ReplaceAllStringFunc(strconv.QuoteToASCII(string(b)), func(e string) string {
		switch {
		case e == `\x1b`:
			return `\e`
		case e[1] == 'u' || e[1] == 'U':
			return `\u{` + strings.TrimLeft(e[2:], "0") + `}`
		}
		return e
	})
}

// tokensOf divides steps so that a shrinker has something to remove: at escape
// sequences and line ends.
func tokensOf(steps []step) (out []token) {
	for _, s := range steps {
		if s.cols > 0 {
			out = append(out, token{cols: s.cols, rows: s.rows})
			continue
		}
		rest := string(s.write)
		for rest != "" {
			_, first := utf8.DecodeRuneInString(rest)
			n := len(rest)
			if at := strings.IndexAny(rest[first:], "\x1b\n"); at >= 0 {
				n = first + at
				if rest[n] == '\n' {
					n++
				}
			}
			out = append(out, token{text: rest[:n], cut: true})
			rest = rest[n:]
		}
	}
	return out
}

// checkStream compares at up to looks places and at the end. What fails is made
// small.
func checkStream(t *testing.T, j *judge, s stream, looks int) {
	t.Helper()
	every := max(1, len(s.steps)/looks)
	at, out := differenceAt(t, j, engineUnderTest, s, func(i int) bool {
		return i%every == every-1 || i == len(s.steps)-1
	})
	if out == nil {
		return
	}
	tr := trial{stream: s, tokens: tokensOf(s.steps[:at+1]), pieces: wholeRuns}
	why := &complaint{kind: "state", at: fmt.Sprintf("after step %d of %d", at+1, len(s.steps)), what: out}
	if small := checkEngine(t, j, engineUnderTest, tr, false); small != nil && small.kind == "state" {
		tr, why = shrink(t, j, engineUnderTest, checkEngine, tr, small)
	}
	t.Errorf("%s\n%.3000s%.3000s", why.at, tr, strings.Join(why.what, "\n"))
}

// TestScriptsEqualXterm: where the engine's own scripts go, xterm.js goes too.
func TestScriptsEqualXterm(t *testing.T) {
	paths, err := filepath.Glob("../vt/testdata/script/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	t.Parallel()
	checkScripts(t, paths)
}

func checkScripts(t *testing.T, paths []string) {
	j := startJudge(t)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s, err := loadStream(path)
			if err != nil {
				t.Fatal(err)
			}
			if s.cols < 2 {
				t.Skip("xterm.js has at least two columns")
			}
			checkStream(t, j, s, few(100, 20))
		})
	}
}
