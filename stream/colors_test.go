package stream_test

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

var (
	white = vt.Theme{Foreground: vt.RGBColor(1, 2, 3), Background: vt.RGBColor(0xff, 0xff, 0xff),
		Cursor: vt.RGBColor(9, 9, 9)}
	grey = vt.Theme{Foreground: vt.RGBColor(0xee, 0xee, 0xee), Background: vt.RGBColor(0x20, 0x20, 0x20),
		Palette: [16]vt.Color{1: vt.RGBColor(0xaa, 0, 0)}}
)

// colored is a hub and what its program is told unasked.
type colored struct {
	*stream.Hub
	t    *testing.T
	told []string
}

func newColored(t *testing.T, policy stream.Policy) *colored {
	c := &colored{t: t}
	c.Hub = stream.New(stream.Options{ID: "term1", Engine: vt.NewEngine, Config: vt.Config{Cols: 80, Rows: 24},
		Policy: policy, Hooks: stream.Hooks{Reply: func(p []byte) { c.told = append(c.told, string(p)) }}})
	return c
}

// background checks what the program is answered, once.
func (c *colored) background(want, scheme string) {
	c.t.Helper()
	want = "\x1b]11;rgb:" + want + "\x1b\\\x1b[?997;" + scheme + "n"
	if got := string(c.Write([]byte("\x1b]11;?\a\x1b[?996n"))); got != want {
		c.t.Errorf("the program is answered %q, want %q", got, want)
	}
}

// reported checks the reports since the last time.
func (c *colored) reported(want string) {
	c.t.Helper()
	if got := strings.Join(c.told, ""); got != want {
		c.t.Errorf("the program is told %q, want %q", got, want)
	}
	c.told = nil
}

const (
	isBlack, isWhite, isGrey = "0000/0000/0000", "ffff/ffff/ffff", "2020/2020/2020"
	saysDark, saysLight      = "\x1b[?997;1n", "\x1b[?997;2n"
)

// TestColorsOfTheOwner: programs are told the colours of the viewer whose size counts.
func TestColorsOfTheOwner(t *testing.T) {
	h := newColored(t, stream.PolicyLatest)
	h.background(isBlack, "1")
	a, b := h.Subscribe(stream.SubscribeOptions{}), h.Subscribe(stream.SubscribeOptions{})
	a.SetTheme(white)
	h.background(isWhite, "2") // nobody's size counts yet
	b.SetTheme(grey)
	b.RequestSize(80, 24)
	a.RequestSize(0, 0) // active later, still without a size
	h.background(isGrey, "1")
	b.Close()
	b = h.Subscribe(stream.SubscribeOptions{})
	a.RequestSize(80, 24)
	h.background(isWhite, "2")
	h.reported("") // ?2031 is not set
	h.Write([]byte("\x1b[?2031h"))
	b.RequestSize(80, 24)
	h.background(isWhite, "2") // b has not said its own
	h.reported("")
	b.SetTheme(grey)
	b.SetTheme(grey)
	h.background(isGrey, "1")
	h.reported(saysDark) // once: the colours are others
	a.RequestSize(0, 0)
	h.reported(saysLight)
	a.RequestSize(0, 0)
	a.RequestSize(90, 30)
	h.reported("")
	got := string(h.Write([]byte("\x1b]10;?;?;?\a\x1b]19;?\a\x1b]4;1;?\a")))
	if got != "\x1b]10;rgb:0101/0202/0303\x1b\\"+
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b]12;rgb:0909/0909/0909\x1b\\\x1b]19;rgb:ffff/ffff/ffff\x1b\\"+
		"\x1b]4;1;rgb:f0f0/7171/7878\x1b\\" {
		t.Errorf("answers %q", got)
	}
	a.Hide(true)
	h.EffectiveSize()
	h.background(isGrey, "1")
	h.reported(saysDark)
	for _, s := range []*stream.Subscription{a, b} {
		s.Close()
		h.EffectiveSize()
	}
	h.background(isBlack, "1")
	h.reported(saysDark)
	h.Finish(stream.Exit{})
	h.Subscribe(stream.SubscribeOptions{}).SetTheme(white) // nobody asks any more
	h.EffectiveSize()
}

// TestColorsThatTheProgramSet win, until it gives them back.
func TestColorsThatTheProgramSet(t *testing.T) {
	h := newColored(t, stream.PolicyFixed) // nobody's size counts: the colours of who was active last do
	s := h.Subscribe(stream.SubscribeOptions{})
	s.SetTheme(grey)
	s.RequestSize(80, 24)
	ask := "\x1b]4;1;?\a\x1b]10;?\a\x1b]11;?\a"
	answer := func(red, fg, bg string) string {
		return "\x1b]4;1;rgb:" + red + "\x1b\\\x1b]10;rgb:" + fg + "\x1b\\\x1b]11;rgb:" + bg + "\x1b\\"
	}
	for _, step := range []struct{ in, want string }{
		{"", answer("aaaa/0000/0000", "eeee/eeee/eeee", isGrey)},
		{"\x1b]4;1;#010203\a\x1b]10;#040506;#070809\a", answer("0101/0202/0303", "0404/0505/0606", "0707/0808/0909")},
		{"\x1b]104;1\a\x1b]110\a", answer("aaaa/0000/0000", "eeee/eeee/eeee", "0707/0808/0909")},
		{"\x1b]111\a", answer("aaaa/0000/0000", "eeee/eeee/eeee", isGrey)},
	} {
		if got := string(h.Write([]byte(step.in + ask))); got != step.want {
			t.Errorf("after %q: %q, want %q", step.in, got, step.want)
		}
	}
}
