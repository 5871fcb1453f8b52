package vt_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"unicode/utf8"
)

// hostileInput makes random inputs: what programs send, with counts and places
// that no program means, and what no program sends. Inputs are pieced together
// in one buffer and are valid until the next one is made.
type hostileInput struct {
	*rand.Rand
	cols, rows int
	b          []byte
	earlier    [8][]byte // inputs to splice, oldest overwritten first
	count      int
}

// next makes an input of mostly 1 to 200 bytes, now and then up to 4 KiB.
func (h *hostileInput) next() []byte {
	size := 1 + h.IntN(60)
	switch n := h.IntN(400); {
	case n == 0:
		size = 1 + h.IntN(4096)
	case n < 60:
		size = 1 + h.IntN(200)
	}
	h.b = h.b[:0]
	switch h.IntN(10) {
	case 0:
		h.noise(size)
	case 1:
		h.syntax(size)
	case 2, 3:
		h.splice(size)
	case 4:
		h.token()
		h.again(size)
	default:
		for len(h.b) < size {
			h.token()
		}
	}
	h.b = h.b[:min(len(h.b), 4096)]
	slot := &h.earlier[h.count%len(h.earlier)]
	*slot = append((*slot)[:0], h.b...)
	h.count++
	return h.b
}

// noise is random bytes.
func (h *hostileInput) noise(size int) {
	for len(h.b) < size {
		v := h.Uint64()
		for range 8 {
			h.b = append(h.b, byte(v))
			v >>= 8
		}
	}
}

// syntax is random bytes out of those that sequences are made of.
func (h *hostileInput) syntax(size int) {
	const alphabet = "\x1b\x1b\x1b[[[[]P_^X\\;;;;:::?><= !\"$'*#%()0123456789999@" +
		"ABCDEFGHIJKLMPSTXZ`abcdefghlmnpqrstuxy~|}" +
		"\a\b\t\n\v\f\r\x05\x0e\x0f\x18\x1a\x7f\xc2\x9b\x9c\x9d\x90\x84\x85e\u0301漢👍"
	for len(h.b) < size {
		h.b = append(h.b, alphabet[h.IntN(len(alphabet))])
	}
}

// splice puts pieces of earlier inputs together and damages them.
func (h *hostileInput) splice(size int) {
	if h.count == 0 {
		h.noise(size)
		return
	}
	for range 1 + h.IntN(4) {
		from := h.earlier[h.IntN(min(h.count, len(h.earlier)))]
		a := h.IntN(len(from))
		h.b = append(h.b, from[a:a+1+h.IntN(len(from)-a)]...)
		if len(h.b) > size {
			break
		}
	}
	for range h.IntN(4) {
		i := h.IntN(len(h.b))
		switch h.IntN(3) {
		case 0:
			h.b[i] ^= 1 << h.IntN(8)
		case 1:
			h.b[i] = byte(h.IntN(256))
		default:
			h.b = append(h.b[:i+1], h.b[i:]...)
		}
	}
}

// again repeats earlier output.
func (h *hostileInput) again(size int) {
	for one := h.b; len(h.b) < size && len(one) > 0; {
		h.b = append(h.b, one...)
	}
}

func (h *hostileInput) token() {
	switch h.IntN(16) {
	case 0, 1:
		h.ascii()
	case 2, 3:
		h.text()
	case 4:
		h.control()
	case 5, 6, 7:
		h.known()
	case 8, 9:
		h.anyCSI()
	case 10:
		h.sgr()
	case 11:
		h.mode()
	case 12:
		h.escape()
	case 13:
		h.osc()
	case 14:
		h.otherString()
	default:
		h.pick(fragments)
	}
}

func (h *hostileInput) pick(from []string) { h.b = append(h.b, from[h.IntN(len(from))]...) }

func (h *hostileInput) byteOf(from string) { h.b = append(h.b, from[h.IntN(len(from))]) }

func (h *hostileInput) ascii() {
	n := 1 + h.IntN(8)
	if h.IntN(4) == 0 {
		n = 1 + h.IntN(2*h.cols+2)
	}
	c := byte(' ' + h.IntN(90))
	for i := range n {
		h.b = append(h.b, c+byte(i%5))
	}
}

// glyphs are characters that a terminal treats in its own way.
var glyphs = []string{
	"é", "─", "漢", "か", "ｱ", "Ａ", "한", "👍", "😀", "🏽", "\u0301", "\u0300", "\u200d", "\ufe0f", "\ufe0e", "\u20e3", "🇩",
	"🇪", "👩\u200d👩\u200d👦",
	"❤\ufe0f", "1\ufe0f\u20e3", "क\u094d\u0937", "ก\u0e33", "ᄀ", "ᅡ", "ᆨ", "\u00ad", "\u200b", "\ufeff", "\ufffd",
	"\ue000", "\U0010ffff", "\uffff", "☎",
	"a\u0300\u0301\u0302", "\u00a0", "\u3000", "\u05d0\u05b0", "\u2028", "\u115f", "\u1160", "\U000e0001", "\u302a",
	"\u2060", "\u0600", "\u0605", "\u070f",
}

// planes are where random characters come from.
var planes = [...][2]rune{{0x80, 0x250}, {0x300, 0x10ff}, {0x1100, 0x2fff}, {0x3000, 0xd7ff}, {0xe000, 0xffff},
	{0x1f000, 0x1faff}, {0x10000, 0x10ffff}}

// text is characters of all widths, and marks, in numbers up to far too many.
func (h *hostileInput) text() {
	switch h.IntN(6) {
	case 0:
		p := planes[h.IntN(len(planes))]
		h.b = utf8.AppendRune(h.b, p[0]+rune(h.IntN(int(p[1]-p[0])+1)))
	case 1:
		h.pick(glyphs)
		for g := glyphs[h.IntN(len(glyphs))]; h.IntN(12) > 0; {
			h.b = append(h.b, g...)
		}
	default:
		for range 1 + h.IntN(4) {
			h.pick(glyphs)
		}
	}
}

var controls = []string{"\r\n", "\r\n", "\r", "\n", "\n", "\b", "\b\b\b", "\t", "\t", "\v", "\f", "\a", "\x00", "\x05",
	"\x0e", "\x0f", "\x7f", "\x18", "\x1a", "\u0084", "\u0085", "\u0088", "\u008d", "\u009c"}

func (h *hostileInput) control() { h.pick(controls) }

var hostileNumbers = []string{"999", "5000", "32767", "65535", "65536", "2147483647", "2147483648", "4294967296",
	"9223372036854775807", "99999999999999999999", "007", "-1", "1:2", "1:2:3:4:5:6:7", ":"}

// number is a parameter: none, small, at the edge of the screen, or hostile.
func (h *hostileInput) number() {
	switch h.IntN(8) {
	case 0, 1:
	case 2:
		h.byteOf("01")
	case 3:
		h.byteOf("23456789")
	case 4:
		h.b = strconv.AppendInt(h.b, int64(max(0, h.cols-2+h.IntN(4))), 10)
	case 5:
		h.b = strconv.AppendInt(h.b, int64(max(0, h.rows-2+h.IntN(4))), 10)
	case 6:
		h.b = strconv.AppendInt(h.b, int64(h.IntN(h.cols+2)), 10)
	default:
		h.pick(hostileNumbers)
	}
}

// numbers are mostly few parameters, now and then more than 32.
func (h *hostileInput) numbers() {
	h.number()
	for h.IntN(3) == 0 {
		h.b = append(h.b, ';')
		h.number()
	}
	if h.IntN(40) == 0 {
		for range 20 + h.IntN(40) {
			h.byteOf(";:;1")
		}
	}
}

// known is a control sequence that has a meaning.
func (h *hostileInput) known() {
	h.introduce()
	switch h.IntN(6) {
	case 0:
		h.b = append(h.b, '?')
		h.numbers()
		h.byteOf("JKnhlu")
	case 1:
		h.numbers()
		h.pick([]string{" @", " A", "'}", "'~", "!p", "\"q", " q", "$p", "*y"})
	default:
		h.numbers()
		h.byteOf("@ABCDEFGHHHIJJKKLLMMPPSTXZ`abbbbcdefghlmnrrrstu")
	}
}

func (h *hostileInput) introduce() {
	if h.IntN(12) == 0 {
		h.b = append(h.b, "\u009b"...)
	} else {
		h.b = append(h.b, "\x1b["...)
	}
}

// anyCSI has any prefix, intermediate and final byte.
func (h *hostileInput) anyCSI() {
	h.introduce()
	if h.IntN(2) == 0 {
		h.byteOf("?><=")
	}
	h.numbers()
	for h.IntN(3) == 0 {
		h.b = append(h.b, byte(' '+h.IntN(16)))
	}
	if h.IntN(12) == 0 {
		h.control()
	}
	if h.IntN(12) > 0 {
		h.b = append(h.b, byte('@'+h.IntN(63)))
	}
}

var pens = []string{"", "0", "1", "2", "3", "4", "5", "7", "8", "9", "21", "22", "24", "27", "31", "42", "39", "49",
	"53", "55", "59", "91", "104", "4:3", "4:0", "4:", "38;5", "48;2;1", "38:2::1:2:3", "48:5:7", "58:2:1:2:3",
	"38:5", ":::"}

func (h *hostileInput) sgr() {
	h.introduce()
	for range 1 + h.IntN(4) {
		switch h.IntN(3) {
		case 0:
			h.pick(pens)
		case 1:
			h.pick([]string{"38;2;", "48;2;", "58;2;", "38:2:"})
			for range 2 {
				h.b = strconv.AppendInt(h.b, int64(h.IntN(256)), 10)
				h.b = append(h.b, ';')
			}
			h.number()
		default:
			h.pick([]string{"38;5;", "48;5;", "48:5:", "58:5:"})
			h.b = strconv.AppendInt(h.b, int64(h.IntN(260)), 10)
		}
		h.b = append(h.b, ';')
	}
	h.b[len(h.b)-1] = 'm'
}

var modes = []string{"4", "20", "2", "?1", "?3", "?5", "?6", "?7", "?9", "?12", "?25", "?45", "?47", "?66", "?69",
	"?1000", "?1002", "?1003", "?1004", "?1005", "?1006", "?1015", "?1016", "?1047", "?1048", "?1049", "?2004",
	"?2026", "?2027", "?2031", "?1049;1;7", "?;6"}

func (h *hostileInput) mode() {
	h.introduce()
	h.pick(modes)
	h.byteOf("hhl")
}

var escapes = []string{"7", "8", "D", "E", "H", "M", "M", "c", "=", ">", "Z", "#8", "#3", "n", "o", "|", "}", "~", "N",
	"O", "\\", "%G", "%@", " F", "(0", "(B", ")0", "*A", "+<", "-A", "(\"4", "\u009b", "\x1b"}

func (h *hostileInput) escape() {
	h.b = append(h.b, 0x1b)
	if h.IntN(6) == 0 {
		h.b = append(h.b, byte(h.IntN(128)))
		return
	}
	h.pick(escapes)
}

var commands = []string{"0;", "1;", "2;", "4;1;", "4;255;", "4;300;", "7;file://h/", "8;;", "8;id=1;", "8;;", "9;",
	"10;", "11;", "12;", "10;?;", "52;c;", "104;", "110", "112", "133;", "133;D;", "633;", "633;P;Cwd=",
	"777;notify;a;", "1337;CurrentDir=", "99999999999;", ";", ""}

var payloads = []string{"x", "title", "é漢", "?", "#fff", "#123456789abc", "rgb:1/2/3", "rgb:ffff/0/8080", "red", "aGk=",
	"aGk", "A", "D;1", "http://e.org/;x", "1;?;2;#000", "\x01y\t", "\xff", "\u0085"}

// osc is an operating system command, sometimes long, sometimes without an end.
func (h *hostileInput) osc() {
	h.b = append(h.b, "\x1b]"...)
	h.pick(commands)
	h.payload(payloads)
}

// otherString is a string of another kind: DCS, APC, PM or SOS.
func (h *hostileInput) otherString() {
	if h.IntN(8) == 0 {
		h.pick([]string{"\u0090", "\u0098", "\u009e", "\u009f", "\u009d"})
	} else {
		h.b = append(h.b, 0x1b)
		h.byteOf("PPP_^X")
	}
	h.pick([]string{"$q", "+q", "$qm", "$qr", "$q q", "+q544e;", "1$r", "q#0;1", "Gf=1;", "", "=1s", "1;2|"})
	h.payload([]string{"m", "r", "A", "544E", "zz", ";", "#0;2;1", "é", "\a", "\r\n", "\xff"})
}

func (h *hostileInput) payload(from []string) {
	start := len(h.b)
	for range h.IntN(3) {
		h.pick(from)
	}
	if piece := h.b[start:]; h.IntN(40) == 0 && len(piece) > 0 {
		h.b = append(h.b, bytes.Repeat(piece, 1+h.IntN(200))...)
	}
	h.pick([]string{"\a", "\a", "\x1b\\", "\x1b\\", "\u009c", "\x18", "\x1a", "\x1b", ""})
}

// fragments are unfinished, cancelled, strange or not UTF-8.
var fragments = []string{
	"\x1b", "\x1b[", "\x1b[1;3", "\x1b[?", "\x1b[1:", "\x1b]2;half", "\x1b]8;;http://x", "\x1bP1$", "\x1bPq", "\x1b(",
	"\x1b_x", "\x1b[ ", "\x1b[1;\x182C", "\x1b[3\x1a", "\x1b[1\n2m", "\x1b[2\bC", "\x1b[1\x7f3C",
	"\xff", "\xe6\xbc", "\xf0\x9f\x91", "\xf0\x9f", "\xc3", "\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80",
	"\xf8\x88\x80\x80\x80", "\x1b[é", "\x1b[2é3C", "\x1b[<1;2M", "\x1b[1<2C", "\x1b[1 2C",
	"\x1b\x1b[2C", "\x1b\r\n[2C", "\x1b\x7fD", "\x1b\u0085D", "\x1b#", "\x1b ", "\x1b[\u009b2C", "\u009b", "\u009d",
	"\u0090", "\u009c", "\u0098x", "\x1b\\", "\x18", "\x1a",
}
