package vt_test

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/vt"
)

// costUnit is output that is repeated to see what it costs.
type costUnit struct{ name, text string }

// documented are the sequences of docs/reference/sequences.md, with some parameters each.
func documented(t *testing.T) (units []costUnit) {
	doc, err := os.ReadFile("../docs/reference/sequences.md")
	if err != nil {
		t.Fatal(err)
	}
	section, column := "", -1
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		switch {
		case strings.HasPrefix(line, "## "):
			section, column = strings.TrimSpace(line[3:]), -1
		case len(cells) < 4 || strings.HasPrefix(line, "| ---"):
		case column < 0:
			column = slices.IndexFunc(cells, func(c string) bool {
				return slices.Contains([]string{"Bytes", "Number", "Final byte"}, strings.TrimSpace(c))
			})
			if column < 0 {
				column = len(cells)
			}
		case column < len(cells):
			spec := strings.ReplaceAll(strings.TrimSpace(cells[column]), "\x00", "|")
			made := sequencesOf(section, spec)
			if len(made) == 0 && spec != "" {
				t.Errorf("%s: no output is known for %q", section, spec)
			}
			units = append(units, made...)
		}
	}
	return units
}

// introducers are what sequences of a section begin with, and end with, when their bytes
// do not say it.
var introducers = map[string][2]string{
	"SGR": {"CSI ", " m x"}, "Operating system commands": {"OSC ", " ST"}, "Character sets": {"ESC ( ", " qx"},
}

var (
	numberRange = regexp.MustCompile(`(\d+)(?:\.\.| to | … )(\d+)`)
	hexBytes    = regexp.MustCompile(`^[0-9A-F]{2}( [0-9A-F]{2})*$`)
	codePoint   = regexp.MustCompile(`U\+([0-9A-F]{4})`)
	modeNumber  = regexp.MustCompile(`\??\d+`)
	severalOf   = regexp.MustCompile(`\d+( \d+)+`)
)

// sequencesOf makes output of the bytes that a row of the document names.
func sequencesOf(section, spec string) (units []costUnit) {
	add := func(text string) {
		if text != "" {
			units = append(units, costUnit{section + " " + spec, text})
		}
	}
	if section == "Modes" && !strings.Contains(spec, "CSI") {
		for _, mode := range modeNumber.FindAllString(spec, -1) {
			add("\x1b[" + mode + "hx")
			add("\x1b[" + mode + "hx\x1b[" + mode + "l")
		}
		return units
	}
	around, special := introducers[section]
	last := ""
	for part := range strings.SplitSeq(spec, ", ") {
		part = numberRange.ReplaceAllString(strings.ReplaceAll(part, "`", ""), "$1 $2")
		introduced := regexp.MustCompile(`^(ESC|CSI|OSC|DCS|APC|SOS|PM|U\+)`).MatchString(part)
		switch {
		case introduced:
			last = strings.Fields(part)[0] + " "
		case special:
			part = around[0] + part + around[1]
		case hexBytes.MatchString(part):
			for h := range strings.FieldsSeq(part) {
				b, _ := strconv.ParseUint(h, 16, 8)
				add(string(byte(b)) + "x")
			}
			continue
		default:
			part = last + part
		}
		for _, one := range alternatives(part) {
			add(sequenceOf(one))
		}
	}
	return units
}

// alternatives has part with each one of several numbers, and with several parameters.
func alternatives(part string) (all []string) {
	parts := []string{part}
	if several := severalOf.FindString(part); several != "" {
		parts = nil
		for n := range strings.FieldsSeq(several) {
			parts = append(parts, strings.Replace(part, several, n, 1))
		}
	}
	for _, p := range parts {
		for _, n := range []string{"", "1", "6", "999999"} {
			all = append(all, strings.ReplaceAll(p, "Ps", n))
			if !strings.Contains(p, "Ps") {
				break
			}
		}
	}
	return all
}

var sequenceWords = strings.NewReplacer(
	"ESC", "\x1b", "CSI", "\x1b[", "OSC", "\x1b]", "DCS", "\x1bP", "APC", "\x1b_", "SOS", "\x1bX", "PM", "\x1b^",
	"ST", "\x1b\\",
	"SP", "\x20", "Pt", "text", "Pc", "c", "URI", "http://example.com/", "base64", "YWJj", "…", "1;2;3", "colour",
	"#123456",
	"id ; page ; t ; l ; b ; r", "1;1;1;1;999;999")

// sequenceOf makes one sequence of words.
func sequenceOf(words string) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(codePoint.ReplaceAllStringFunc(words, func(s string) string {
		r, _ := strconv.ParseUint(s[2:], 16, 32)
		return " " + string(rune(r)) + " "
	})) {
		b.WriteString(sequenceWords.Replace(w))
	}
	return b.String()
}

// classes are characters of all kinds, alone and joined.
var classes = []costUnit{
	{"ASCII", "a"}, {"narrow", "é"}, {"wide", "日"}, {"emoji", "😀"}, {"mark", "\u0300"},
	{"letter and mark", "a\u0301"},
	{"wide and mark", "日\u0301"}, {"joiner", "\u200d"}, {"family", "👩\u200d👩\u200d👧"}, {"selector", "\ufe0f"},
	{"heart", "❤\ufe0f"}, {"skin", "🏽"}, {"flag", "🇩"}, {"jamo L", "ᄀ"}, {"jamo V", "ᅡ"}, {"jamo T", "ᆨ"},
	{"syllable", "ᄀ\u1161\u11a8"}, {"prepended", "\u0600"}, {"prepended 2", "\u0d4e"}, {"prepended 3", "\U000110bd"},
	{"prepended and wide", "\u0600日"}, {"spacing mark", "\u0903"}, {"conjunct", "क\u094d\u0937"},
	{"soft hyphen", "\u00ad"}, {"no width", "\u200b"}, {"BOM", "\ufeff"}, {"not UTF-8", "\xff"},
	{"cut UTF-8", "\xf0\x9f\x98"}, {"U+FFFD", "\ufffd"}, {"private", "\ue000"}, {"high", "\U000e0100"},
	{"mixed", "a日e\u0301\ufe0f😀"}, {"C1", "\u0081"}, {"NUL", "\x00"}, {"DEL", "\x7f"},
}

// hostileUnits are sequences of more than one part.
func hostileUnits() []costUnit {
	units := []costUnit{
		{"DECFRA", "\x1b[65;1;1;999;999$x"}, {"DECFRA é", "\x1b[233;1;1;999;999$x"}, {"DECERA", "\x1b[1;1;999;999$z"},
		{"DECSERA", "\x1b[1;1;999;999${"}, {"protected", "\x1b[1\"qab\x1b[\"qc\x1b[?K\x1b[?J\x1b[${"},
		{"DECSED", "\x1b[?2J"}, {"DECALN", "\x1b#8"}, {"REP", "a\x1b[99999b"}, {"REP wide", "日\x1b[99999b"},
		{"REP mark", "a\u0301\x1b[99999b"}, {"REP marks", "a" + strings.Repeat("\u0301", 30) + "\x1b[99999b"},
		{"REP prepended", "\u0600a\x1b[99999b"}, {"RI", "\x1bM"}, {"screens", "\x1b[?1049h\x1b[?1049l"},
		{"coloured screens", "\x1b[41m\x1b[?1049hx\x1b[?1049l"}, {"RIS", "\x1bc"}, {"RIS and x", "x\x1bc"},
		{"DECSTR", "\x1b[!p"}, {"coloured ED", "\x1b[41mx\x1b[2J"}, {"ED and x", "x\x1b[2J"}, {"history", "\x1b[3J\n"},
		{"DECIC", "\x1b['}"}, {"DECBI", "\x1b6"}, {"DECFI", "\x1b[999C\x1b9"}, {"HTS", "\x1bH\x1b[C"},
		{"CHT", "\x1b[99999I"}, {"CBT", "\x1b[99999Z"}, {"tabs", "\x1b[3g\r\t"},
		{"XTSAVE", "\x1b[?1;47;1047;1049s\x1b[?1;47;1047;1049r"}, {"kitty", "\x1b[>1u"}, {"kitty 0", "\x1b[<9u"},
		{"palette", "\x1b]4;1;#123456;2;red\a"}, {"palette ?", "\x1b]4;1;?;2;?\a"}, {"title", "\x1b]0;t\a"},
		{"title stack", "\x1b[22t\x1b[23t"}, {"long title", "\x1b]0;" + strings.Repeat("t", 60_000) + "\x1b\\"},
		{"void OSC", "\x1b]0;" + strings.Repeat("t", 70_000) + "\x1b\\"},
		{"clipboard", "\x1b]52;c;" + strings.Repeat("YWJj", 10_000) + "\a"}, {"XTGETTCAP", "\x1bP+q544E;;;;;;\x1b\\"},
		{"DECRQSS", "\x1bP$qm\x1b\\"}, {"link", "\x1b]8;;http://example.com/\ax"},
		{"link and LF", "x\x1b[99;99H\n\x1b[A"}, {"open string", "\x1b]"}, {"open CSI", "\x1b["},
		{"long CSI", "\x1b[" + strings.Repeat("1;", 1000) + "m"}, {"CAN", "\x1b[1\x18"}, {"inside", "\x1b[1\n\a2;3H"},
		{"SU", "\x1b[S"}, {"SU all", "\x1b[999S"}, {"SD all", "\x1b[999T"}, {"IL", "\x1b[H\x1b[L"},
		{"IL all", "\x1b[H\x1b[999L"}, {"DL", "\x1b[H\x1b[M"}, {"ICH", "\r\x1b[@"}, {"DCH", "\r\x1b[P"},
		{"ICH wide", "日\b\x1b[@"}, {"SL", "\x1b[ @"}, {"SR", "\x1b[ A"}, {"SR wide", "日\x1b[2G\x1b[ A"},
		{"DECRQCRA", "\x1b[1;1;1;1;999;999*y"}, {"over the end", "\x1b[?45h\x1b[99;1H\b\b"},
		{"ED 1", "\x1b[99;99H\x1b[1J"}, {"LF", "\n"}, {"coloured LF", "\x1b[44m\n"}, {"overwritten", "abc日\b\b\bx"},
		{"overwritten rows", "日本\x1b[2Dx\r\n"}, {"cell row", "ab\bc\n"}, {"DECRC", "\x1b7\x1b8"},
		{"reverse", "\x1b[?5h\x1b[?5l"}, {"DECCOLM", "\x1b[?3h\x1b[?3l"}, {"margins", "\x1b[2;5r\n\n\x1b[r"},
		{"queries", "\x1b[6n\x1b[c"}, {"mark and query", "a\x1b[6n\u0301"}, {"BOMs in CSI", "\x1b[\ufeff1\ufeffm"},
		{"C1 in string", "\x1bP$q\x07\x00m\u009c"},
	}
	var colours, links strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&colours, "\x1b[38;2;%d;%d;%dmx", i*7&255, i*13>>3&255, i*31>>2&255)
		fmt.Fprintf(&links, "\x1b]8;;u%d\ax", i)
	}
	return append(units, costUnit{"colours", colours.String()}, costUnit{"links", links.String()},
		costUnit{"long link", "\x1b]8;;" + strings.Repeat("u", 2000) + "\a" + strings.Repeat("\x1b[31mx\x1b[32mx",
			3000)})
}

// costModes are what comes before, which changes how things are printed.
var costModes = []costUnit{
	{"plain", ""}, {"no wrap", "\x1b[?7l\x1b[999C"}, {"insert", "\x1b[4h"}, {"insert no wrap", "\x1b[4h\x1b[?7l"},
	{"margins", "\x1b[3;9r\x1b[5H"}, {"sides", "\x1b[?69h\x1b[5;20s\x1b[5;5H"}, {"origin", "\x1b[3;9r\x1b[?6h"},
	{"alternate", "\x1b[?1049h"}, {"graphics", "\x1b(0"}, {"coloured", "\x1b[41;1m"},
	{"link", "\x1b]8;;http://example.com/\a"}, {"full", ""}, {"letter", "a"}, {"reverse wrap", "\x1b[?45h"},
}

// How much output may cost: units of work (Engine.WriteSome) and CPU time for each byte.
const (
	mostGrowth = 3 // times, of units when the output doubles
	mostTime   = 2 * time.Microsecond
	// mostUnitTime is what a unit may take. More is a loop that nobody counts.
	mostUnitTime = 500 * time.Nanosecond
	// mostTries is how often output is measured that takes too long: the machine may be busy with
	// something else.
	mostTries = 20
	// fewUnits is up to how many units a byte it does not matter how they grow: a screen
	// that fills may make the same sequence dearer.
	fewUnits = 320
)

// costCase is a unit in a mode and with a width table.
type costCase struct {
	unit, mode costUnit
	table      vt.Unicode
	cols, rows int
}

func (c costCase) String() string {
	return fmt.Sprintf("%s (%.40q), %s, %s, %dx%d", c.unit.name, c.unit.text, c.mode.name, c.table, c.cols, c.rows)
}

// run writes size bytes at once to a new terminal, and returns what they cost.
func (c costCase) run(t *testing.T, size int) (units int, took time.Duration) {
	e := vt.New(vt.Config{Cols: c.cols, Rows: c.rows, Scrollback: 1000, Unicode: c.table})
	if c.mode.name == "full" {
		e.Write([]byte(strings.Repeat(strings.Repeat("日", c.cols/2)+"\r\n", c.rows)))
	}
	e.Write([]byte(c.mode.text))
	in := []byte(strings.Repeat(c.unit.text, size/len(c.unit.text)+1)[:size])
	units = vt.Work(e)
	begun := threadTime(t)
	e.Write(in)
	return vt.Work(e) - units, threadTime(t) - begun
}

// check writes 1, 2, 4 and so on up to several times first bytes.
func (c costCase) check(t *testing.T, first, last int) {
	t.Helper()
	before := 0
	for size := first; size <= last; size *= 2 {
		units, took := c.run(t, size)
		if before > 0 && units > fewUnits*size && units > mostGrowth*before {
			t.Errorf("%s: %d bytes take %d units, half as many %d", c, size, units, before)
			return
		}
		before = units
		if raceEnabled {
			continue // the race detector takes the time
		}
		for range mostTries {
			if took <= c.mostTime(size, units) {
				break
			}
			_, again := c.run(t, size)
			took = min(took, again)
		}
		if took > c.mostTime(size, units) {
			t.Errorf("%s: %d bytes take %v, %v a byte and %v a unit", c, size, took, took/time.Duration(size),
				took/time.Duration(units))
			return
		}
	}
}

// mostTime is how long the output may take.
func (c costCase) mostTime(size, units int) time.Duration {
	return min(time.Duration(size)*mostTime, max(time.Duration(units)*mostUnitTime, time.Millisecond))
}

// TestCost: no output costs more than a constant for each byte, whatever it is and in
// whatever mode.
func TestCost(t *testing.T) {
	first, last := 16<<10, 32<<10
	whole := os.Getenv("EVERTTY_TORTURE") != "" && !raceEnabled // with it only units count
	if whole {
		first, last = 32<<10, 256<<10
	}
	seen := map[string]bool{}
	for i, u := range slices.Concat(classes, hostileUnits(), documented(t)) {
		if seen[u.text] || i%few(1, 16) != 0 {
			continue
		}
		seen[u.text] = true
		t.Run(u.name, func(t *testing.T) {
			if whole { // no other package's tests run beside it
				t.Parallel()
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			checkModes(t, u, i, first, last)
		})
	}
}

// checkModes checks u, the ith of all, in each mode and with both width tables.
func checkModes(t *testing.T, u costUnit, i, first, last int) {
	for j, m := range costModes {
		for k, table := range []vt.Unicode{vt.Unicode11, vt.Unicode15Graphemes} {
			if t.Failed() {
				return // a dear input takes long in all modes
			}
			c := costCase{unit: u, mode: m, table: table, cols: 80, rows: 24}
			switch {
			case i < len(classes) && j < 4: // where characters are left out
				c.check(t, 32<<10, 256<<10)
			case i < len(classes) || last > 32<<10 || (i+j+k)%2 == 0:
				c.check(t, first, last)
			}
		}
	}
}

// TestCostOfLargeScreens: on the largest screen, blank, full or protected, a sequence that is
// repeated touches each row and not each cell.
func TestCostOfLargeScreens(t *testing.T) {
	const size = 1 << 10
	protected := "\x1b[1\"q" + strings.Repeat("x\r\n", vt.MaxSize) + "\x1b[\"q"
	for _, u := range hostileUnits() {
		for _, m := range []costUnit{{"plain", ""}, {"full", ""}, {"protected", protected}} {
			c := costCase{unit: u, mode: m, table: vt.Unicode11, cols: vt.MaxSize, rows: vt.MaxSize}
			most := 40 * (c.cols + c.rows) * size / min(len(u.text), 3)
			if m.name != "plain" && (u.name == "SR wide" || strings.Contains(u.text, "999;999$")) {
				most = 3 * c.cols * c.rows * size / len(u.text) // text between shifts, a part of each row
			}
			if units, _ := c.run(t, size); units > most {
				t.Errorf("%s: %d units, more than %d", c, units, most)
			}
		}
	}
}

// FuzzCost looks for output that is dear: repeated twice as often it must not take much
// more than twice the work. It counts and looks at no clock.
func FuzzCost(f *testing.F) {
	for _, u := range classes {
		f.Add([]byte(u.text), []byte("\x1b[?7l"), false)
	}
	for _, u := range hostileUnits() {
		f.Add([]byte(u.text), []byte("\x1b[4h"), true)
	}
	f.Fuzz(func(t *testing.T, unit, mode []byte, graphemes bool) {
		if len(unit) == 0 || len(unit) > 64 || len(mode) > 64 {
			return
		}
		table := vt.Unicode11
		if graphemes {
			table = vt.Unicode15Graphemes
		}
		c := costCase{unit: costUnit{"fuzz", string(unit)}, mode: costUnit{"fuzz", string(mode)}, table: table,
			cols: 80, rows: 24}
		once, _ := c.run(t, 8<<10)
		twice, _ := c.run(t, 16<<10)
		if twice > fewUnits*16<<10 && twice > mostGrowth*once {
			t.Errorf("%s: %d units, of half as much %d", c, twice, once)
		}
		if most := 16 << 10 * mostUnits; twice > most {
			t.Errorf("%s: %d units, more than %d", c, twice, most)
		}
	})
}

// mostUnits is how many units a byte may cost on a common screen: the shortest sequence
// that erases all of it has three bytes.
const mostUnits = 1000
