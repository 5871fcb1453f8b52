package vt

import (
	"testing"
	"unicode/utf8"
)

func TestCharsets(t *testing.T) {
	tests := []struct{ in, text, want string }{
		{"", "#q~é", "#q~é"},
		{"\x1b(0", "A_`qx~é", "A_◆─│·é"},
		{"\x1b(0\x1b(B", "q", "q"},
		{"\x1b(A", "#[", "£["},
		{"\x1b(K", "[{", "Ää"},
		{"\x1b(0\x1b(?", "q", "─"}, // an unknown set changes nothing
		{"\x1b)0", "q", "q"},       // G1 is not invoked
		{"\x1b)0\x1b~", "q", "─"},  // LS1R, which is LS1 in xterm.js
		{"\x1b*0\x1bn", "q", "─"},  // LS2
		{"\x1b.0\x1b}", "q", "─"},  // a set of 96, LS2R
		{"\x1b+0\x1bo", "q", "─"},  // LS3
		{"\x1b+0\x1b|", "q", "─"},  // LS3R
	}
	for _, tt := range tests {
		r := newRecorder()
		r.feed(tt.in, 1)
		if got := string(r.charsets.Translate([]byte(tt.text))); got != tt.want {
			t.Errorf("%q: %q became %q, want %q", tt.in, tt.text, got, tt.want)
		}
	}
}

func TestCharsetsShift(t *testing.T) {
	var c charsetState
	c.Reset()
	c.Designate(1, '0')
	c.Invoke(1) // SO
	saved := c.InForce()
	c.Invoke(0) // SI
	if saved != '0' || !c.ASCII() {
		t.Errorf("in force were %q and now %q", saved, c.InForce())
	}
	if c.Restore(saved); c.ASCII() || c.GL != 0 || c.G[0] != 'B' {
		t.Error("DECRC restores the set in force and no other")
	}
	c.DesignateAll('A')
	if c.Restore(0); !c.ASCII() || c.G != [4]byte{'A', 'A', 'A', 'A'} {
		t.Errorf("sets %q, in force %q", c.G, c.InForce())
	}
}

// Every set names as many characters as it replaces, and they have a width of one.
func TestCharsetTables(t *testing.T) {
	for final, set := range charsets {
		if len(set.from) != len(set.to) {
			t.Errorf("%q replaces %d by %d", final, len(set.from), len(set.to))
		}
		for _, r := range set.to {
			if n := utf8.RuneLen(r); n < 1 || widthsOf(Unicode11).class(r) == classWide {
				t.Errorf("%q has %q", final, r)
			}
		}
	}
}
