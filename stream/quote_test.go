package stream

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzQuote: every text comes back from our JSON as it was, and the line stays
// one line.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x1f\x7f", "\"\\/", "a\r\n\tb", "€\u2028\u2029\u20ac", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		b := appendString(nil, []byte(s))
		var got string
		if err := json.Unmarshal(b, &got); err != nil || got != s {
			t.Fatalf("%q became %s, then %q (%v)", s, b, got, err)
		}
		if strings.ContainsAny(string(b), "\n\r\u2028\u2029") {
			t.Fatalf("%q became more than one line: %s", s, b)
		}
	})
}

func TestClipKeepsCharactersWhole(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 5, "abc"}, {"abcdef", 3, "abc"}, {"a€b", 3, "a"}, {"a€b", 4, "a€"}, {"€", 0, ""}} {
		if got := clip(c.in, c.n); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
