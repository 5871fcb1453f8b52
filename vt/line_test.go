package vt

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var red = Style{FG: PaletteColor(1)}

// spans are the line's spans, to compare and print.
func spans(l Line) []Span { return slices.Collect(l.Spans()) }

// rich is a style of which every field is set.
var rich = Style{
	FG: RGBColor(1, 2, 3), BG: PaletteColor(200), UnderlineColor: RGBColor(4, 5, 6),
	Attr: Bold | Protected, Underline: UnderlineDashed, Link: Link{ID: "a", URI: "https://example.org/ä"},
}

// roundTrips are lines as a Packer gets them and as spans.
var roundTrips = []struct {
	name  string
	build func(p *Packer)
	want  []Span
	text  string
	cells int
}{
	{"nothing", func(*Packer) {}, nil, "", 0},
	{"plain", func(p *Packer) { p.ASCII([]byte("hello"), Style{}) }, []Span{{ASCII, 5, "hello", Style{}}}, "hello",
		5},
	{
		"characters join to runs",
		func(p *Packer) { p.Char('a', 1, Style{}); p.ASCII([]byte("bc"), Style{}); p.Char('d', 1, Style{}) },
		[]Span{{ASCII, 4, "abcd", Style{}}},
		"abcd", 4,
	},
	{
		"every kind",
		func(p *Packer) {
			p.Char('x', 1, Style{})
			p.Char('é', 1, Style{})
			p.Char('日', 2, Style{})
			p.Cluster("e\u0301", 1, Style{})
			p.Cluster("👍🏽", 2, Style{})
			p.Blank(2, red)
		},
		[]Span{
			{Narrow, 2, "xé", Style{}},
			{Wide, 2, "日", Style{}},
			{ClusterOne, 1, "e\u0301", Style{}},
			{ClusterWide, 2, "👍🏽", Style{}},
			{Blank, 2, "", red},
		},
		"xé日e\u0301👍🏽", 9,
	},
	{
		"neighbouring clusters stay apart",
		func(p *Packer) { p.Cluster("e\u0301", 1, Style{}); p.Cluster("o\u0308", 1, Style{}) },
		[]Span{{ClusterOne, 1, "e\u0301", Style{}}, {ClusterOne, 1, "o\u0308", Style{}}},
		"e\u0301o\u0308", 2,
	},
	{
		"blanks of the default style at the end are left out",
		func(p *Packer) { p.Char('a', 1, Style{}); p.Blank(70, Style{}) },
		[]Span{{ASCII, 1, "a", Style{}}},
		"a", 1,
	},
	{
		"blanks before something stay",
		func(p *Packer) { p.Blank(300, Style{}); p.Char('a', 1, Style{}) },
		[]Span{{Blank, 300, "", Style{}}, {ASCII, 1, "a", Style{}}},
		strings.Repeat(" ", 300) + "a", 301,
	},
	{
		"a style with everything, then back",
		func(p *Packer) { p.ASCII([]byte("ab"), rich); p.ASCII([]byte("cd"), Style{}) },
		[]Span{{ASCII, 2, "ab", rich}, {ASCII, 2, "cd", Style{}}},
		"abcd", 4,
	},
	{
		"long text",
		func(p *Packer) { p.ASCII([]byte(strings.Repeat("z", 1000)), red) },
		[]Span{{ASCII, 1000, strings.Repeat("z", 1000), red}},
		strings.Repeat("z", 1000), 1000,
	},
}

func TestLineRoundTrip(t *testing.T) {
	var p Packer // shared: what a line leaves behind must not show in the next
	for _, tt := range roundTrips {
		t.Run(tt.name, func(t *testing.T) {
			tt.build(&p)
			l := p.Line(true)
			if got := spans(l); !slices.Equal(got, tt.want) {
				t.Errorf("spans %v, want %v", got, tt.want)
			}
			if l.Text() != tt.text || l.Cells() != tt.cells || !l.Wrapped() {
				t.Errorf("text %q, %d cells, wrapped %v", l.Text(), l.Cells(), l.Wrapped())
			}
			back, err := ParseLine(l.Packed(), true, 1000)
			if err != nil || back != l {
				t.Errorf("ParseLine: %v, %v", back, err)
			}
		})
	}
}

// A line must not depend on the one packed before it: the packed form is
// self-contained.
func TestPackedLineIsSelfContained(t *testing.T) {
	var p Packer
	for range 2 {
		p.ASCII([]byte("red"), red)
		if got := spans(p.Line(false)); !slices.Equal(got, []Span{{ASCII, 3, "red", red}}) {
			t.Fatalf("got %v", got)
		}
	}
}

func TestParseLineRefuses(t *testing.T) {
	var p Packer
	p.ASCII([]byte("abc"), Style{})
	good := p.Line(false).Packed()
	tests := []struct {
		name, packed string
		cols         int
	}{
		{"too many cells", good, 2},
		{"a text cut short", good[:2], 80},
		{"an empty span", "\x01", 80},
		{"an unknown kind", "\x17a", 80},
		{"a control character", "\x11\x1b", 80},
		{"a C1 control", "\x22\u009b", 80},
		{"invalid UTF-8", "\x12\xff", 80},
		{"non-ASCII where ASCII is said", "\x21é", 80},
		{"a style cut short", "\x19\x01\x02", 80},
		{"an unknown style field", "\x19\xffa", 80},
		{"an endless size", "\xf1\xff\xff\xff\xff\xff\xff", 80},
		{"an escape in a link", "\x19\x20\x00\x01\x1ba", 80},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if l, err := ParseLine(tt.packed, false, tt.cols); !errors.Is(err, ErrBadLine) {
				t.Errorf("got %v, %v", spans(l), err)
			}
		})
	}
}

// FuzzParseLine: outside bytes are refused or make a line that is safe to show.
func FuzzParseLine(f *testing.F) {
	var p Packer
	p.ASCII([]byte("abc"), red)
	p.Char('日', 2, Style{Link: Link{URI: "x"}})
	p.Blank(20, red)
	f.Add(p.Line(false).Packed())
	f.Add("\x1b")
	f.Fuzz(func(t *testing.T, packed string) {
		l, err := ParseLine(packed, false, 80)
		if err != nil {
			return
		}
		if l.Cells() > 80 {
			t.Fatalf("%d cells", l.Cells())
		}
		for _, r := range l.Text() {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("control %U in %q", r, l.Text())
			}
		}
	})
}
