package snapshot

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/evertty/evertty/vt"
)

// token is one thing a random program does: it prints text or the window gets
// another size.
type token struct {
	text       string
	cols, rows int
	cut        bool // may hold a query or a count that viewers do not get as it is
}

// writer makes random streams out of a grammar of tokens.
type writer struct {
	*rand.Rand
	cols, rows int
	least      int // rows
}

// randomStream is case number seed of the differential test.
func randomStream(seed uint64) (s stream, tokens []token) {
	w := writer{Rand: rand.New(rand.NewPCG(seed, 7))}
	w.cols, w.rows = 2+w.IntN(18), 1+w.IntN(7)
	if w.chance(15) {
		w.cols, w.rows = 2+w.IntN(99), 1+w.IntN(30)
	}
	s = stream{cols: w.cols, rows: w.rows, unicode: vt.Unicode11}
	// One row alone is left out where xterm.js recycles the row it still reads:
	// without history and on the alternate screen.
	switch {
	case w.chance(15):
		s.scrollback, w.least = 0, 2
	case w.chance(10):
		s.scrollback, w.least = 1+w.IntN(50), 1
	default:
		s.scrollback, w.least = 1+w.IntN(50), 2
	}
	w.rows = max(w.rows, w.least)
	s.rows = w.rows
	if w.chance(25) {
		s.unicode = vt.Unicode15Graphemes
	}
	for range 1 + w.IntN(40) {
		if tok := w.token(); w.least > 1 || !strings.Contains(tok.text, "47") && !strings.Contains(tok.text, "1049") {
			tokens = append(tokens, tok)
		}
	}
	return s, tokens
}

func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

func (w *writer) pick(from ...string) string { return from[w.IntN(len(from))] }

// kindsOfTokens are what a program does, and how often.
var kindsOfTokens = []struct {
	weight int
	make   func(w *writer) token
}{
	{16, func(w *writer) token { return token{text: w.ascii()} }},
	{12, func(w *writer) token { return token{text: w.characters()} }},
	{14, func(w *writer) token { return token{text: w.control()} }},
	{14, func(w *writer) token { return w.cursor() }},
	{14, func(w *writer) token { return w.edit() }},
	{9, func(w *writer) token { return token{text: w.sgr()} }},
	{9, func(w *writer) token { return token{text: w.mode()} }},
	{8, func(w *writer) token { return token{text: w.state()} }},
	{4, func(w *writer) token { return token{text: w.osc()} }},
	{2, func(w *writer) token { return token{text: w.control7()} }},
	{2, func(w *writer) token { return token{text: w.query(), cut: true} }},
	{4, func(w *writer) token { return token{text: w.broken(), cut: true} }},
	{4, func(w *writer) token { return token{text: w.expanded(), cut: true} }},
	{4, func(w *writer) token { return w.resize() }},
}

func (w *writer) token() token {
	sum := 0
	for _, k := range kindsOfTokens {
		sum += k.weight
	}
	n := w.IntN(sum)
	for _, k := range kindsOfTokens {
		if n -= k.weight; n < 0 {
			return k.make(w)
		}
	}
	panic("unreachable")
}

func (w *writer) ascii() string {
	const text = "abcdefghijklmnopqrstuvwxyz ABCDEF 0123456789 `{|}~_#[]x"
	n := 1 + w.IntN(6)
	if w.chance(35) {
		n = 1 + w.IntN(2*w.cols+4)
	}
	at := w.IntN(len(text))
	return strings.Repeat(text, 2+n/len(text))[at : at+n]
}

// expanded is what viewers get as simpler sequences: operations on rectangles, DECBI,
// DECFI and the modes that XTSAVE keeps.
func (w *writer) expanded() string {
	edge := func(most int) string { return w.pick("", strconv.Itoa(w.IntN(most+3))) }
	rectangle := edge(w.rows) + ";" + edge(w.cols) + ";" + edge(w.rows) + ";" + edge(w.cols)
	mode := w.pick("1", "4", "5", "7", "6", "25", "45", "47", "1047", "1000", "2004", "7;25;9999")
	switch w.IntN(7) {
	case 0:
		return "\x1b[" + rectangle + "$z"
	case 1:
		return "\x1b[" + rectangle + "${"
	case 2:
		return "\x1b[" + strconv.Itoa(30+w.IntN(240)) + ";" + rectangle + "$x"
	case 3:
		return w.pick("\x1b6", "\x1b9")
	case 4:
		return "\x1b[?" + mode + "s"
	default:
		return "\x1b[?" + mode + "r"
	}
}

// characters beyond ASCII: all widths, marks, joiners, clusters and what a
// decoder treats in its own way.
var characters = []string{
	"é", "─", "ß", "Ж", "漢", "字", "か", "ｱ", "Ａ", "한", "👍", "😀", "🏽", "\u0301", "\u0300", "\u200d", "\ufe0f", "\ufe0e",
	"\u20e3",
	"🇩", "🇪", "👩\u200d👩\u200d👦", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3", "क\u094d\u0937", "ก\u0e33", "ᄀ", "ᅡ", "ᆨ", "\u00ad",
	"\u200b", "\ufeff",
	"\ufffd", "\ue000", "\U000f0000", "\U0010ffff", "\uffff", "☎", "⌚", "★", "①", "│", "e\u0301", "漢\u0301",
	"a\u0300\u0301\u0302", "\u00a0", "\u3000", "\u05d0\u05b0",
	"\u2028", "\u115f", "\u1160", "\U0001f1e6", "\U000e0001", "𝒳", "\u302a", "\u3099", "¡", "\u2060", "\u0600",
	"\u070f", "\u1f3fb",
}

func (w *writer) characters() string {
	var b strings.Builder
	for range 1 + w.IntN(4) {
		b.WriteString(characters[w.IntN(len(characters))])
		if w.chance(30) {
			b.WriteString(w.pick("a", "b", " ", "x"))
		}
	}
	if w.chance(20) {
		return strings.Repeat(b.String(), 1+w.IntN(w.cols))
	}
	return b.String()
}

func (w *writer) control() string {
	return w.pick("\r\n", "\r\n", "\r\n", "\r\n", "\r", "\n", "\n", "\b", "\b\b", "\t", "\t", "\v", "\f", "\a", "\x00",
		"\x0e", "\x0f", "\x7f",
		strings.Repeat("\r\n", 1+w.IntN(w.rows+3)), strings.Repeat("\n",
			1+w.IntN(w.rows+3)), "\x1bD", "\x1bE", "\x1bM", "\x1bM", "\u0084", "\u0085", "\u0088", "\u008d",
		"\u0090x\u009c", "\u009b2C", "\u009d2;c1\u009c")
}

// number is a parameter: often left out or small, now and then at the edge or far beyond.
func (w *writer) number(edge int) string {
	switch w.IntN(12) {
	case 0, 1, 2:
		return ""
	case 3:
		return "0"
	case 4, 5:
		return "1"
	case 6, 7:
		return strconv.Itoa(2 + w.IntN(3))
	case 8, 9:
		return strconv.Itoa(max(0, edge-2+w.IntN(4)))
	case 10:
		return strconv.Itoa(w.IntN(edge + 2))
	}
	return w.pick("999", "999", "5000", "65536", "2147483647", "2147483648", "99999999999999999999", "007")
}

func (w *writer) csi(edge int, final string) token {
	n := w.number(edge)
	return token{text: "\x1b[" + n + final, cut: true}
}

func (w *writer) cursor() token {
	switch w.IntN(4) {
	case 0:
		n := w.number(w.rows)
		return token{text: "\x1b[" + n + w.pick(";"+w.number(w.cols), ";"+w.number(w.cols), "") + w.pick("H", "H", "f"),
			cut: true}
	case 1:
		return w.csi(w.cols, w.pick("C", "D", "G", "G", "`", "a", "I", "Z"))
	case 2:
		return token{text: fmt.Sprintf("\x1b[%d;%dH", 1+w.IntN(w.rows), max(1, w.cols-w.IntN(4)))}
	}
	return w.csi(w.rows, w.pick("A", "B", "E", "F", "d", "e", "k", "j"))
}

func (w *writer) edit() token {
	switch w.IntN(8) {
	case 0, 1:
		text := "\x1b[" + w.pick("", "", "?") + w.pick("", "0", "1", "2", "3", "4") + w.pick("J", "K", "K")
		return token{text: text, cut: strings.HasSuffix(text, "1J")} // ED 1 can freeze a viewer
	case 2:
		return w.csi(w.rows, w.pick("L", "M", "S", "T", "L", "M"))
	case 3:
		return w.csi(w.cols, w.pick(" @", " A", "'}", "'~", "^", "#y"))
	case 4:
		return w.csi(w.cols, "b")
	}
	return w.csi(w.cols, w.pick("@", "P", "X"))
}

func (w *writer) color(kind string) string {
	n := strconv.Itoa(w.IntN(256))
	switch w.IntN(9) {
	case 0, 1:
		return kind + ";5;" + n
	case 2:
		return kind + ":5:" + n
	case 3:
		return kind + ";2;1;2;" + n
	case 4:
		return kind + ":2:1:2:" + n
	case 5:
		return kind + ":2::1:2:" + n
	case 6:
		return kind + w.pick(";5", ";2;1", ":5", ":2:1", "", ";5;300", ":2:::", ";5:"+n, ":3:1:2", ";2;1:2:3", ";9;1",
			":2:0:1:2:3:4:5")
	case 7:
		return kind + ";5;" + strconv.Itoa(w.IntN(16))
	}
	return kind + ":5;" + n
}

func (w *writer) sgr() string {
	var b strings.Builder
	b.WriteString("\x1b[")
	for i := range 1 + w.IntN(3) {
		if i > 0 {
			b.WriteString(";")
		}
		switch w.IntN(6) {
		case 0:
			b.WriteString(w.pick("", "0", "0"))
		case 1:
			b.WriteString(w.pick("4:0", "4:1", "4:2", "4:3", "4:4", "4:5", "4:6", "4:", "4", "21", "24"))
		case 2:
			b.WriteString(w.color(w.pick("38", "48", "58", "48")))
		case 3:
			b.WriteString(strconv.Itoa(w.IntN(120)))
		default:
			b.WriteString(w.pick("1", "2", "3", "4", "5", "7", "8", "9", "22", "23", "24", "25", "27", "28", "29", "31",
				"42", "39", "49", "53", "55", "59", "91", "104", "100", "7", "44"))
		}
	}
	return b.String() + "m"
}

func (w *writer) mode() string {
	set := w.pick("h", "h", "l")
	switch w.IntN(6) {
	case 0, 1:
		return "\x1b[?" + w.pick("47", "1047", "1048", "1049", "1049") + set
	case 2, 3:
		return "\x1b[" + w.pick("4", "20", "?6", "?7", "?7", "?45", "?6", "2", "12") + w.pick("h", "l")
	case 4:
		return "\x1b[?" + w.pick("1", "3", "5", "8", "9", "12", "25", "66", "67", "1000", "1001", "1002", "1003",
			"1004", "1005", "1006", "1015", "1016", "2004", "2026", "2027", "2031", "9001", "40", "69") + set
	}
	return "\x1b[?" + w.pick("1;25", "7;6", "1049;1", "25;2004;1000", "6;7", ";6", "47;1049", "1000;1006") + set
}

// state is what has a memory: margins, saved cursors, tabs, sets, resets.
func (w *writer) state() string {
	switch w.IntN(8) {
	case 0, 1:
		return "\x1b[" + w.number(w.rows) + w.pick(";"+w.number(w.rows), ";"+w.number(w.rows), "") + "r"
	case 2:
		return w.pick("\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1b7", "\x1b8")
	case 3:
		return w.pick("\x1bH", "\x1b[g", "\x1b[3g", "\x1b[0g", "\x1b[2g", "\x1b[5g", "\x1b[W", "\x1b[?5W")
	case 4:
		return "\x1b" + w.pick("(", "(", ")", "*", "+", "-", ".", "/") + w.pick("0", "B", "A", "4", "5", "C", "<", "Z",
			"K", "R", "Q", "E", "6", "H", "7", "=", "Y", "1", "2", "\"4")
	case 5:
		return w.pick("\x0e", "\x0f", "\x1bn", "\x1bo", "\x1b|", "\x1b}", "\x1b~", "\x1bN", "\x1bO", "\x1b%G", "\x1b%@")
	case 6:
		return w.pick("\x1b[1\"q", "\x1b[0\"q", "\x1b[2\"q", "\x1b[ q", "\x1b[3 q", "\x1b[6 q", "\x1b[0 q", "\x1b[9 q",
			"\x1b=", "\x1b>", "\x1b[?1\"q", "\x1b[>1u", "\x1b[<u", "\x1b[=5u")
	}
	return w.pick("\x1b[!p", "\x1b#8", "\x1bc", "\x1b[!p", "\x1b#8", "\x1b#3", "\x1b#6", "\x1b[22t", "\x1b[23t",
		"\x1b[22;2t", "\x1b[23;2t", "\x1b[8;5;20t", "\x1b[?3h")
}

func (w *writer) osc() string {
	end := w.pick("\a", "\x1b\\", "\x1b\\")
	switch w.IntN(5) {
	case 0:
		return "\x1b]" + w.pick("0", "1", "2", "0", "2", "l") + ";" + w.pick("title", "", "t;é漢", "x\x01y\tz",
			"a\x7fb") + end
	case 1, 2:
		return "\x1b]8;" + w.pick("", "id=1", "id=2", "a=b:id=1", "id=") + ";" + w.pick("https://example.org/a;b",
			"mailto:x", "", "", "file:///é") + end
	case 3:
		return "\x1b]" + w.pick("4;1;#ff0000", "4;1;rgb:1/2/3;2;rgb:11/22/33", "4;300;#fff", "4;1", "4;x;#fff",
			"4;7;red", "10;#123456", "11;#abc", "12;rgb:ffff/0/8080", "10;#111111;#222222;#333333", "104", "104;1",
			"104;1;2", "110", "111", "112", "11;", "10;junk", "12;#1234", "4;5;#112233445566") + end
	}
	return "\x1b]" + w.pick("7;file://h/tmp", "52;c;aGk=", "133;A", "1337;CurrentDir=/x", "9;note", "777;notify;a;b",
		"633;A", "1234;x", ";x", "", "2", "x", "50;f") + end
}

// control7 is a string that has no effect.
func (w *writer) control7() string {
	return "\x1b" + w.pick("P", "_", "^", "X") + w.pick("", "1;2", "q#0;1;1;1", "Gf=1;AAAA", "+r4142", "=1s", "!z",
		"1!|x", "é", "$x\x07y", "\r\nz") + w.pick("\x1b\\", "\x1b\\", "\x18", "\x1a", "\u009c")
}

func (w *writer) query() string {
	return w.pick("\x05", "\x1b[c", "\x1b[0c", "\x1b[>c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?7$p",
		"\x1b[4$p", "\x1b[?2026$p", "\x1bP$qm\x1b\\", "\x1bP$qr\x1b\\", "\x1bP$q q\x1b\\", "\x1bP+q544e\x1b\\",
		"\x1b]4;1;?\x1b\\", "\x1b]10;?\a", "\x1b]11;?\a", "\x1b]10;?;#123456\a", "\x1b]4;1;#010203;2;?\a", "\x1b[14t",
		"\x1b[16t", "\x1b[18t", "\x1b[19t", "\x1b[20t", "\x1b[21t", "\x1b[>q", "\x1b[?u", "\x1bZ", "\x1b[x",
		"\x1b[?15n", "\x1b[?996n", "\x1b]52;c;?\a", "\x1b[1;1;1;1;1;1*y", "\x1b[13t", "\x1b[11t")
}

// broken is what no program means: unfinished, cancelled, strange or not UTF-8.
func (w *writer) broken() string {
	if w.chance(40) {
		p := []string{"", "?", ">", "=", "<"}
		i := []string{"", "", "", " ", "!", "\"", "$", "'", "*", "#", "$ "}
		return "\x1b[" + p[w.IntN(len(p))] + w.number(w.cols) + w.pick("", ";"+w.number(3),
			":"+w.number(3)) + i[w.IntN(len(i))] + string(rune('@'+w.IntN(63)))
	}
	return w.pick("\x1b", "\x1b[", "\x1b[1;3", "\x1b[1;", "\x1b]2;half", "\x1b]8;;http://x", "\x1bP1$", "\x1bPq",
		"\x1b(", "\x1b_x", "\x1b[ ", "\x1b[?", "\x1b[1;\x182C", "\x1b[3\x1a", "\x1b]2;x\x18y", "\x1b[1\n2m",
		"\x1b[2\bC", "\x1b[1\x7f3C",
		"\xff", "\xe6\xbc", "\xf0\x9f\x91", "\xc3", "\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\x1b[é",
		"\x1b[2é3C", "\x1b]é;x\a", "\x1b]2;a\xffb\a", "\x1b[<1;2M", "\x1b[1<2C", "\x1b[1 2C",
		"\x1b["+strings.Repeat("1;", 40)+"4m", "\x1b[38"+strings.Repeat(":2",
			40)+"m", "\x1b[1:2:3;4:3;7m", "\x1b\x1b[2C", "\x1b\r\n[2C", "\x1b\x7fD", "\x1b\u0085D", "\x1b#", "\x1b ",
		"\x1b F", "\x1b[\u009b2C", "\u009b", "\u009d", "\u0090", "\u009c", "\u0098x", "\x1b\\", "\x18", "\x1a")
}

func (w *writer) resize() token {
	cols, rows := w.cols, w.rows
	switch w.IntN(4) {
	case 0:
		cols, rows = 2+w.IntN(2*w.cols), 1+w.IntN(2*w.rows)
	case 1:
		cols = 2 + w.IntN(2*w.cols)
	case 2:
		rows = 1 + w.IntN(2*w.rows)
	default:
		cols, rows = max(2, cols-2+w.IntN(5)), max(1, rows-2+w.IntN(5))
	}
	w.cols, w.rows = min(cols, 100), max(w.least, min(rows, 30))
	return token{cols: w.cols, rows: w.rows}
}
