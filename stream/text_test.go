package stream

import (
	"testing"
)

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

// TestInvalidText: where text stops to be Unicode, as bytes and as escapes of JSON.
func TestInvalidText(t *testing.T) {
	for in, want := range map[string]int{
		"": -1, "aé\ufffd": -1, "\xff": 0, "aé\xc3": 3, "é\x80b": 2, "\ufffd\xe2\x82": 3,
	} {
		if got := InvalidUTF8([]byte(in)); got != want {
			t.Errorf("InvalidUTF8(%q) = %d, want %d", in, got, want)
		}
	}
	for in, want := range map[string]int{
		`a\u00e9\n`: -1, `\ud83d\udc4d`: -1, `x\ud83d`: 1, `\udc4dx`: 0, `\ud83dx`: 0, `\ud83d\u0041`: 0,
		`\ud83d\udc4d\ud83d`: 12, `\\ud83d`: -1, `\\\ud83d`: 2, `\u00zz\ud83d`: 6, `\ud83`: -1,
		`\"\ud83d\ud83d\udc4d`: 2, `\ud83dxudc4d`: 0, `\ud83d\xdc4d`: 0, `\ud83d\udc4`: 0,
	} {
		if got := LoneSurrogate([]byte(in)); got != want {
			t.Errorf("LoneSurrogate(%s) = %d, want %d", in, got, want)
		}
	}
}
