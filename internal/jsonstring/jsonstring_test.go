package jsonstring

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzAppend: every text comes back from our JSON as it was, and the line stays
// one line.
func FuzzAppend(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x1f\x7f", "\"\\/", "a\r\n\tb", "€\u2028\u2029\u20ac", "\ufffd"} {
		for n := range word + 1 { // at every place of a word
			f.Add(strings.Repeat("a", n) + s + "b" + s + strings.Repeat("\u2500", word))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		b, valid := Append([]byte{'"'}, []byte(s))
		if b = append(b, '"'); !valid {
			t.Fatalf("%q is not valid", s)
		}
		var got string
		if err := json.Unmarshal(b, &got); err != nil || got != s {
			t.Fatalf("%q became %s, then %q (%v)", s, b, got, err)
		}
		if strings.ContainsAny(string(b), "\n\r\u2028\u2029") {
			t.Fatalf("%q became more than one line: %s", s, b)
		}
	})
}
