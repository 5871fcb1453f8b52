package snapshot

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/evertty/evertty/vt"
)

// damage makes streams of bytes that no program means.
type damage struct{ writer }

// damagedTrial is case number seed of the tests with damaged streams.
func damagedTrial(seed uint64) trial {
	d := damage{writer{Rand: rand.New(rand.NewPCG(seed, 11))}}
	d.cols, d.rows = 2+d.IntN(30), 2+d.IntN(8)
	if d.chance(20) {
		d.cols, d.rows = 80, 24
	}
	tr := trial{stream: stream{cols: d.cols, rows: d.rows, scrollback: 1 + d.IntN(60), unicode: vt.Unicode11}}
	text := d.text()
	for len(text) > 0 {
		n := len(text)
		if d.chance(12) {
			n = d.IntN(len(text)) + 1
		}
		tr.tokens = append(tr.tokens, token{text: text[:n]})
		if text = text[n:]; text != "" {
			tr.tokens = append(tr.tokens, d.resize())
		}
	}
	return tr
}

// Numbers that freeze an xterm.js, and counts of REP beyond the screen: viewers do
// not get them as they are.
var (
	hugeNumber = regexp.MustCompile(`[0-9]{4,}`)
	manyTimes  = regexp.MustCompile(`[0-9]{2,}([;:0-9]*[\x00-\x1a\x1c-\x1f\x7f]*b)`)
)

func (d *damage) text() string {
	var text string
	switch d.IntN(6) {
	case 0:
		text = d.uniform(40 + d.IntN(200))
	case 1, 2:
		text = d.skewed(40 + d.IntN(200))
	case 3:
		text = d.mutated(d.grammar(), 0)
	case 4:
		text = d.mutated(d.grammar(), 1+d.IntN(8))
	default:
		text = d.mutated(d.recorded(), d.IntN(8))
	}
	text = hugeNumber.ReplaceAllString(text, "999")
	return manyTimes.ReplaceAllString(text, "7$1")
}

func (d *damage) uniform(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.IntN(256))
	}
	return string(b)
}

// skewed has what means something more often.
func (d *damage) skewed(n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch d.IntN(12) {
		case 0, 1, 2:
			b.WriteString("\x1b[")
			for range d.IntN(4) {
				b.WriteByte("0123456789;;:?>=!\" $'"[d.IntN(21)])
			}
			b.WriteByte(byte(0x40 + d.IntN(0x3f)))
		case 3:
			b.WriteByte(0x1b)
			b.WriteByte(byte(0x20 + d.IntN(0x60)))
		case 4:
			b.WriteString("\x1b" + d.pick("(", ")", "*", "+", "-", "/", "%", "#",
				" ") + string(byte(0x30+d.IntN(0x4f))))
		case 5:
			b.WriteByte(byte(d.IntN(0x20)))
		case 6:
			b.WriteString(characters[d.IntN(len(characters))])
		case 7:
			b.WriteByte(byte(0x80 + d.IntN(0x80)))
		case 8:
			b.WriteString(d.osc())
		case 9:
			b.WriteString(d.pick("\x1b7", "\x1b8", "\x0e", "\x0f", "\x1bn", "\x1bo", "\x1b(0", "\x1b)0", "\x1b(B",
				"\x1b[3g", "\x1bH", "\x1b[g", "\x1b[b", "\x1b[3b", "\x1b[s", "\x1b[u", "\x1b[!p", "\x1bc",
				"\x1b[?1049h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?6h", "\x1b[?7l", "\x1b[4h", "\t", "\x1b[Z"))
		default:
			b.WriteString(d.ascii())
		}
	}
	return b.String()
}

// grammar is a stream of whole sequences.
func (d *damage) grammar() string {
	var b strings.Builder
	for b.Len() < 60+d.IntN(200) {
		b.WriteString(d.token().text)
	}
	return b.String()
}

// recorded is a part of a recording, or of what programs typically send.
func (d *damage) recorded() string {
	all := damageable()
	r := all[d.IntN(len(all))]
	n := min(len(r), 80+d.IntN(300))
	at := d.IntN(len(r) - n + 1)
	return r[at : at+n]
}

// damageable are read once.
var damageable = sync.OnceValue(func() (out []string) {
	for _, s := range streams {
		out = append(out, s.text)
	}
	for _, pattern := range []string{"testdata/streams/*.txt", "../vt/testdata/script/*.txt"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			if s, err := loadStream(p); err == nil {
				var b strings.Builder
				for _, st := range s.steps {
					b.Write(st.write)
				}
				if b.Len() > 0 {
					out = append(out, b.String())
				}
			}
		}
	}
	if dir := os.Getenv("EVERTTY_CORPORA"); dir != "" {
		paths, _ := filepath.Glob(filepath.Join(dir, "*", "*.rec"))
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil && len(b) > 0 {
				out = append(out, string(b))
			}
		}
	}
	return out
})

// mutated is s with n things done to it: bits flipped, parts cut out, doubled,
// moved or replaced by others.
func (d *damage) mutated(s string, n int) string {
	b := []byte(s)
	for range n {
		if len(b) < 2 {
			break
		}
		at := d.IntN(len(b))
		part := min(1+d.IntN(12), len(b)-at)
		switch d.IntN(6) {
		case 0, 1:
			b[at] ^= 1 << d.IntN(8)
		case 2:
			b = append(b[:at:at], b[at+part:]...)
		case 3:
			b = append(b[:at+part:at+part], b[at:]...)
		case 4:
			b = append(append(b[:at:at], d.skewed(1+d.IntN(8))...), b[at:]...)
		default:
			other := d.IntN(len(b) - part + 1)
			copy(b[other:other+part], b[at:at+part])
		}
	}
	return string(b)
}
