package vt

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   string
		held   int
	}{
		{"empty", []string{""}, "", 0},
		{"ascii", []string{"abc"}, "abc", 0},
		{"characters of 2, 3 and 4 bytes", []string{"é€😀"}, "é€😀", 0},
		{"a lone continuation", []string{"a\x80b"}, "a\ufffdb", 0},
		{"a byte that begins nothing", []string{"\xff\xfe"}, "\ufffd\ufffd", 0},
		{"one for each byte of a broken character", []string{"\xe2\x82a"}, "\ufffd\ufffda", 0},
		{"overlong", []string{"\xc0\xaf"}, "\ufffd\ufffd", 0},
		{"a surrogate", []string{"\xed\xa0\x80"}, "\ufffd\ufffd\ufffd", 0},
		{"beyond U+10FFFF", []string{"\xf4\x90\x80\x80"}, "\ufffd\ufffd\ufffd\ufffd", 0},
		{"2 bytes in 2 chunks", []string{"a\xc3", "\xa9b"}, "aéb", 0},
		{"3 bytes in 3 chunks", []string{"\xe2", "\x82", "\xac"}, "€", 0},
		{"4 bytes in 4 chunks", []string{"\xf0", "\x9f", "\x98", "\x80"}, "😀", 0},
		{"held at the end", []string{"a\xf0\x9f\x98"}, "a", 3},
		{"held, then something else", []string{"\xe2\x82", "a"}, "\ufffd\ufffda", 0},
		{"held, then another beginning", []string{"\xe2\x82", "\xe2", "\x82\xac"}, "\ufffd\ufffd€", 0},
		{"what cannot become a character is not held", []string{"\xe0\x80"}, "\ufffd\ufffd", 0},
		{"an empty chunk changes nothing", []string{"\xc3", "", "\xa9"}, "é", 0},
		{"repair and hold at once", []string{"\xff\xc3", "\xa9\xff"}, "\ufffdé\ufffd", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d decoder
			var got []byte
			for _, c := range tt.chunks {
				got = append(got, d.Decode([]byte(c))...)
			}
			if string(got) != tt.want || d.Held() != tt.held {
				t.Errorf("got %q and %d held, want %q and %d", got, d.Held(), tt.want, tt.held)
			}
		})
	}
}

func TestDecodeReturnsItsInput(t *testing.T) {
	var d decoder
	for _, in := range []string{"plain", "h\u00e9llo", "tail\xc3"} {
		d = decoder{}
		p := []byte(in)
		if got := d.Decode(p); &got[0] != &p[0] {
			t.Errorf("%q was copied", in)
		}
	}
	p := bytes.Repeat([]byte("some text with é\r\n"), 1000)
	if n := testing.AllocsPerRun(100, func() { d.Decode(p) }); n != 0 {
		t.Errorf("%v allocations for valid text", n)
	}
}

// FuzzDecode: the joined result is what Go's range loop sees, however the
// stream is split, and no more than MaxHeld bytes wait.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"abc", "é€😀", "\xe2\x82", "\xf0\x9f\x98a", "\xff\xc3\xa9", "\xed\xa0\x80"} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		var want []byte
		for _, r := range string(in) {
			want = utf8.AppendRune(want, r)
		}
		var d decoder
		var got []byte
		for rest := in; len(rest) > 0; {
			n := min(max(int(step), 1), len(rest))
			chunk := bytes.Clone(rest[:n])
			got = append(got, d.Decode(chunk)...)
			rest = rest[n:]
		}
		if d.Held() > MaxHeld {
			t.Fatalf("%d bytes held", d.Held())
		}
		if !utf8.Valid(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		tail := in[len(in)-d.Held():]
		for _, r := range string(tail) {
			got = utf8.AppendRune(got, r)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q in steps of %d: got %q, want %q", in, step, got, want)
		}
	})
}
