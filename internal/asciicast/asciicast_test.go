//go:build linux

package asciicast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// castStart is when the recordings of these tests begin.
var castStart = time.Unix(1700000000, 0)

// after is so many microseconds after castStart.
func after(us int64) time.Time { return castStart.Add(time.Duration(us) * time.Microsecond) }

func output(us int64, text string) journal.Entry {
	return journal.Entry{Kind: journal.EntryOutput, Time: after(us), Data: []byte(text)}
}

// castOf is the recording of the entries.
func castOf(t *testing.T, version int, entries ...journal.Entry) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, Header{Version: version, Cols: 80, Rows: 24, Type: "xterm-256color",
		Command: "bash -l", Title: "<t>", Env: map[string]string{"SHELL": "/bin/bash"}})
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readCast is all of a recording.
func readCast(t *testing.T, text string) (Header, []Event) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header(), events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func exitStatus(n int) *int { return &n }

// session has an entry of every kind.
var session = []journal.Entry{
	{Kind: journal.EntryResize, Cols: 90, Rows: 30, Time: after(0)}, // before the first event: where it begins
	output(500, "a\"\\\x1b[m\r\n\t\x00\x7f"),
	output(1000, "\xe2\x82"),
	output(1999, "\xac\xff!"),
	{Kind: journal.EntryInput, Time: after(2499), Data: []byte("ls\r")},
	{Kind: journal.EntryResize, Cols: 90, Rows: 30, Time: after(2600)}, // no change
	{Kind: journal.EntryResize, Cols: 100, Rows: 40, Time: after(3000)},
	output(3000, "\xf0\x9f"),
	{Kind: journal.EntryGap, Time: after(4000), Bytes: 12},
	{Kind: journal.EntryOutput, Time: after(4000), Data: []byte("x"), Damaged: true},
	{Kind: journal.EntryOutput, Time: after(4000), Data: []byte("y"), Damaged: true},
	{Kind: journal.EntryExit, Time: after(5000), End: &journal.End{Code: exitStatus(3)}},
	{Kind: journal.EntryRestart, Time: after(2_000_000), Generation: 2, Cols: 80, Rows: 24},
	output(1_500_000, "late"), // a clock that went back
	{Kind: journal.EntryExit, Time: after(61_000_500), End: &journal.End{Signal: "TERM"}},
}

func TestCastV3(t *testing.T) {
	want := `{"version":3,"term":{"cols":90,"rows":30,"type":"xterm-256color"},"timestamp":1700000000,` +
		`"command":"bash -l","title":"\u003ct\u003e","env":{"SHELL":"/bin/bash"}}
[0.000, "o", "a\"\\\u001b[m\r\n\t\u0000` + "\x7f" + `"]
[0.001, "o", "€` + "\ufffd" + `!"]
[0.000, "i", "ls\r"]
[0.001, "r", "100x40"]
[0.001, "o", "` + "\ufffd\ufffd" + `"]
[0.000, "m", "12 bytes lost"]
[0.000, "m", "damaged from here"]
[0.000, "o", "x"]
[0.000, "o", "y"]
[0.001, "m", "exit 3"]
[1.995, "r", "80x24"]
[0.000, "m", "generation 2"]
[0.000, "o", "late"]
[59.001, "x", "143"]
`
	if got := castOf(t, V3, session...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCastV2(t *testing.T) {
	want := `{"version":2,"width":90,"height":30,"timestamp":1700000000,"command":"bash -l",` +
		`"title":"\u003ct\u003e","env":{"SHELL":"/bin/bash","TERM":"xterm-256color"}}
[0.000000, "o", "a\"\\\u001b[m\r\n\t\u0000` + "\x7f" + `"]
[0.001499, "o", "€` + "\ufffd" + `!"]
[0.001999, "i", "ls\r"]
[0.002500, "r", "100x40"]
[0.003500, "o", "` + "\ufffd\ufffd" + `"]
[0.003500, "m", "12 bytes lost"]
[0.003500, "m", "damaged from here"]
[0.003500, "o", "x"]
[0.003500, "o", "y"]
[0.004500, "m", "exit 3"]
[1.999500, "r", "80x24"]
[1.999500, "m", "generation 2"]
[1.999500, "o", "late"]
[61.000000, "m", "exit 143"]
`
	if got := castOf(t, V2, session...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCastEnds: an exit nobody knows the status of is a marker, an unfinished
// character does not wait for ever, and nothing at all is still a recording.
func TestCastEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		entries []journal.Entry
		want    string // behind the header
	}{
		"nothing": {nil, ""},
		"lost": {[]journal.Entry{{Kind: journal.EntryExit, End: &journal.End{Reason: "lost"}}},
			"[0.000, \"m\", \"exit lost\"]\n"},
		"unfinished": {[]journal.Entry{output(0, "a\xe2\x82")},
			"[0.000, \"o\", \"a\"]\n[0.000, \"o\", \"\ufffd\ufffd\"]\n"},
		"unfinished before the exit": {[]journal.Entry{output(0, "a\xe2\x82"),
			{Kind: journal.EntryExit, Time: after(0), End: &journal.End{Code: exitStatus(3)}},
			{Kind: journal.EntryRestart, Time: after(0), Cols: 80, Rows: 24, Generation: 2}, output(0, "\xac")},
			"[0.000, \"o\", \"a\"]\n[0.000, \"o\", \"\ufffd\ufffd\"]\n[0.000, \"m\", \"exit 3\"]\n[0.000, \"m\", " +
				"\"generation 2\"]\n[0.000, \"o\", \"\ufffd\"]\n"},
		"signal": {[]journal.Entry{{Kind: journal.EntryExit, End: &journal.End{Signal: "SIGKILL"}}},
			"[0.000, \"x\", \"137\"]\n"},
		"no time": {[]journal.Entry{{Kind: journal.EntryOutput, Data: []byte("a")}, output(5000, "b"),
			output(6000, "c")}, "[0.000, \"o\", \"a\"]\n[0.000, \"o\", \"b\"]\n[0.001, \"o\", \"c\"]\n"},
	} {
		header, got, _ := strings.Cut(castOf(t, V3, tc.entries...), "\n")
		if got != tc.want || !json.Valid([]byte(header)) {
			t.Errorf("%s: got %q behind %s, want %q", name, got, header, tc.want)
		}
	}
}

// TestCastIsAsLongAsItWas: what the milliseconds of version 3 cut off does not
// add up.
func TestCastIsAsLongAsItWas(t *testing.T) {
	var entries []journal.Entry
	for i := range int64(10_000) {
		entries = append(entries, output(i*1999, "x"))
	}
	for version, near := range map[int]time.Duration{V2: 0, V3: time.Millisecond} {
		_, events := readCast(t, castOf(t, version, entries...))
		want := 9999 * 1999 * time.Microsecond
		if got := events[len(events)-1].At; len(events) != 10_000 || want-got > near || got > want {
			t.Errorf("version %d: %d events, the last at %v, want %v", version, len(events), got, want)
		}
	}
}

// TestCastKeepsOutput sends random bytes, cut anywhere, through both versions:
// the text is the bytes decoded by Go's rule, and an engine that gets it shows
// the same as one that gets the bytes.
func TestCastKeepsOutput(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 200 {
		raw := castNoise(r)
		var entries []journal.Entry
		for rest, us := raw, int64(0); len(rest) > 0; us += r.Int64N(5000) {
			n := min(len(rest), 1+r.IntN(40))
			entries = append(entries, output(us, string(rest[:n])))
			rest = rest[n:]
		}
		for _, version := range []int{V2, V3} {
			sameOutput(t, raw, castOf(t, version, entries...))
		}
	}
}

// castNoise is output with control sequences, characters of all lengths and bytes
// that are none.
func castNoise(r *rand.Rand) []byte {
	words := []string{"\x1b[31m", "\x1b[5;7H", "\x1b]0;t\x07", "\r\n", "é", "€", "漢", "👍🏽", "\xff", "\xe2\x82",
		"\xf0\x9f\x91", "\xc3", "\x80", "\"\\", "abc ", "\x00", "\x1b[?1049h", "\x1b[2J", "\u2028"}
	var b []byte
	for range r.IntN(200) {
		b = append(b, words[r.IntN(len(words))]...)
	}
	return b
}

// sameOutput wants the output of a recording to be raw.
func sameOutput(t *testing.T, raw []byte, cast string) {
	t.Helper()
	_, events := readCast(t, cast)
	var text strings.Builder
	for _, e := range events {
		if e.Code == Output {
			text.WriteString(e.Data)
		}
	}
	if want := string([]rune(string(raw))); text.String() != want {
		t.Fatalf("got the text\n%q\nwant\n%q", text.String(), want)
	}
	config := vt.Config{Cols: 80, Rows: 24, Scrollback: 100}
	a, b := vt.NewEngine(config), vt.NewEngine(config)
	a.Write(append(raw[:len(raw):len(raw)], '.')) // which ends an unfinished character
	b.Write([]byte(text.String() + "."))
	if d := snapshot.Differences(a.Freeze(), b.Freeze()); d != nil {
		t.Fatalf("the screens differ: %q\nof %q", d, raw)
	}
}

func TestCastReaderTakes(t *testing.T) {
	text := `{"version":3,"term":{"cols":80,"rows":24,"theme":{"fg":"#d0d0d0"}},"timestamp":1504467315.5,` +
		`"idle_time_limit":1.5,"env":{"SHELL":"/bin/zsh","X":null},"tags":["a"]}
# a comment
[1,"o","a"]

[0.25, "z", "what"]
[1.5e0, "r", "90x30"]` + "\r\n" + `[0.000001, "x", "0"]`
	h, events := readCast(t, text)
	if h.Time.Unix() != 1504467315 || h.IdleLimit != 1500*time.Millisecond || len(h.Env) != 1 || h.Cols != 80 {
		t.Errorf("the header is %+v", h)
	}
	if got, want := fmt.Sprint(events),
		"[{1s 111 a 0 0} {1.25s 122 what 0 0} {2.75s 114 90x30 90 30} {2.750001s 120 0 0 0}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, events = readCast(t, "{\"version\":2,\"width\":1,\"height\":1}\n[2,\"o\",\"\\ud800\"]\n[1,\"o\",\"back\"]")
	if got, want := fmt.Sprint(events), "[{2s 111 \ufffd 0 0} {2s 111 back 0 0}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCastReaderRefuses(t *testing.T) {
	head := "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n"
	for text, want := range map[string]string{
		"":                         "line 1: the file is empty",
		"x":                        "line 1: the header: invalid",
		"{\n":                      "line 1: the header: unexpected end",
		`{"version":1,"width":80}`: "line 1: version 1",
		`{"version":3}`:            "line 1: the header has no term",
		`{"version":2,"width":80}`: "line 1: a size of 80 x 0",
		head + "\n{}":              "line 3: json",
		head + `[1,"o"]`:           "line 2: an event of 2 parts",
		head + `[-1,"o",""]`:       "line 2: the time -1",
		head + `["1","o",""]`:      "line 2: json",
		head + `[1e300,"o",""]`:    "line 2: the time 1e300",
		head + "[3e9,\"o\",\"\"]\n[3e9,\"o\",\"\"]": "line 3: the time 3e9",
		head + `[1,"",""]`:                          "line 2: an event without a code",
		head + `[1,"o",1]`:                          "line 2: json",
		head + `[1,"r","80"]`:                       `line 2: the size "80"`,
		head + `[1,"r","80x0"]`:                     `line 2: the size "80x0"`,
		head + `[1,"r","65536x1"]`:                  `line 2: the size "65536x1"`,
		head + strings.Repeat(" ", maxLine+1):       "line 2: longer than",
	} {
		r, err := NewReader(strings.NewReader(text))
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
		}
	}
}

// FuzzCast: a reader of any bytes ends, without a panic, and what it returns can
// be written and read again.
func FuzzCast(f *testing.F) {
	f.Add([]byte("{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n#\n[0.5, \"o\", \"a\\u001b\"]\n[1, \"r\", " +
		"\"9x9\"]\n[1, \"x\", \"0\"]\n"))
	f.Add([]byte("{\"version\":2,\"width\":80,\"height\":24}\n[0.5, \"i\", \"\\ud800\"]\n[1.000001, \"m\", \"\"]\n"))
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := NewReader(bytes.NewReader(p))
		last := time.Duration(0)
		for err == nil {
			var e Event
			if e, err = r.Next(); err != nil {
				break
			}
			if e.At < last || e.At > maxTime || !utf8.ValidString(e.Data) || e.Code == Resize &&
				!castSize(e.Cols, e.Rows) {
				t.Fatalf("an event %+v after %v", e, last)
			}
			last = e.At
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		if r == nil {
			return
		}
		h := r.Header()
		again, err := NewReader(bytes.NewReader(h.append(nil)))
		if err != nil || again.Header().Cols != h.Cols || again.Header().Rows != h.Rows {
			t.Fatalf("the header %+v: %v", h, err)
		}
	})
}
