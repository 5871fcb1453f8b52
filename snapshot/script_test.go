package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

var update = flag.Bool("update", false,
	"write what snapshots are now into the scripts; look at the difference before you keep it")

// A script is one file of testdata/v1: a frame in words and what it becomes.
//
//	size 20x3
//	scrollback 2 | dead                 options; without them all history
//	hist "…" | hist+ "…"                a history line; + continues the one above
//	row "…" | row+ "…"                  a row of the main screen, or of the other after alt
//	alt                                 what follows is the alternate screen
//	cursor X,Y [wrap]                   saved X,Y [wrap] [origin] [sets=…] [style words]
//	region T,B | tabs 4 8 | kitty 1 3
//	on origin insert … | off autowrap | mouse button sgr | flags 5 | style 4
//	pen fg=1 bold | sets 0B/0 (finals of G0 to G3, then the invoked one) | last "x"
//	title "…" | icon "…" | cwd "…" | palette 3=#102030 | colours fg bg cursor
//	pending "\e[3"
//	ansi "…"  text "…"  html "…"  json "…"   expected, several lines of one kind are joined
type script struct {
	path    string
	head    []string // lines before the first expected one
	frame   *vt.Frame
	options Options
	want    map[string]string
	kinds   []string // expected kinds in the order of the file
	screen  *vt.Screen
	rows    int // rows given of screen
}

func loadScripts(t testing.TB) []*script {
	t.Helper()
	paths, err := filepath.Glob("testdata/v1/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var out []*script
	for _, p := range paths {
		out = append(out, loadScript(t, p))
	}
	return out
}

func loadScript(t testing.TB, path string) *script {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{path: path, want: map[string]string{},
		frame: &vt.Frame{Modes: vt.DefaultModes(), Unicode: vt.Unicode11}}
	s.options.Scrollback = -1
	for scan := bufio.NewScanner(bytes.NewReader(b)); scan.Scan(); {
		line := scan.Text()
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "ansi", "text", "html", "json":
			text, err := unshow(rest)
			if err != nil {
				t.Fatalf("%s: %s: %v", path, line, err)
			}
			if _, ok := s.want[word]; !ok {
				s.kinds = append(s.kinds, word)
			}
			s.want[word] += text
		default:
			s.head = append(s.head, line)
			if word != "" && word != "#" {
				s.directive(t, word, rest)
			}
		}
	}
	if len(s.kinds) == 0 {
		s.kinds = []string{"ansi"}
	}
	return s
}

func (s *script) directive(t testing.TB, word, rest string) {
	t.Helper()
	f := s.frame
	words := strings.Fields(rest)
	switch word {
	case "size":
		f.Cols, f.Rows = pair(t, rest, "x")
		f.Main.Lines, f.Main.Bottom = make([]vt.Line, f.Rows), f.Rows-1
		s.screen = &f.Main
	case "scrollback":
		s.options.Scrollback = number(t, rest)
	case "dead":
		s.options.Ended = true
	case "hist", "hist+":
		f.History = vt.LinesOf(append(f.History.Slice(), parseLine(t, quoted(t, rest), word == "hist+"))...)
	case "row", "row+":
		s.screen.Lines[s.rows] = parseLine(t, quoted(t, rest), word == "row+")
		s.rows++
	case "alt":
		f.Alt = &vt.Screen{Lines: make([]vt.Line, f.Rows), Bottom: f.Rows - 1}
		f.Modes.AltScreen = true
		s.screen, s.rows = f.Alt, 0
	case "cursor":
		s.screen.X, s.screen.Y = pair(t, words[0], ",")
		s.screen.PendingWrap = len(words) > 1
	case "saved":
		s.screen.Saved = parseSaved(t, words)
	case "region":
		s.screen.Top, s.screen.Bottom = pair(t, rest, ",")
	case "tabs":
		s.screen.Tabs = []int{}
		for _, w := range words {
			s.screen.Tabs = append(s.screen.Tabs, number(t, w))
		}
	case "kitty":
		for _, w := range words {
			s.screen.Kitty = append(s.screen.Kitty, uint8(number(t, w)))
		}
		f.Modes.Kitty = topKitty(f)
	default:
		s.global(t, word, rest, words)
	}
}

// global reads what belongs to no screen.
func (s *script) global(t testing.TB, word, rest string, words []string) {
	t.Helper()
	f := s.frame
	switch word {
	case "on", "off":
		for _, w := range words {
			*modeByName(t, &f.Modes, w) = word == "on"
		}
	case "mouse":
		f.Modes.Mouse = vt.Mouse(slices.Index([]string{"none", "x10", "normal", "button", "any"}, words[0]))
		f.Modes.MouseEncoding = vt.MouseEncoding(slices.Index([]string{"default", "utf8", "sgr", "urxvt", "sgr_pixels"},
			words[1]))
	case "flags":
		f.Modes.Kitty = uint8(number(t, rest))
	case "style":
		f.CursorStyle = vt.CursorStyle(number(t, rest))
	case "pen":
		f.Pen = parseStyle(t, words)
	case "sets":
		f.Charsets = parseSets(t, rest)
	case "last":
		f.LastChar = []rune(quoted(t, rest))[0]
	case "title":
		f.Title = quoted(t, rest)
	case "icon":
		f.Icon = quoted(t, rest)
	case "cwd":
		f.Cwd = quoted(t, rest)
	case "palette":
		f.Palette = map[uint8]vt.Color{}
		for _, w := range words {
			i, c, _ := strings.Cut(w, "=")
			f.Palette[uint8(number(t, i))] = parseColor(t, c)
		}
	case "colours":
		f.Foreground, f.Background, f.CursorColor = parseColor(t, words[0]), parseColor(t, words[1]),
			parseColor(t, words[2])
	case "pending":
		f.Pending = []byte(quoted(t, rest))
	default:
		t.Fatalf("%s: %s is unknown", s.path, word)
	}
}

func parseSaved(t testing.TB, words []string) (d vt.SavedCursor) {
	d.Set = true
	d.X, d.Y = pair(t, words[0], ",")
	for words = words[1:]; len(words) > 0; words = words[1:] {
		sets, isSets := strings.CutPrefix(words[0], "sets=")
		switch {
		case isSets:
			d.Charsets = parseSets(t, sets)
		case words[0] == "origin":
			d.Origin = true
		case words[0] == "wrap":
			d.PendingWrap = true
		default:
			d.Pen = parseStyle(t, words)
			return d
		}
	}
	return d
}

// parseSets reads "0B/1": finals of the sets from G0 on, and the invoked one.
func parseSets(t testing.TB, s string) (c vt.Charsets) {
	finals, gl, _ := strings.Cut(s, "/")
	copy(c.G[:], finals)
	c.GL = uint8(number(t, gl))
	return c
}

// modeByName finds a switch by the name of its field in lower case.
func modeByName(t testing.TB, m *vt.Modes, name string) *bool {
	t.Helper()
	v := reflect.ValueOf(m).Elem()
	f := v.FieldByNameFunc(func(s string) bool { return strings.ToLower(s) == name })
	p, ok := f.Addr().Interface().(*bool)
	if !ok {
		t.Fatalf("mode %s is unknown", name)
	}
	return p
}

func pair(t testing.TB, s, sep string) (a, b int) {
	t.Helper()
	x, y, _ := strings.Cut(s, sep)
	return number(t, x), number(t, y)
}

func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func quoted(t testing.TB, s string) string {
	t.Helper()
	q, err := unshow(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return q
}

// render is what the frame becomes in the given kind.
func (s *script) render(t testing.TB, kind string) string {
	t.Helper()
	switch kind {
	case "ansi":
		return string(ANSI(s.frame, s.options))
	case "text":
		return Text(s.frame, s.options.Scrollback)
	case "html":
		return HTML(s.frame, s.options.Scrollback)
	}
	b, err := json.Marshal(JSON(s.frame, s.options.Scrollback))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// file is the script with the given expectations.
func (s *script) file(got map[string]string) []byte {
	var b bytes.Buffer
	for _, l := range s.head {
		b.WriteString(l + "\n")
	}
	for _, kind := range s.kinds {
		for _, part := range breakUp(kind, got[kind]) {
			fmt.Fprintf(&b, "%s %s\n", kind, show(part))
		}
	}
	return b.Bytes()
}

// breakUp divides a result into lines that a person can compare.
func breakUp(kind, s string) []string {
	sep := "\n"
	if kind == "json" {
		sep = "},"
	}
	parts := strings.SplitAfter(s, sep)
	if parts[len(parts)-1] == "" && len(parts) > 1 {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// TestScripts compares every script with what its frame becomes. A difference
// is shown from its first byte, and the script as it would be is written beside
// the file; -update, by hand only, puts it into place.
func TestScripts(t *testing.T) {
	for _, s := range loadScripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(s.path), ".txt"), func(t *testing.T) {
			got := map[string]string{}
			for _, kind := range s.kinds {
				got[kind] = s.render(t, kind)
				if want := s.want[kind]; got[kind] != want && !*update {
					at := firstDifference(got[kind], want)
					t.Errorf("%s: %s differs at byte %d\n got  …%s\n want …%s", s.path, kind, at, show(got[kind][at:]),
						show(want[at:]))
				}
			}
			if *update {
				writeFor(t, s.path, s.file(got))
			} else if t.Failed() {
				writeFor(t, s.path+".candidate", s.file(got))
			}
		})
	}
}

func writeFor(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func firstDifference(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && a[n]&0xc0 == 0x80 {
		n--
	}
	return n
}
