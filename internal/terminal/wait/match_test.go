package wait

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"slices"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestJoinLines: each byte of lines together has its own position, also where some lines have none.
func TestJoinLines(t *testing.T) {
	t.Parallel()
	old, now := vt.TextLine{Text: []byte("ab ")}, vt.TextLine{Text: []byte("cd"), Offsets: []uint64{7, 8}}
	for _, c := range []struct {
		lines []vt.TextLine
		want  []uint64
	}{
		{[]vt.TextLine{old, now, old}, []uint64{0, 0, 0, 7, 8, 0, 0, 0, 0}},
		{[]vt.TextLine{now, old, now}, []uint64{7, 8, 0, 0, 0, 0, 7, 8, 0}},
		{[]vt.TextLine{old}, []uint64{0, 0, 0}},
	} {
		all := joinLines(c.lines, true)
		var got []uint64
		for k := range all.Text {
			got = append(got, offset(all, k))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q has %v, want %v", all.Text, got, c.want)
		}
	}
}

// TestPlacesOfText: text is found at each place, also where places overlap, and no more often than is looked at.
func TestPlacesOfText(t *testing.T) {
	pat, err := newPattern("aa", false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"": "[]", "xaaaa": "[[1 3] [2 4] [3 5]]", "aaxaa": "[[0 2] [3 5]]"} {
		if got := fmt.Sprint((&finder{}).places(pat, []byte(text))); got != want {
			t.Errorf("in %q: %s, want %s", text, got, want)
		}
	}
	if got := (&finder{}).places(pat, bytes.Repeat([]byte("a"), 2*maxMatches)); len(got) != maxMatches {
		t.Errorf("%d places of many", len(got))
	}
}

// TestSearchAllIsFindAll: the search that looks at the clock finds what package regexp finds.
func TestSearchAllIsFindAll(t *testing.T) {
	texts := []string{"", "a", "aaa", "ab\nab\n", "\n\n", "x a\xff b", "wörter und wörter", "abcabc abc\nabc  ",
		"a b  c", "\xff\xff"}
	for _, p := range []string{"a", "a*", "", "^", "$", "^a", "b$", `\b`, `\B`, `\bw`, "(?s).", ".*", "(?s).*", ".+?",
		"a|ab", "(a)(b)?",
		`\Qa`, `\z`, `\A`, "(?i)W", "[^a]", "ö", `(?:a|b)+c?`, `\s+$`, "(?U)a+", "(?-m)^a", "(?-m)c$", "x{0,2}", `\A\n`,
		"(?m:b$)"} {
		pat, err := newPattern(p+"|zzz", true)
		if p != "" {
			pat, err = newPattern(p, true)
		}
		if err != nil {
			t.Fatal(p, err)
		}
		for _, text := range texts {
			want, got := pat.re.FindAllIndex([]byte(text), maxMatches), (&finder{}).searchAll(pat, []byte(text))
			if fmt.Sprint(want) != fmt.Sprint(got) {
				t.Errorf("%q in %q: %v, want %v", p, text, got, want)
			}
		}
	}
}

// TestInstructions: the number that a pattern is judged by is not below that of its program, and not far above.
func TestInstructions(t *testing.T) {
	for _, p := range []string{"a", "abc", "a*b+c?", "[a-z0-9]{3,7}", "(a|b|cd){20}", ".{0,99}", "x{5,}",
		"((a?){9}){9}", "(?i)straße"} {
		tree, err := syntax.Parse("(?m)"+p, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if n := instructions(tree); err != nil || n < (len(prog.Inst)-3)*2/3 || n > 3*len(prog.Inst) {
			t.Errorf("%q: %d, its program has %d, %v", p, n, len(prog.Inst), err)
		}
	}
}
