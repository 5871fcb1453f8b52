package store

import (
	"strings"
	"testing"
)

// TestWhatEventsTell is cut between characters.
func TestWhatEventsTell(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"", ""}, {"route", "route"}, {strings.Repeat("x", maxWord), strings.Repeat("x", maxWord)},
		{strings.Repeat("x", maxWord) + "y", strings.Repeat("x", maxWord)},
		{strings.Repeat("x", maxWord-1) + "é", strings.Repeat("x", maxWord-1)},
		{strings.Repeat("x", maxWord-2) + "é!", strings.Repeat("x", maxWord-2) + "é"},
	} {
		if got := clip(test.word); got != test.want {
			t.Errorf("%q is told as %q, want %q", test.word, got, test.want)
		}
	}
}
