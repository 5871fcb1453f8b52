package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTextStaysOnTheScreen: no text brings an xterm.js to have cells right of its screen,
// a tab stop or a cursor more than two columns behind it. A snapshot can only leave
// them out (docs/reference/snapshot-format.md, point 1).
func TestTextStaysOnTheScreen(t *testing.T) {
	t.Parallel()
	j := startJudge(t)
	words := []string{
		"a", "\u6f22", "\u0301", "\x1b[m", "\x1bH", "\x1b7", "\x1b8", "\x1b[99G", "\x1b[9C", "\t", "\x1b[I", "\r", "\n",
		"\b",
		"\x1b[@", "\x1b[9@",
		"\x1b[P", "\x1b[X", "\x1b[b", "\x1b[4h", "\x1b[?7l", "\x1b[?7h", "\x1b[?45h", "\x1b[?47h", "\x1b[?47l",
		"\x1b[ A",
		"\x1b[2'}", "\x1b[?6h", "\x1bM", "\x1b#8",
	}
	const cols, rows, most = 3, 2, 60
	r := rand.New(rand.NewPCG(1, 2))
	for range few(100, 30) {
		var texts [][]byte
		for range most {
			texts = append(texts, []byte(words[r.IntN(len(words))]))
		}
		for i, x := range j.ask(t, job{Cols: cols, Rows: rows, Writes: texts}) {
			for _, b := range []*xbuffer{&x.Main, x.Other} {
				if b == nil {
					continue
				}
				if b.Wider || b.X > cols+1 || len(b.Tabs) > 0 && b.Tabs[len(b.Tabs)-1] > cols+1 {
					t.Fatalf("after %q: wider %v, cursor in column %d, tab stops %v", texts[:i+1], b.Wider, b.X, b.Tabs)
				}
			}
		}
	}
}

// allSequences are the C0 and C1 controls, ESC and CSI with every prefix, intermediate
// byte and final one, with no parameter and some.
func allSequences() (out []string) {
	for c := rune(0); c < 0x20; c++ {
		if c != 0x1b {
			out = append(out, string(c), string(c+0x80))
		}
	}
	between := []string{""}
	for c := ' '; c <= '/'; c++ {
		between = append(between, string(c))
	}
	parameters := []string{"", "0", "1", "2", "4;4", "9", "7", "6", "45", "47", "1047", "1048", "1049"}
	for _, i := range between {
		for f := '0'; f < 0x7f; f++ {
			if !strings.ContainsRune("PX[]^_", f) || i != "" {
				out = append(out, "\x1b"+i+string(f))
			}
			for _, prefix := range []string{"", "?", ">", "=", "<"} {
				for _, n := range parameters[:few(len(parameters), 4)] {
					if f >= '@' {
						out = append(out, "\x1b["+prefix+n+i+string(f))
					}
				}
			}
		}
	}
	return out
}

// TestPendingWrapBehindErasedCell has the facts of point 3 in docs/reference/snapshot-format.md:
// what erases the last cell of a row on the alternate screen, and leaves a wrap pending behind it.
// These are all, but for text: what erases the whole row, and what scrolls all rows or columns
// between the margins.
func TestPendingWrapBehindErasedCell(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	// Erased cells are above, below and left of the one that is printed last.
	const before = "\x18\x1bc\x1b[?47h\x1b[2J\x1b[?1047hab\r\n\n\x1b[31mkl\x1b[2;1Hef\x1b[Ch\x1b7"
	sequences := allSequences()
	found := map[string]bool{}
	for part := range slices.Chunk(sequences, 1000) {
		var writes [][]byte
		for _, s := range part {
			writes = append(writes, []byte(before+s))
		}
		for i, x := range j.ask(t, job{Cols: 4, Rows: 3, Writes: writes}) {
			if x.Other == nil || x.Other.X != 4 {
				continue
			}
			cells := x.Other.Lines[x.Other.Y].Cells
			if len(cells) < 4 || cells[3].Text == "" {
				found[strings.Map(func(r rune) rune {
					if r >= '0' && r <= '9' || r == ';' {
						return -1
					}
					return r
				}, strings.TrimPrefix(part[i], "\x1b"))] = true
			}
		}
	}
	got := slices.Sorted(maps.Keys(found))
	want := []string{
		"[ @", "[ A", "['}", "['~", // SL, SR, DECIC, DECDC
		"[?J", "[?K", "[J", "[K", // DECSED, DECSEL, ED, EL
		"[S", "[T", // SU, SD
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestXtermForgetsLinks has the facts of point 5 in docs/reference/snapshot-format.md: a link is
// forgotten with the lines in which OSC 8 and printing found the cursor, and a region
// that scrolls takes its cells to others.
func TestXtermForgetsLinks(t *testing.T) {
	j := startJudge(t)
	link := "\x1b]8;;https://example.org\x1b\\"
	for name, c := range map[string]struct {
		text   string
		forgot bool
	}{
		"where it was printed":                 {link + "abc\x1b]8;;\x1b\\", false},
		"opened in a line that is erased then": {link + "\x1b[2J\x1b[2;1Habc", true},
		"opened on the alternate screen":       {"\x1b[?47h" + link + "\x1b[?47labc", true},
		"scrolled in a region, line erased": {"\x1b[2;4r\x1b[4;1H" + link + "abc\x1b]8;;\x1b\\\n\x1b[3;9H\x1b[J",
			true},
		"the same, printed where it came to": {"\x1b[2;4r\x1b[3;1H" + link + "abc\x1b]8;;\x1b\\\x1b[3;9H\x1b[J",
			false},
		"deleted lines take their notes along": {"\x1b[3;1H" + link + "abc\x1b]8;;\x1b\\\x1b[1;1H\x1b[M\x1b[2;9H\x1b[J",
			false},
		"opened in two lines, of which one is gone": {link + "a\x1b[3;1Hbc\x1b]8;;\x1b\\\x1b[1;1H\x1b[1K\x1b[1J",
			false},
	} {
		var answer struct {
			States []struct {
				LinksKnown int // addresses that xterm.js itself has not forgotten
				Main       xbuffer
			}
		}
		j.exchange(t, job{Cols: 10, Rows: 4, Writes: [][]byte{[]byte(c.text)}}, &answer)
		x := answer.States[0]
		if (x.LinksKnown == 0) != c.forgot {
			t.Errorf("%s: %d links are known, forgotten: %v", name, x.LinksKnown, c.forgot)
		}
		if !strings.Contains(fmt.Sprint(x.Main), "https://example.org") {
			t.Errorf("%s: no cell has the link", name)
		}
	}
}

// TestXtermNotesLinksWithoutBound has the proof of point 5 in docs/reference/snapshot-format.md:
// notes of links with IDs that nothing shows decide whether such a link is known when it is opened
// again, each for itself, and one line can have any number of them. So screens that look the same
// have as many states as there are sets of IDs, and no text of a limited length says which.
func TestXtermNotesLinksWithoutBound(t *testing.T) {
	t.Parallel()
	j := startJudge(t)
	known := func(text string) int {
		var answer struct{ States []struct{ LinksKnown int } }
		j.exchange(t, job{Cols: 10, Rows: 4, Writes: [][]byte{[]byte(text)}}, &answer)
		return answer.States[0].LinksKnown
	}
	open := func(id int) string { return fmt.Sprintf("\x1b]8;id=%d;https://example.org\x1b\\", id) }
	const links = 5000
	var all strings.Builder
	for id := range links {
		all.WriteString(open(id))
	}
	all.WriteString("\x1b]8;;\x1b\\")
	if n := known(all.String()); n != links {
		t.Errorf("%d links noted in one blank line, %d are known", links, n)
	}
	again := "\x1b[3H" + open(7) + "\x1b[2H\x1b[J\x1b[4Hx" // its line in row 3 goes, then it is printed
	for _, c := range []struct {
		noted string
		known int
	}{{open(7), 1}, {open(8), 1}, {open(7) + open(8), 2}, {"", 0}} {
		if n := known(c.noted + again); n != c.known {
			t.Errorf("after %q and %q %d links are known, want %d", c.noted, again, n, c.known)
		}
	}
}
